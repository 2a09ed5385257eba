/**
 * The network models by name. A new one is a file and a line here.
 */
import { bound } from './bound.js';
import { fairShare } from './fair-share.js';
import type { NetworkModel } from './transfer.js';

export const networkModels = {
  bound,
  'fair-share': fairShare,
} as const satisfies Record<string, NetworkModel>;
