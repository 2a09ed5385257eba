/**
 * The clusters that a scenario can name. A new one is a file beside this and a line here.
 */
import { a1008 } from './a100-8.js';
import { b2008 } from './b200-8.js';
import { b3008 } from './b300-8.js';
import { gb200Nvl72 } from './gb200-nvl72.js';
import { gb300Nvl72 } from './gb300-nvl72.js';
import { h208 } from './h20-8.js';
import { h1008 } from './h100-8.js';
import { h2008 } from './h200-8.js';
import { h800Nodes } from './h800-nodes.js';
import { mi300x8 } from './mi300x-8.js';
import { mi325x8 } from './mi325x-8.js';
import type { ClusterPreset } from './parts.js';
import { tpuV5p64 } from './tpu-v5p-64.js';

export const clusterPresets = {
  'a100-8': a1008,
  'h100-8': h1008,
  'h200-8': h2008,
  'h800-nodes': h800Nodes,
  'h20-8': h208,
  'b200-8': b2008,
  'b300-8': b3008,
  'gb200-nvl72': gb200Nvl72,
  'gb300-nvl72': gb300Nvl72,
  'mi300x-8': mi300x8,
  'mi325x-8': mi325x8,
  'tpu-v5p-64': tpuV5p64,
} as const satisfies Record<string, ClusterPreset>;

export type ClusterPresetName = keyof typeof clusterPresets;
