/**
 * Hands out places in one memory, front to back.
 * Its one idea: fresh memory is dear (a page fault per 4 KiB), so it is laid out once and reused;
 * nothing is freed singly, and `reset` starts again on pages that are already there.
 * Knows nothing about what lies in a place.
 */
import type { KernelMemory } from './wasm-host.js';

export class Arena {
  readonly memory: KernelMemory;
  readonly #start: number;
  readonly #end: number;
  #next: number;

  /** Places from byte `start` to byte `end` of the memory (default: all of it). */
  constructor(memory: KernelMemory, start = 0, end: number = memory.buffer.byteLength) {
    if (!(start >= 0 && start <= end && end <= memory.buffer.byteLength)) {
      throw new RangeError(
        `arena ${start}..${end} lies outside a memory of ${memory.buffer.byteLength} bytes`,
      );
    }
    this.memory = memory;
    this.#start = start;
    this.#end = end;
    this.#next = start;
  }

  /** Bytes handed out so far, gaps for alignment included. */
  get usedBytes(): number {
    return this.#next - this.#start;
  }

  get freeBytes(): number {
    return this.#end - this.#next;
  }

  /** Byte offset of `bytes` bytes at a multiple of `align` (a power of two). Throws RangeError when they do not fit. */
  alloc(bytes: number, align = 64): number {
    if (!Number.isInteger(bytes) || bytes < 0) throw new RangeError(`cannot allocate ${bytes} bytes`);
    const offset = Math.ceil(this.#next / align) * align;
    if (offset + bytes > this.#end) {
      throw new RangeError(
        `arena is full: ${bytes} bytes wanted, ${Math.max(0, this.#end - offset)} of ${this.#end - this.#start} left`,
      );
    }
    this.#next = offset + bytes;
    return offset;
  }

  /** A view of `length` fresh floats. */
  f32(length: number): Float32Array<ArrayBufferLike> {
    return new Float32Array(this.memory.buffer, this.alloc(length * 4), length);
  }

  /** A view of `length` fresh 32-bit integers. */
  i32(length: number): Int32Array<ArrayBufferLike> {
    return new Int32Array(this.memory.buffer, this.alloc(length * 4), length);
  }

  /** Forgets every place; what was written stays until it is written again. */
  reset(): void {
    this.#next = this.#start;
  }
}
