/**
 * The few names of the host's WebAssembly that the kernel needs, typed here because the library
 * compiles without browser or Node types. One compiled module per realm and kind of memory.
 * Knows nothing about what the module computes.
 */
import { KERNEL_BASE64, MEMORY_FLAG_AT, UNSHARED_FLAG } from './kernel-bytes.js';

/** A `WebAssembly.Memory`, as far as it is used here. */
export interface KernelMemory {
  readonly buffer: ArrayBufferLike;
}

/** Bytes of one WebAssembly page. */
const PAGE_BYTES = 65536;
/** Pages that one memory can have: 4 GiB. */
const MAX_PAGES = 65536;

interface WasmHost {
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  Instance: new (module: object, imports: object) => { readonly exports: object };
  Memory: new (limits: { initial: number; maximum: number; shared: boolean }) => KernelMemory;
}

function wasmHost(): WasmHost {
  const host = (globalThis as { WebAssembly?: WasmHost }).WebAssembly;
  if (host === undefined) throw new Error('this JavaScript engine has no WebAssembly');
  return host;
}

/** Six bits of each character of base64; decoding it here keeps the library free of Buffer and atob. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const digits = new Map([...alphabet].map((letter, value) => [letter, value]));
  const body = text.replace(/=+$/, '');
  const bytes = new Uint8Array(Math.floor((body.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of body) {
    held = ((held << 6) | (digits.get(letter) ?? 0)) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 255;
    }
  }
  return bytes;
}

/** The kernel's bytes for a memory that is shared between threads, or not. */
export function kernelBytes(shared: boolean): Uint8Array<ArrayBuffer> {
  const bytes = base64Bytes(KERNEL_BASE64);
  if (!shared) bytes[MEMORY_FLAG_AT] = UNSHARED_FLAG;
  return bytes;
}

const compiled = new Map<boolean, object>();

/** The exports of a fresh instance of the kernel on `memory`. */
export function instantiate(memory: KernelMemory): object {
  const host = wasmHost();
  const shared = !(memory.buffer instanceof ArrayBuffer);
  let module = compiled.get(shared);
  if (module === undefined) {
    module = new host.Module(kernelBytes(shared));
    compiled.set(shared, module);
  }
  return new host.Instance(module, { env: { memory } }).exports;
}

/**
 * A memory of at least `bytes` bytes that never grows, so that views of it stay valid.
 * Pages cost nothing until they are first touched. Throws RangeError above 4 GiB.
 */
export function createMemory(bytes: number, options: { readonly shared: boolean }): KernelMemory {
  const pages = Math.max(1, Math.ceil(bytes / PAGE_BYTES));
  if (!(pages <= MAX_PAGES)) {
    throw new RangeError(
      `memory of ${bytes} bytes needs ${pages} pages; one memory has at most ${MAX_PAGES} (4 GiB)`,
    );
  }
  return new (wasmHost().Memory)({ initial: pages, maximum: pages, shared: options.shared });
}
