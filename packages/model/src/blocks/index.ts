export * from './glu-network.js';
export * from './latent-moe.js';
export * from './linear.js';
export * from './rms-norm.js';
export * from './situ-glu.js';
