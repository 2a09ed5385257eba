/**
 * Kimi K2.5: K2's text model with routed experts in packed INT4, a longer context and a vision tower.
 */
import { precisions } from '../../precision.js';
import { kimiK2 } from './kimi-k2.js';

export const kimiK25 = {
  ...kimiK2,
  name: 'kimi-k2.5',
  source: 'config.json of moonshotai/Kimi-K2.5 on Hugging Face, as read in 2026-07',
  contextTokens: 262_144,
  vision: {
    layerCount: 27,
    hiddenSize: 1152,
    innerSize: 4304,
    headCount: 16,
    headDim: 72,
    patchSize: 14,
    mergeSize: 2,
    positionGrid: 64,
    projectorInnerSize: 4608,
  },
  precision: { routedExperts: precisions.int4, rest: precisions.bf16 },
};
