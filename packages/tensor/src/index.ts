export * from './arena.js';
export * from './kernel.js';
export * from './layout.js';
export * from './naive.js';
export * from './numbers.js';
export * from './row-codec.js';
export * from './top-k.js';
export { createMemory, type KernelMemory, kernelBytes, MAX_PAGES, PAGE_BYTES } from './wasm-host.js';
export { mixSeed, weightAt, weightsInto } from './weights.js';
