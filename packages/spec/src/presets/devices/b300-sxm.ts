/**
 * NVIDIA B300 SXM, 288 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const b300Sxm = {
  device: {
    name: 'B300 SXM',
    memoryBytes: 288 * GB,
    memoryBytesPerSec: 7750 * GB,
    flopsPerSec: { bf16: 2250 * TFLOPS, fp8: 4500 * TFLOPS, fp4: 14000 * TFLOPS },
    watts: 1100,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 900 * GB,
  domainRanks: 8,
  nicBytesPerSec: 100 * GB,
  notes: ['268.6 GiB (288.4 GB) of memory are visible to programs.'],
} as const satisfies DevicePreset;
