/**
 * C (+)= A * B on packed B, as WebAssembly text, for B in f32 and in BF16.
 * Its one idea: every element of C is summed over k in the same order whatever tile computes it,
 * so a row gives the same bits alone and in a batch. Few rows therefore take more columns at a time
 * (1 x 32) instead of splitting the sum over k.
 * Two steps of k are unrolled with a branch between them that is never taken: without it V8's
 * scheduler hoists all loads of the body and spills accumulators (1.6 times slower).
 * Knows nothing about how B was packed beyond the layout page (layout.ts).
 */
import { advance, get, i32x4, locals, op, params, set } from './text.js';

export type PackedFormat = 'f32' | 'bf16';

/** Rows of A and panels of B (8 columns each) of one register tile. */
interface Tile {
  readonly rows: number;
  readonly panels: number;
}

const TILES: readonly Tile[] = [
  { rows: 4, panels: 1 },
  { rows: 3, panels: 1 },
  { rows: 2, panels: 2 },
  { rows: 2, panels: 1 },
  { rows: 1, panels: 4 },
  { rows: 1, panels: 1 },
];

/** Steps of k in one turn of the inner loop; k is a multiple of it. */
const UNROLL = 2;

/** A branch that is never taken: V8 moves no load across it. */
const PIN = `(br_if $done (i32.eq ${get('pa0')} ${get('end')}))`;
/** Panels between two such branches inside one step. */
const PINNED = 2;

/** Bytes of one row of a panel: 8 columns. */
function panelRowBytes(format: PackedFormat): number {
  return format === 'f32' ? 32 : 16;
}

function tileName(format: PackedFormat, tile: Tile): string {
  return `tile_${format}_${tile.rows}x${tile.panels}`;
}

/** Loads 8 columns of panel `p` at step `u` into $b0 and $b1. */
function loadPanelRow(format: PackedFormat, p: number, u: number): string {
  if (format === 'f32') {
    return (
      set('b0', `(v128.load offset=${u * 32} ${get(`pb${p}`)})`) +
      set('b1', `(v128.load offset=${u * 32 + 16} ${get(`pb${p}`)})`)
    );
  }
  return (
    set('b1', `(v128.load offset=${u * 16} ${get(`pb${p}`)})`) +
    set('b0', op('i32x4.shl', get('b1'), '(i32.const 16)')) +
    set('b1', op('v128.and', get('b1'), i32x4(-65536)))
  );
}

function step(format: PackedFormat, tile: Tile, u: number): string {
  const lines: string[] = [];
  for (let r = 0; r < tile.rows; r++) {
    lines.push(set(`x${r}`, `(v128.load32_splat offset=${u * 4} ${get(`pa${r}`)})`));
  }
  for (let p = 0; p < tile.panels; p++) {
    if (p > 0 && p % PINNED === 0) lines.push(PIN);
    lines.push(loadPanelRow(format, p, u));
    for (let r = 0; r < tile.rows; r++) {
      for (let half = 0; half < 2; half++) {
        const c = `c${r}_${p}_${half}`;
        lines.push(set(c, op('f32x4.add', get(c), op('f32x4.mul', get(`x${r}`), get(`b${half}`)))));
      }
    }
  }
  return lines.join('\n');
}

function innerLoop(format: PackedFormat, tile: Tile): string {
  const rowPointers = Array.from({ length: tile.rows }, (_, r) => `pa${r}`);
  const panelPointers = Array.from({ length: tile.panels }, (_, p) => `pb${p}`);
  const steps: string[] = [];
  for (let u = 0; u < UNROLL; u++) {
    if (u > 0) steps.push(PIN);
    steps.push(step(format, tile, u));
  }
  return `(block $done (loop $k
    ${steps.join('\n')}
    ${rowPointers.map((pointer) => advance(pointer, UNROLL * 4)).join(' ')}
    ${panelPointers.map((pointer) => advance(pointer, UNROLL * panelRowBytes(format))).join(' ')}
    (br_if $k (i32.ne ${get('pa0')} ${get('end')}))))`;
}

function storeTile(tile: Tile): string {
  const lines: string[] = [];
  for (let r = 0; r < tile.rows; r++) {
    if (r > 0) lines.push(set('c', op('i32.add', get('c'), get('ldc'))));
    const stores: string[] = [];
    const sums: string[] = [];
    for (let p = 0; p < tile.panels; p++) {
      for (let half = 0; half < 2; half++) {
        const name = `c${r}_${p}_${half}`;
        const at = `offset=${p * 32 + half * 16} ${get('c')}`;
        sums.push(set(name, op('f32x4.add', `(v128.load ${at})`, get(name))));
        stores.push(`(v128.store ${at} ${get(name)})`);
      }
    }
    lines.push(`(if ${get('add')} (then ${sums.join(' ')}))`, ...stores);
  }
  return lines.join('\n');
}

