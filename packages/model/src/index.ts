export * from './blocks/index.js';
export * from './cost/index.js';
export * from './parameters/index.js';
