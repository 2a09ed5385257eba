export * from './cost/index.js';
export * from './parameters/index.js';
