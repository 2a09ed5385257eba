/**
 * Small words for writing WebAssembly text: constants, locals, loops.
 * Its one idea: a vector body is written once, as text with named locals, and emitted twice,
 * for whole vectors and for the last one to three elements, so that an element's bits never
 * depend on its position in a row.
 * Knows nothing about what is computed.
 */

/** All four lanes hold the float `value` (a decimal or hexadecimal literal). */
export function f32x4(value: number | string): string {
  return `(v128.const f32x4 ${value} ${value} ${value} ${value})`;
}

/** All four lanes hold the integer `value`. */
export function i32x4(value: number): string {
  return `(v128.const i32x4 ${value} ${value} ${value} ${value})`;
}

export function get(name: string): string {
  return `(local.get $${name})`;
}

export function set(name: string, value: string): string {
  return `(local.set $${name} ${value})`;
}

/** name += bytes (a constant). */
export function advance(name: string, bytes: number): string {
  return set(name, `(i32.add ${get(name)} (i32.const ${bytes}))`);
}

export function locals(type: 'i32' | 'f32' | 'v128', names: readonly string[]): string {
  return names.map((name) => `(local $${name} ${type})`).join(' ');
}

export function params(type: 'i32' | 'f32', names: readonly string[]): string {
  return names.map((name) => `(param $${name} ${type})`).join(' ');
}

export function op(name: string, ...operands: readonly string[]): string {
  return `(${name} ${operands.join(' ')})`;
}

/**
 * A loop over `$count` elements: whole vectors of four, then single elements in lane 0.
 * `body(load, store)` is the text for one vector; `load(pointer)` and `store(pointer, value)` are
 * what differs between the two. `pointers` are the locals that advance by one element at a time.
 * Uses and consumes the local `$count`.
 */
export function eachElement(
  label: string,
  pointers: readonly string[],
  body: (load: (pointer: string) => string, store: (pointer: string, value: string) => string) => string,
): string {
  const vectorBody = body(
    (pointer) => `(v128.load ${get(pointer)})`,
    (pointer, value) => `(v128.store ${get(pointer)} ${value})`,
  );
  const singleBody = body(
    (pointer) => `(v128.load32_zero ${get(pointer)})`,
    (pointer, value) => `(v128.store32_lane 0 ${get(pointer)} ${value})`,
  );
  const loop = (name: string, text: string, elements: number) => `
    (block $${name}End (loop $${name}
      (br_if $${name}End (i32.lt_s ${get('count')} (i32.const ${elements})))
      ${text}
      ${pointers.map((pointer) => advance(pointer, elements * 4)).join(' ')}
      ${set('count', `(i32.sub ${get('count')} (i32.const ${elements}))`)}
      (br $${name})))`;
  return loop(`${label}Four`, vectorBody, 4) + loop(`${label}One`, singleBody, 1);
}
