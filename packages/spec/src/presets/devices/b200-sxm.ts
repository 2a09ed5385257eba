/**
 * NVIDIA B200 SXM, 180 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const b200Sxm = {
  device: {
    name: 'B200 SXM',
    memoryBytes: 180 * GB,
    memoryBytesPerSec: 7700 * GB,
    flopsPerSec: { bf16: 2250 * TFLOPS, fp8: 4500 * TFLOPS, fp4: 9000 * TFLOPS },
    watts: 1000,
    smCount: 148,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 900 * GB,
  domainRanks: 8,
  nicBytesPerSec: 100 * GB,
  notes: [
    'Memory bandwidth: 7700 GB/s kept (system file); marketing pages say 8000 GB/s.',
    'Network: 100 GB/s kept (ConnectX-8, 800G); nodes with ConnectX-7 have 50 GB/s.',
    '148 SMs: as reported by the CUDA runtime on B200.',
  ],
} as const satisfies DevicePreset;
