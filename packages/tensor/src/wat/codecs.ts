/**
 * Number formats of rows on the wire, whole blocks only, as WebAssembly text.
 * Each function takes one row's first `blocks` scale blocks; what is left of a row is shorter than
 * a block and goes through the plain form (row-codec.ts), which gives the same bits.
 */
import { roundToBf16 } from './fill.js';
import { advance, f32x4, get, i32x4, locals, op, params, set } from './text.js';

const SIGN = i32x4(-2147483648);

/** A loop that runs `body` `times` (text of an i32 local that it consumes). */
function repeat(label: string, counter: string, body: string): string {
  return `(block $${label}End (loop $${label}
    (br_if $${label}End (i32.eqz ${get(counter)}))
    ${body}
    ${advance(counter, -1)}
    (br $${label})))`;
}

/** Eight elements a turn. */
function bf16Text(): string {
  const encode = `${set('a', `(v128.load ${get('x')})`)} ${set('b', `(v128.load offset=16 ${get('x')})`)}
    ${roundToBf16('a')} ${roundToBf16('b')}
    (v128.store ${get('o')} (i16x8.narrow_i32x4_u
      (i32x4.shr_u ${get('a')} (i32.const 16)) (i32x4.shr_u ${get('b')} (i32.const 16))))
    ${advance('x', 32)} ${advance('o', 16)}`;
  const decode = `${set('a', `(v128.load ${get('x')})`)}
    (v128.store ${get('o')} (i32x4.shl (i32x4.extend_low_i16x8_u ${get('a')}) (i32.const 16)))
    (v128.store offset=16 ${get('o')} (i32x4.shl (i32x4.extend_high_i16x8_u ${get('a')}) (i32.const 16)))
    ${advance('x', 16)} ${advance('o', 32)}`;
  return `(func (export "encode_bf16") ${params('i32', ['x', 'o', 'blocks'])} ${locals('v128', ['a', 'b'])} ${repeat('eights', 'blocks', encode)})
    (func (export "decode_bf16") ${params('i32', ['x', 'o', 'blocks'])} ${locals('v128', ['a'])} ${repeat('eights', 'blocks', decode)})`;
}

/** Largest |x| of `vectors` vectors at $x into the f32 local $top. */
function largest(vectors: number): string {
  const lane = (i: number) => `(f32x4.extract_lane ${i} ${get('m')})`;
  const loads = Array.from({ length: vectors }, (_, v) =>
    set('m', op('f32x4.max', get('m'), op('f32x4.abs', `(v128.load offset=${v * 16} ${get('x')})`))),
  );
  return `${set('m', f32x4(0))} ${loads.join('\n')}
    ${set('top', op('f32.max', op('f32.max', lane(0), lane(1)), op('f32.max', lane(2), lane(3))))}`;
}

/** E4M3 codes of four floats: round to nearest even, saturate at 448. */
function e4m3EncodeText(): string {
  const odd = op('v128.and', op('i32x4.shr_u', get('a'), '(i32.const 20)'), i32x4(1));
  const rounded = op('i32x4.add', op('i32x4.add', get('a'), i32x4(0x7ffff)), odd);
  const normal = op('i32x4.sub', op('i32x4.shr_u', rounded, '(i32.const 20)'), i32x4(120 << 3));
  // Below 2^-6 the step is 2^-9: adding 2^14, whose last place is 2^-9, lets the hardware round.
  const small = op('i32x4.sub', op('f32x4.add', get('a'), f32x4(16384)), i32x4(0x46800000));
  return `(func $to_e4m3 (param $x v128) (result v128) ${locals('v128', ['a'])}
    ${set('a', op('f32x4.min', op('f32x4.abs', get('x')), f32x4(448)))}
    (v128.or (v128.and (i32x4.shr_u ${get('x')} (i32.const 24)) ${i32x4(128)})
      (v128.bitselect ${small} ${normal} ${op('f32x4.lt', get('a'), f32x4('0x1p-6'))})))`;
}

