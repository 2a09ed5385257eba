/**
 * The k largest of each row, largest first, ties to the lower index, as WebAssembly text.
 * A sorted list of k is kept; sixteen scores at a time are compared with its last entry, and
 * only those above it are inserted. A NaN counts as minus infinity.
 */
import { advance, get, locals, op, params, set } from './text.js';

/** Places ($v, $i) into the list whose last used place is $at, which is overwritten. */
function insertText(): string {
  const before = `(i32.sub ${get('at')} (i32.const 4))`;
  return `(func $insert ${params('i32', ['values', 'ids', 'at', 'i'])} (param $v f32) ${locals('i32', ['shift'])}
    ${set('at', op('i32.add', get('values'), get('at')))}
    ${set('shift', op('i32.sub', get('ids'), get('values')))}
    (block $end (loop $move
      (br_if $end (i32.le_u ${get('at')} ${get('values')}))
      (br_if $end (i32.eqz (f32.lt (f32.load ${before}) ${get('v')})))
      (f32.store ${get('at')} (f32.load ${before}))
      (i32.store (i32.add ${get('at')} ${get('shift')}) (i32.load (i32.add ${before} ${get('shift')})))
      ${advance('at', -4)}
      (br $move)))
    (f32.store ${get('at')} ${get('v')})
    (i32.store (i32.add ${get('at')} ${get('shift')}) ${get('i')}))`;
}

const loadScore = set('v', '(f32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))');
const orLowest = set('v', op('select', get('v'), '(f32.const -inf)', op('f32.eq', get('v'), get('v'))));

function insertIfAbove(index: string): string {
  return `(if (f32.gt ${get('v')} ${get('limit')}) (then
    (call $insert ${get('values')} ${get('ids')} ${get('last')} ${index} ${get('v')})
    ${set('limit', `(f32.load (i32.add ${get('values')} ${get('last')}))`)}))`;
}

/** Bits of the 16 scores at $p + 4 $i that are above the limit. */
function mask(): string {
  return [0, 1, 2, 3]
    .map((part) => {
      const scores = `(v128.load offset=${part * 16} ${get('at')})`;
      const bits = op('i32x4.bitmask', op('f32x4.gt', scores, op('f32x4.splat', get('limit'))));
      return part === 0 ? bits : `(i32.shl ${bits} (i32.const ${part * 4}))`;
    })
    .reduce((all, bits) => op('i32.or', all, bits));
}

export function topKText(): string {
  return `${insertText()}
  (func $top_k_row ${params('i32', ['p', 'n', 'k', 'ids', 'values'])}
    ${locals('i32', ['i', 'at', 'last', 'mask', 'j'])} ${locals('f32', ['v', 'limit'])}
    (loop $first ${loadScore} ${orLowest}
      (call $insert ${get('values')} ${get('ids')} (i32.shl ${get('i')} (i32.const 2)) ${get('i')} ${get('v')})
      (br_if $first (i32.lt_u (local.tee $i (i32.add ${get('i')} (i32.const 1))) ${get('k')})))
    ${set('last', `(i32.shl (i32.sub ${get('k')} (i32.const 1)) (i32.const 2))`)}
    ${set('limit', `(f32.load (i32.add ${get('values')} ${get('last')}))`)}
    (block $sixteensEnd (loop $sixteens
      (br_if $sixteensEnd (i32.gt_u (i32.add ${get('i')} (i32.const 16)) ${get('n')}))
      ${set('at', `(i32.add ${get('p')} (i32.shl ${get('i')} (i32.const 2)))`)}
      ${set('mask', mask())}
      (block $none (loop $bits
        (br_if $none (i32.eqz ${get('mask')}))
        ${set('j', op('i32.ctz', get('mask')))}
        ${set('v', `(f32.load (i32.add ${get('at')} (i32.shl ${get('j')} (i32.const 2))))`)}
        ${insertIfAbove(op('i32.add', get('i'), get('j')))}
        ${set('mask', `(i32.and ${get('mask')} (i32.sub ${get('mask')} (i32.const 1)))`)}
        (br $bits)))
      ${advance('i', 16)}
      (br $sixteens)))
    (block $end (loop $rest
      (br_if $end (i32.ge_u ${get('i')} ${get('n')}))
      ${loadScore} ${insertIfAbove(get('i'))}
      ${advance('i', 1)}
      (br $rest))))
  (func (export "top_k") ${params('i32', ['p', 'rows', 'n', 'k', 'ids', 'values'])}
    (block $end (loop $row
      (br_if $end (i32.eqz ${get('rows')}))
      (call $top_k_row ${get('p')} ${get('n')} ${get('k')} ${get('ids')} ${get('values')})
      ${set('p', `(i32.add ${get('p')} (i32.shl ${get('n')} (i32.const 2)))`)}
      ${set('ids', `(i32.add ${get('ids')} (i32.shl ${get('k')} (i32.const 2)))`)}
      ${set('values', `(i32.add ${get('values')} (i32.shl ${get('k')} (i32.const 2)))`)}
      ${advance('rows', -1)}
      (br $row))))`;
}
