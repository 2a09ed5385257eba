/** A small memory with a kernel on it, and floats placed in it. */
import { Arena, createKernel, createMemory, type Kernel } from '@epsim/tensor';
import fc from 'fast-check';

export interface Bench {
  readonly kernel: Kernel;
  readonly arena: Arena;
  /** Copies `values` to a fresh place and returns its offset. */
  put(values: Float32Array): number;
  /** A view of `length` floats at `offset`. */
  floats(offset: number, length: number): Float32Array;
}

export function bench(bytes = 8 << 20, shared = false): Bench {
  const memory = createMemory(bytes, { shared });
  const arena = new Arena(memory);
  return {
    kernel: createKernel(memory),
    arena,
    put: (values) => {
      const offset = arena.alloc(values.byteLength);
      new Float32Array(memory.buffer, offset, values.length).set(values);
      return offset;
    },
    floats: (offset, length) => new Float32Array(memory.buffer, offset, length),
  };
}

/** Reproducible floats in [-size, size) from a seed. */
export function someFloats(length: number, seed: number, size = 1): Float32Array {
  const out = new Float32Array(length);
  let state = (seed ^ 0x5bd1e995) >>> 0;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out[i] = (state / 2147483648 - 1) * size;
  }
  return out;
}

export const anySeed = () => fc.integer({ min: 0, max: 2 ** 31 });

/** Largest |a - b| over the largest |b|. */
export function relError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let worst = 0;
  let top = 0;
  for (let i = 0; i < b.length; i++) {
    worst = Math.max(worst, Math.abs(a[i] - b[i]));
    top = Math.max(top, Math.abs(b[i]));
  }
  return top === 0 ? worst : worst / top;
}
