/**
 * NVIDIA H100 SXM, 80 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const h100Sxm = {
  device: {
    name: 'H100 SXM',
    memoryBytes: 80 * GB,
    memoryBytesPerSec: 3350 * GB,
    flopsPerSec: { bf16: 989 * TFLOPS, fp8: 1978 * TFLOPS },
    watts: 700,
    smCount: 132,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 450 * GB,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: [
    "80 GB is the vendor's figure in decimal units; nvidia-smi shows 81,559 MiB (85.5 GB) before any reserve.",
    '132 SMs: NVIDIA H100 whitepaper, 2022.',
  ],
} as const satisfies DevicePreset;
