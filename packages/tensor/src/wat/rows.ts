/**
 * Sums of rows and RMS normalisation, as WebAssembly text.
 * Rows are added one after another in the caller's order, never in pairs, so that the sum of
 * a row is the same bits however the rows were grouped.
 */
import { advance, eachElement, f32x4, get, locals, op, params, set } from './text.js';

function axpyText(): string {
  const body = eachElement('axpy', ['out', 'x'], (load, store) =>
    store('out', op('f32x4.add', load('out'), op('f32x4.mul', get('weights'), load('x')))),
  );
  return `(func (export "axpy") ${params('i32', ['out', 'x', 'count'])} (param $w f32) ${locals('v128', ['weights'])}
    ${set('weights', op('f32x4.splat', get('w')))} ${body})`;
}

/** out = sum over i of w[i] * src[index[i]], from 0 and in the order of i; rows with index < 0 are left out. */
function weightedSumText(): string {
  const weight = `(v128.load32_splat (i32.add ${get('weights')} (i32.shl ${get('i')} (i32.const 2))))`;
  const body = eachElement(
    'sum',
    ['out', 'column'],
    (load, store) => `${set('sum', f32x4(0))} ${set('i', '(i32.const 0)')}
      (block $termsEnd (loop $terms
        (br_if $termsEnd (i32.ge_s ${get('i')} ${get('terms')}))
        ${set('row', `(i32.load (i32.add ${get('index')} (i32.shl ${get('i')} (i32.const 2))))`)}
        (if (i32.ge_s ${get('row')} (i32.const 0)) (then
          ${set('x', `(i32.add ${get('column')} (i32.mul ${get('row')} ${get('stride')}))`)}
          ${set('sum', op('f32x4.add', get('sum'), op('f32x4.mul', weight, load('x'))))}))
        ${advance('i', 1)}
        (br $terms)))
      ${store('out', get('sum'))}`,
  );
  return `(func (export "weighted_sum") ${params('i32', ['out', 'column', 'stride', 'index', 'weights', 'terms', 'count'])}
    ${locals('i32', ['i', 'row', 'x'])} ${locals('v128', ['sum'])} ${body})`;
}

/** out[r] = x[r] * gain / sqrt(mean(x[r]^2) + eps), a row at a time. */
function rmsNormText(): string {
  const square = (x: string) => op('f32x4.add', get('sum'), op('f32x4.mul', x, x));
  const squares = eachElement('squares', ['in'], (load) => set('sum', square(load('in'))));
  const scale = eachElement('scale', ['in', 'g', 'o'], (load, store) =>
    store('o', op('f32x4.mul', op('f32x4.mul', load('in'), get('factor')), load('g'))),
  );
  const lane = (i: number) => `(f32x4.extract_lane ${i} ${get('sum')})`;
  const total = op('f32.add', op('f32.add', lane(0), lane(1)), op('f32.add', lane(2), lane(3)));
  const mean = op('f32.div', total, op('f32.convert_i32_u', get('width')));
  return `(func (export "rms_norm") ${params('i32', ['x', 'gain', 'out', 'rows', 'width'])} (param $eps f32)
    ${locals('i32', ['count', 'in', 'g', 'o', 'bytes'])} ${locals('v128', ['sum', 'factor'])}
    ${set('bytes', `(i32.shl ${get('width')} (i32.const 2))`)}
    (block $end (loop $row
      (br_if $end (i32.eqz ${get('rows')}))
      ${set('sum', f32x4(0))} ${set('in', get('x'))} ${set('count', get('width'))}
      ${squares}
      ${set('factor', op('f32x4.splat', op('f32.div', '(f32.const 1)', op('f32.sqrt', op('f32.add', mean, get('eps'))))))}
      ${set('in', get('x'))} ${set('g', get('gain'))} ${set('o', get('out'))} ${set('count', get('width'))}
      ${scale}
      ${set('x', op('i32.add', get('x'), get('bytes')))} ${set('out', op('i32.add', get('out'), get('bytes')))}
      ${advance('rows', -1)}
      (br $row))))`;
}

export function rowsText(): string {
  return [axpyText(), weightedSumText(), rmsNormText()].join('\n');
}
