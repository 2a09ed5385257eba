/**
 * The network models by name. A new one is a file and a line here.
 */
import { bound } from './bound.js';
import type { NetworkModel } from './transfer.js';

export const networkModels = {
  bound,
} as const satisfies Record<string, NetworkModel>;
