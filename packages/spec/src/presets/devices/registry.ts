/**
 * The devices that a scenario can name. A new one is a file beside this and a line here.
 */
import { a100Sxm } from './a100-sxm.js';
import { b200Sxm } from './b200-sxm.js';
import { b300Sxm } from './b300-sxm.js';
import type { DevicePreset } from './device-preset.js';
import { gb200 } from './gb200.js';
import { gb300 } from './gb300.js';
import { h20 } from './h20.js';
import { h100Sxm } from './h100-sxm.js';
import { h200Sxm } from './h200-sxm.js';
import { h800Sxm } from './h800-sxm.js';
import { mi300x } from './mi300x.js';
import { mi325x } from './mi325x.js';
import { tpuV5p } from './tpu-v5p.js';

export const devicePresets = {
  'a100-sxm': a100Sxm,
  'h100-sxm': h100Sxm,
  'h200-sxm': h200Sxm,
  'h800-sxm': h800Sxm,
  h20: h20,
  'b200-sxm': b200Sxm,
  'b300-sxm': b300Sxm,
  gb200: gb200,
  gb300: gb300,
  mi300x: mi300x,
  mi325x: mi325x,
  'tpu-v5p': tpuV5p,
} as const satisfies Record<string, DevicePreset>;

export type DevicePresetName = keyof typeof devicePresets;
