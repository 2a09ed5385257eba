export * from './cluster-spec.js';
export * from './model-shape.js';
export * from './plan-nouns.js';
export * from './provenance.js';
export * from './scenario-nouns.js';
export * from './step-record.js';
