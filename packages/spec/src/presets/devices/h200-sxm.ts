/**
 * NVIDIA H200 SXM, 141 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const h200Sxm = {
  device: {
    name: 'H200 SXM',
    memoryBytes: 141 * GB,
    memoryBytesPerSec: 4800 * GB,
    flopsPerSec: { bf16: 989 * TFLOPS, fp8: 1978 * TFLOPS },
    watts: 700,
    smCount: 132,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 450 * GB,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: ['132 SMs: the same die as H100.'],
} as const satisfies DevicePreset;
