export * from './parameters/index.js';
