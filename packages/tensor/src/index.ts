export * from './arena.js';
export * from './kernel.js';
export {
  type PackedFormat,
  packBf16,
  packedBytes,
  packedIndex,
  packF32,
  roundUp,
  unpackBf16,
} from './layout.js';
export * from './naive.js';
export { fromBf16, fromE2m1, fromE4m3, toBf16, toE2m1, toE4m3 } from './numbers.js';
export {
  decodeRowNaive,
  encodeRowNaive,
  ROW_FORMATS,
  type RowFormat,
  rowBytes,
} from './row-codec.js';
export * from './top-k.js';
export { createMemory, type KernelMemory, kernelBytes } from './wasm-host.js';
export { mixSeed, weightAt, weightsInto } from './weights.js';
