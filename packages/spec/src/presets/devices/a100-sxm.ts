/**
 * NVIDIA A100 SXM, 80 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const a100Sxm = {
  device: {
    name: 'A100 SXM 80GB',
    memoryBytes: 80 * GB,
    memoryBytesPerSec: 2039 * GB,
    flopsPerSec: { bf16: 312 * TFLOPS },
    watts: 400,
    smCount: 108,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 300 * GB,
  domainRanks: 8,
  nicBytesPerSec: 25 * GB,
  notes: ['108 SMs: NVIDIA A100 whitepaper, 2020.'],
} as const satisfies DevicePreset;
