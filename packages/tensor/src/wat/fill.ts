/**
 * Pseudo-random BF16 weights written straight into the packed layout, as WebAssembly text.
 * One 32-bit hash of a counter gives two weights, so a row of a panel (8 columns) costs one vector hash.
 * Bit-equal to `weightAt` (weights.ts), which says what the numbers are.
 */
import { advance, get, i32x4, locals, op, params, set } from './text.js';

function xorShift(name: string, bits: number): string {
  return set(name, op('v128.xor', get(name), op('i32x4.shr_u', get(name), `(i32.const ${bits})`)));
}

/** Adds BF16's round-to-nearest-even increment to the bits in `name`. */
export function roundToBf16(name: string): string {
  const odd = op('v128.and', op('i32x4.shr_u', get(name), '(i32.const 16)'), i32x4(1));
  return set(name, op('i32x4.add', op('i32x4.add', get(name), i32x4(0x7fff)), odd));
}

/** Columns 0,1 | 2,3 | 4,5 | 6,7 become 0,4 | 1,5 | 2,6 | 3,7. */
const PAIR_COLUMNS = '0 1 8 9 2 3 10 11 4 5 12 13 6 7 14 15';

export function fillText(): string {
  return `(func (export "fill_bf16")
    ${params('i32', ['out', 'k', 'n', 'key0', 'key1'])} (param $scale f32)
    ${locals('i32', ['panel', 'row', 'counter'])} ${locals('v128', ['h', 'low', 's', 'keys0', 'keys1', 'lanes'])}
    ${set('s', op('f32x4.splat', get('scale')))}
    ${set('keys0', op('i32x4.splat', get('key0')))} ${set('keys1', op('i32x4.splat', get('key1')))}
    ${set('lanes', '(v128.const i32x4 0 1 2 3)')}
    (loop $panels
      ${set('row', get('k'))}
      ${set('counter', op('i32.shr_u', get('panel'), '(i32.const 1)'))}
      (loop $rows
        ${set('h', op('v128.xor', op('i32x4.add', get('lanes'), op('i32x4.splat', get('counter'))), get('keys0')))}
        ${xorShift('h', 16)}
        ${set('h', op('i32x4.mul', get('h'), i32x4(0x7feb352d)))}
        ${set('h', op('i32x4.add', get('h'), get('keys1')))}
        ${xorShift('h', 15)}
        ${set('h', op('i32x4.mul', get('h'), i32x4(0x846ca68b)))}
        ${xorShift('h', 16)}
        ${set('low', op('f32x4.mul', op('f32x4.convert_i32x4_s', op('i32x4.shl', get('h'), '(i32.const 16)')), get('s')))}
        ${set('h', op('f32x4.mul', op('f32x4.convert_i32x4_s', op('v128.and', get('h'), i32x4(-65536))), get('s')))}
        ${roundToBf16('low')} ${roundToBf16('h')}
        ${set('h', op('v128.or', op('i32x4.shr_u', get('low'), '(i32.const 16)'), op('v128.and', get('h'), i32x4(-65536))))}
        (v128.store ${get('out')} (i8x16.shuffle ${PAIR_COLUMNS} ${get('h')} ${get('h')}))
        ${advance('out', 16)}
        ${set('counter', op('i32.add', get('counter'), `(i32.shr_u ${get('n')} (i32.const 1))`))}
        (br_if $rows (local.tee $row (i32.sub ${get('row')} (i32.const 1)))))
      (br_if $panels (i32.lt_u (local.tee $panel (i32.add ${get('panel')} (i32.const 8))) ${get('n')}))))`;
}