/** Floats of four E4M3 codes in 32-bit lanes. Subnormals as (2^-6 + m 2^-9) - 2^-6, so that no step is denormal. */
function e4m3DecodeText(): string {
  const bits = op('i32x4.shl', op('v128.and', get('x'), i32x4(127)), '(i32.const 20)');
  const normal = op('i32x4.add', get('a'), i32x4(120 << 23));
  const small = op('f32x4.sub', op('v128.or', get('a'), i32x4(0x3c800000)), f32x4('0x1p-6'));
  return `(func $from_e4m3 (param $x v128) (result v128) ${locals('v128', ['a'])}
    ${set('a', bits)}
    (v128.or (i32x4.shl (v128.and ${get('x')} ${i32x4(128)}) (i32.const 24))
      (v128.bitselect ${small} ${normal} ${op('i32x4.lt_u', get('a'), i32x4(1 << 23))})))`;
}

/** Sixteen floats at $x, times or over $f, to sixteen codes at $o. */
function storeE4m3(scaled: (vector: string) => string): string {
  const code = (v: number) => `(call $to_e4m3 ${scaled(`(v128.load offset=${v * 16} ${get('x')})`)})`;
  return `(v128.store ${get('o')} (i8x16.narrow_i16x8_u
      (i16x8.narrow_i32x4_u ${code(0)} ${code(1)}) (i16x8.narrow_i32x4_u ${code(2)} ${code(3)})))
    ${advance('x', 64)} ${advance('o', 16)}`;
}

/** Sixteen codes at $x to sixteen floats at $o, times $f. */
function loadE4m3(): string {
  const part = (half: string, quarter: string, v: number) =>
    `(v128.store offset=${v * 16} ${get('o')} (f32x4.mul ${get('f')} (call $from_e4m3
      (i32x4.extend_${quarter}_i16x8_u (i16x8.extend_${half}_i8x16_u ${get('m')})))))`;
  return `${set('m', `(v128.load ${get('x')})`)}
    ${part('low', 'low', 0)} ${part('low', 'high', 1)} ${part('high', 'low', 2)} ${part('high', 'high', 3)}
    ${advance('x', 16)} ${advance('o', 64)}`;
}

const BLOCK_PARAMS = ['x', 'o', 'scales', 'blocks'] as const;

/** One f32 scale per 128 elements: largest / 448. */
function fp8Text(): string {
  const scale = op('f32.div', op('f32.max', get('top'), '(f32.const 0x1p-100)'), '(f32.const 448)');
  const encode = `${largest(32)} ${set('top', scale)} (f32.store ${get('scales')} ${get('top')})
    ${set('f', op('f32x4.splat', get('top')))} ${set('turns', '(i32.const 8)')}
    ${repeat(
      'sixteens',
      'turns',
      storeE4m3((vector) => op('f32x4.div', vector, get('f'))),
    )}
    ${advance('scales', 4)}`;
  const decode = `${set('f', `(v128.load32_splat ${get('scales')})`)} ${set('turns', '(i32.const 8)')}
    ${repeat('sixteens', 'turns', loadE4m3())} ${advance('scales', 4)}`;
  const head = `${params('i32', BLOCK_PARAMS)} ${locals('i32', ['turns'])} ${locals('f32', ['top'])} ${locals('v128', ['m', 'f'])}`;
  return `(func (export "encode_fp8") ${head} ${repeat('blocks', 'blocks', encode)})
    (func (export "decode_fp8") ${head} ${repeat('blocks', 'blocks', decode)})`;
}

/** Stores the shared exponent byte of a block of 32 and leaves 1 / scale in $f. */
function sharedExponent(elementExponent: number): string {
  const exponent = op(
    'i32.sub',
    `(i32.shr_u (i32.reinterpret_f32 ${get('top')}) (i32.const 23))`,
    `(i32.const ${elementExponent})`,
  );
  return `${largest(8)} ${set('e', exponent)}
    (if (i32.lt_s ${get('e')} (i32.const 1)) (then ${set('e', '(i32.const 1)')}))
    (i32.store8 ${get('scales')} ${get('e')})
    ${set('f', op('i32x4.splat', `(i32.shl (i32.sub (i32.const 254) ${get('e')}) (i32.const 23))`))}
    ${advance('scales', 1)}`;
}

const loadExponent = `${set('f', op('i32x4.splat', `(i32.shl (i32.load8_u ${get('scales')}) (i32.const 23))`))} ${advance('scales', 1)}`;

