/**
 * exp, sigmoid and tanh on four floats, and the gated activations made of them, as WebAssembly text.
 * Its one idea: e^x = 2^n e^r with |r| <= ln 2 / 2, and e^r - 1 by its own Taylor terms up to r^7
 * (the next is below 6e-9). tanh is taken from e^2x - 1, which keeps its digits near zero.
 * Only operations that IEEE 754 defines to the bit, so every machine gives the same result.
 */
import { eachElement, f32x4, get, i32x4, locals, op, params, set } from './text.js';

/** 1/7!, 1/6!, ... 1/2!, as the nearest floats do. */
const TAYLOR = [5040, 720, 120, 24, 6, 2].map((factorial) => 1 / factorial);
/** ln 2 in two parts; the first has few enough bits that n times it is exact. */
const LN2_HIGH = '0x1.63p-1';
const LN2_LOW = '-2.12194440054690583e-4';

/** Locals that `expParts` needs besides its own argument. */
const EXP_LOCALS = ['r', 'n', 'p', 'two'] as const;

/** From x in $r: leaves 2^n in $two and e^r - 1 in $p. |x| must be below 87.5. */
function expParts(): string {
  const horner = TAYLOR.slice(1).reduce(
    (sum, term) => op('f32x4.add', op('f32x4.mul', sum, get('r')), f32x4(term)),
    f32x4(TAYLOR[0]),
  );
  return [
    set('n', op('f32x4.nearest', op('f32x4.mul', get('r'), f32x4('1.44269504088896341')))),
    set('r', op('f32x4.sub', get('r'), op('f32x4.mul', get('n'), f32x4(LN2_HIGH)))),
    set('r', op('f32x4.sub', get('r'), op('f32x4.mul', get('n'), f32x4(LN2_LOW)))),
    set('p', horner),
    set('p', op('f32x4.add', op('f32x4.mul', op('f32x4.mul', get('p'), get('r')), get('r')), get('r'))),
    set(
      'two',
      op('i32x4.shl', op('i32x4.add', op('i32x4.trunc_sat_f32x4_s', get('n')), i32x4(127)), '(i32.const 23)'),
    ),
  ].join('\n');
}

function clamp(value: string, bound: number): string {
  return op('f32x4.min', op('f32x4.max', value, f32x4(-bound)), f32x4(bound));
}

/** out = 1 / (1 + e^-x); x beyond +-87 counts as +-87. */
function sigmoid(out: string, x: string): string {
  return `${set('r', clamp(op('f32x4.neg', x), 87))} ${expParts()}
    ${set('p', op('f32x4.add', op('f32x4.mul', get('p'), get('two')), get('two')))}
    ${set(out, op('f32x4.div', f32x4(1), op('f32x4.add', f32x4(1), get('p'))))}`;
}

/** out = tanh(x) with the sign of x; |x| beyond 10 counts as 10. */
function tanh(out: string, x: string): string {
  const twice = op('f32x4.min', op('f32x4.abs', x), f32x4(10));
  return `${set(out, x)} ${set('r', op('f32x4.add', twice, twice))} ${expParts()}
    ${set('p', op('f32x4.add', op('f32x4.mul', get('p'), get('two')), op('f32x4.sub', get('two'), f32x4(1))))}
    ${set('p', op('f32x4.div', get('p'), op('f32x4.add', get('p'), f32x4(2))))}
    ${set(out, op('v128.bitselect', get(out), get('p'), i32x4(-2147483648)))}`;
}

/** A function over `rows` rows of `width` elements with byte strides; `body` handles one row's elements. */
function rowFunction(
  name: string,
  floats: readonly string[],
  body: string,
  vectors: readonly string[],
): string {
  return `(func (export "${name}")
    ${params('i32', ['gate', 'up', 'out', 'rows', 'width', 'inStride', 'outStride'])} ${params('f32', floats)}
    ${locals('i32', ['count', 'g', 'u', 'o'])} ${locals('v128', [...vectors, ...EXP_LOCALS])}
    (block $end (loop $row
      (br_if $end (i32.eqz ${get('rows')}))
      ${set('g', get('gate'))} ${set('u', get('up'))} ${set('o', get('out'))} ${set('count', get('width'))}
      ${body}
      ${set('gate', op('i32.add', get('gate'), get('inStride')))}
      ${set('up', op('i32.add', get('up'), get('inStride')))}
      ${set('out', op('i32.add', get('out'), get('outStride')))}
      ${set('rows', '(i32.sub (local.get $rows) (i32.const 1))')}
      (br $row))))`;
}

function bounded(out: string, x: string, bound: string, inverse: string): string {
  const scaled = op('f32x4.mul', x, op('f32x4.splat', get(inverse)));
  return `${tanh(out, scaled)} ${set(out, op('f32x4.mul', get(out), op('f32x4.splat', get(bound))))}`;
}

/** SwiGLU, SiTU-GLU with both bounds, SiTU-GLU with a linear up branch, and the plain sigmoid. */
export function mathsText(): string {
  const swiglu = eachElement('swiglu', ['g', 'u', 'o'], (load, store) =>
    [
      set('x', load('g')),
      sigmoid('s', get('x')),
      store('o', op('f32x4.mul', op('f32x4.mul', get('x'), get('s')), load('u'))),
    ].join('\n'),
  );
  const situ = (label: string, boundUp: boolean) =>
    eachElement(label, ['g', 'u', 'o'], (load, store) =>
      [
        set('x', load('g')),
        sigmoid('s', get('x')),
        bounded('t', get('x'), 'gateBound', 'gateInverse'),
        set('s', op('f32x4.mul', get('t'), get('s'))),
        boundUp ? bounded('t', load('u'), 'upBound', 'upInverse') : set('t', load('u')),
        store('o', op('f32x4.mul', get('s'), get('t'))),
      ].join('\n'),
    );
  const plainSigmoid = eachElement('sigmoid', ['x', 'o'], (load, store) =>
    [sigmoid('s', load('x')), store('o', get('s'))].join('\n'),
  );
  return [
    rowFunction('swiglu', [], swiglu, ['x', 's']),
    rowFunction(
      'situ',
      ['gateBound', 'gateInverse', 'upBound', 'upInverse'],
      `(if (f32.eq ${get('upBound')} (f32.const 0)) (then ${situ('linear', false)}) (else ${situ('both', true)}))`,
      ['x', 's', 't'],
    ),
    `(func (export "sigmoid") ${params('i32', ['x', 'o', 'count'])} ${locals('v128', ['s', ...EXP_LOCALS])} ${plainSigmoid})`,
  ].join('\n');
}
