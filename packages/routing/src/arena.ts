/**
 * Large arrays by name, allocated once and reused: fresh memory costs more than the arithmetic done on it.
 * Knows nothing about what the arrays hold; contents are whatever the last user left.
 */

export interface RoutingArena {
  /** A view of `length` elements of the array called `name`; the same memory at every call that fits. */
  f32(name: string, length: number): Float32Array;
  i32(name: string, length: number): Int32Array;
}

/** An empty arena. Arrays grow to the largest length that was asked for and are never given back. */
export function createRoutingArena(): RoutingArena {
  const floats = new Map<string, Float32Array>();
  const ints = new Map<string, Int32Array>();
  return {
    f32: (name, length) => viewOf(floats, name, length, (size) => new Float32Array(size)),
    i32: (name, length) => viewOf(ints, name, length, (size) => new Int32Array(size)),
  };
}

function viewOf<A extends { readonly length: number; subarray(from: number, to: number): A }>(
  arrays: Map<string, A>,
  name: string,
  length: number,
  allocate: (length: number) => A,
): A {
  let array = arrays.get(name);
  if (!array || array.length < length) {
    array = allocate(length);
    arrays.set(name, array);
  }
  return array.length === length ? array : array.subarray(0, length);
}