/** Sum of the thresholds below |x|: the E2M1 code, sign in bit 3. */
function e2m1EncodeText(): string {
  const steps = [
    ['f32x4.gt', 0.25],
    ['f32x4.ge', 0.75],
    ['f32x4.gt', 1.25],
    ['f32x4.ge', 1.75],
    ['f32x4.gt', 2.5],
    ['f32x4.ge', 3.5],
    ['f32x4.gt', 5],
  ] as const;
  const code = steps.reduce(
    (sum, [compare, limit]) => op('i32x4.sub', sum, op(compare, get('a'), f32x4(limit))),
    op('v128.and', op('i32x4.shr_u', get('x'), '(i32.const 28)'), i32x4(8)),
  );
  return `(func $to_e2m1 (param $x v128) (result v128) ${locals('v128', ['a'])}
    ${set('a', op('f32x4.abs', get('x')))} ${code})`;
}

/** Sixteen floats at $x to eight bytes, the even element in the low half of a byte. */
function storeE2m1(): string {
  const code = (v: number) =>
    `(call $to_e2m1 (f32x4.mul ${get('f')} (v128.load offset=${v * 16} ${get('x')})))`;
  return `${set(
    'm',
    `(i8x16.narrow_i16x8_u
      (i16x8.narrow_i32x4_u ${code(0)} ${code(1)}) (i16x8.narrow_i32x4_u ${code(2)} ${code(3)}))`,
  )}
    ${set('m', `(v128.and (v128.or ${get('m')} (i16x8.shr_u ${get('m')} (i32.const 4))) ${i32x4(0x00ff00ff)})`)}
    (v128.store64_lane 0 ${get('o')} (i8x16.narrow_i16x8_u ${get('m')} ${get('m')}))
    ${advance('x', 64)} ${advance('o', 8)}`;
}

/** Eight bytes at $x to sixteen floats at $o. The table holds twice the value of each code. */
function loadE2m1(): string {
  const table = '(v128.const i8x16 0 1 2 3 4 6 8 12 0 -1 -2 -3 -4 -6 -8 -12)';
  const part = (half: string, quarter: string, v: number) =>
    `(v128.store offset=${v * 16} ${get('o')} (v128.or
      (f32x4.mul ${get('f')} (f32x4.convert_i32x4_s (i32x4.extend_${quarter}_i16x8_s (i16x8.extend_${half}_i8x16_s ${get('m')}))))
      (v128.and ${SIGN} (i32x4.shl (i32x4.extend_${quarter}_i16x8_u (i16x8.extend_${half}_i8x16_u ${get('codes')})) (i32.const 28)))))`;
  return `${set('m', `(v128.load64_zero ${get('x')})`)}
    ${set(
      'codes',
      `(i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23
      (v128.and ${get('m')} ${i32x4(0x0f0f0f0f)})
      (v128.and (i16x8.shr_u ${get('m')} (i32.const 4)) ${i32x4(0x0f0f0f0f)}))`,
    )}
    ${set('m', `(i8x16.swizzle ${table} ${get('codes')})`)}
    ${part('low', 'low', 0)} ${part('low', 'high', 1)} ${part('high', 'low', 2)} ${part('high', 'high', 3)}
    ${advance('x', 8)} ${advance('o', 64)}`;
}

/** One power-of-two scale byte per 32 elements (OCP MX 1.0). */
function mxText(): string {
  const head = `${params('i32', BLOCK_PARAMS)} ${locals('i32', ['turns', 'e'])} ${locals('f32', ['top'])} ${locals('v128', ['m', 'f', 'codes'])}`;
  const twice = (body: string) => `${set('turns', '(i32.const 2)')} ${repeat('sixteens', 'turns', body)}`;
  const half = set('f', op('f32x4.mul', get('f'), f32x4(0.5)));
  const times = (vector: string) => op('f32x4.mul', vector, get('f'));
  return `(func (export "encode_mxfp8") ${head} ${repeat('blocks', 'blocks', sharedExponent(8) + twice(storeE4m3(times)))})
    (func (export "decode_mxfp8") ${head} ${repeat('blocks', 'blocks', loadExponent + twice(loadE4m3()))})
    (func (export "encode_mxfp4") ${head} ${repeat('blocks', 'blocks', sharedExponent(2) + twice(storeE2m1()))})
    (func (export "decode_mxfp4") ${head} ${repeat('blocks', 'blocks', loadExponent + half + twice(loadE2m1()))})`;
}

export function codecsText(): string {
  return [e4m3EncodeText(), e4m3DecodeText(), e2m1EncodeText(), bf16Text(), fp8Text(), mxText()].join('\n');
}