function tileFunction(format: PackedFormat, tile: Tile): string {
  const rows = Array.from({ length: tile.rows }, (_, r) => r);
  const panels = Array.from({ length: tile.panels }, (_, p) => p);
  const accumulators = rows.flatMap((r) => panels.flatMap((p) => [`c${r}_${p}_0`, `c${r}_${p}_1`]));
  return `(func $${tileName(format, tile)}
    ${params('i32', ['pa0', 'lda', 'pb0', 'panelBytes', 'k', 'c', 'ldc', 'add'])}
    ${locals('i32', ['end', ...rows.slice(1).map((r) => `pa${r}`), ...panels.slice(1).map((p) => `pb${p}`)])}
    ${locals('v128', ['b0', 'b1', ...rows.map((r) => `x${r}`), ...accumulators])}
    ${set('end', op('i32.add', get('pa0'), `(i32.shl ${get('k')} (i32.const 2))`))}
    ${rows
      .slice(1)
      .map((r) => set(`pa${r}`, op('i32.add', get(`pa${r - 1}`), get('lda'))))
      .join(' ')}
    ${panels
      .slice(1)
      .map((p) => set(`pb${p}`, op('i32.add', get(`pb${p - 1}`), get('panelBytes'))))
      .join(' ')}
    ${innerLoop(format, tile)}
    ${storeTile(tile)})`;
}

/**
 * All panels for the rows from $row on, `tile.panels` at a time while $left (panels) allows.
 * Rows in fours stay inside one panel, so that a panel's block of k is read from the first-level cache.
 */
function panelLoop(format: PackedFormat, tile: Tile, label: string): string {
  const call = (row: string, c: string) =>
    `(call $${tileName(format, tile)} ${row} ${get('lda')} ${get('panel')} ${get('panelBytes')} ${get('kc')} ${c} ${get('ldc')} ${get('add')})`;
  const rows =
    tile.rows === 4
      ? `${set('i', get('fours'))} ${set('row', get('a'))} ${set('out', get('cj'))}
         (loop $${label}Rows
           ${call(get('row'), get('out'))}
           ${set('row', `(i32.add ${get('row')} (i32.shl ${get('lda')} (i32.const 2)))`)}
           ${set('out', `(i32.add ${get('out')} (i32.shl ${get('ldc')} (i32.const 2)))`)}
           (br_if $${label}Rows (local.tee $i (i32.sub ${get('i')} (i32.const 1)))))`
      : call(get('rest'), get('cj'));
  return `(block $${label}End (loop $${label}
    (br_if $${label}End (i32.lt_u ${get('left')} (i32.const ${tile.panels})))
    ${rows}
    ${set('panel', `(i32.add ${get('panel')} (i32.mul ${get('panelBytes')} (i32.const ${tile.panels})))`)}
    ${advance('cj', tile.panels * 32)}
    ${set('left', `(i32.sub ${get('left')} (i32.const ${tile.panels}))`)}
    (br $${label})))`;
}

/** Resets the panel cursor to the first panel, at the output row that is `rows` text below $c. */
function firstPanel(format: PackedFormat, outRow: string): string {
  return `${set('left', get('panels'))} ${set('cj', outRow)}
    ${set('panel', `(i32.add ${get('b')} (i32.mul ${get('kb')} (i32.const ${panelRowBytes(format)})))`)}`;
}

function driver(format: PackedFormat): string {
  const remainder = [3, 2, 1].map((rows) => {
    const loops = TILES.filter((tile) => tile.rows === rows)
      .map((tile) => panelLoop(format, tile, `r${rows}p${tile.panels}`))
      .join('\n');
    return `(if (i32.eq ${get('remainder')} (i32.const ${rows})) (then
      ${firstPanel(format, get('outRest'))} ${loops}))`;
  });
  return `(func (export "gemm_${format}")
    ${params('i32', ['a', 'lda', 'b', 'k', 'c', 'ldc', 'm', 'n', 'block', 'accumulate'])}
    ${locals('i32', ['kb', 'kc', 'add', 'panel', 'panels', 'panelBytes', 'left', 'fours', 'remainder'])}
    ${locals('i32', ['i', 'row', 'rest', 'out', 'outRest', 'cj'])}
    ${set('panels', `(i32.shr_u ${get('n')} (i32.const 3))`)}
    ${set('panelBytes', `(i32.mul ${get('k')} (i32.const ${panelRowBytes(format)}))`)}
    ${set('fours', `(i32.shr_u ${get('m')} (i32.const 2))`)}
    ${set('remainder', `(i32.and ${get('m')} (i32.const 3))`)}
    ${set('add', get('accumulate'))}
    ${set('rest', op('i32.add', get('a'), op('i32.mul', get('lda'), `(i32.shl ${get('fours')} (i32.const 2))`)))}
    ${set('outRest', op('i32.add', get('c'), op('i32.mul', get('ldc'), `(i32.shl ${get('fours')} (i32.const 2))`)))}
    (loop $blocks
      ${set('kc', op('i32.sub', get('k'), get('kb')))}
      (if (i32.gt_u ${get('kc')} ${get('block')}) (then ${set('kc', get('block'))}))
      (if ${get('fours')} (then ${firstPanel(format, get('c'))} ${panelLoop(format, TILES[0], 'r4p1')}))
      ${remainder.join('\n')}
      ${set('add', '(i32.const 1)')}
      ${set('a', `(i32.add ${get('a')} (i32.shl ${get('kc')} (i32.const 2)))`)}
      ${set('rest', `(i32.add ${get('rest')} (i32.shl ${get('kc')} (i32.const 2)))`)}
      (br_if $blocks (i32.lt_u (local.tee $kb (i32.add ${get('kb')} ${get('kc')})) ${get('k')}))))`;
}

/** The functions `gemm_f32` and `gemm_bf16`; strides in bytes, n a multiple of 8, k of 4, m >= 1. */
export function gemmText(): string {
  const formats: readonly PackedFormat[] = ['f32', 'bf16'];
  return formats
    .flatMap((format) => [...TILES.map((tile) => tileFunction(format, tile)), driver(format)])
    .join('\n');
}
