export * from './load-measures.js';
export * from './read-run.js';
export * from './run-files.js';
export * from './run-folder.js';
export * from './run-folder-error.js';
export * from './summarize.js';
export * from './summary.js';
export * from './tables.js';
