/**
 * NVIDIA H800 SXM, 80 GB: H100 with NVLink cut to 400 GB/s in both directions together.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const h800Sxm = {
  device: {
    name: 'H800 SXM',
    memoryBytes: 80 * GB,
    memoryBytesPerSec: 3352 * GB,
    flopsPerSec: { bf16: 989 * TFLOPS, fp8: 1979 * TFLOPS },
    smCount: 132,
    source: 'Ant Group and LMSYS post on H20 serving (2025), NVLink 400 GB/s in total',
  },
  scaleUpBytesPerSec: 200 * GB,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: [
    'Memory bandwidth: 3352 GB/s kept (the post); other sources say 3350 and 3430 GB/s.',
    "NVLink: 200 GB/s per direction is nominal; DeepEP's README calls 160 GB/s the usable maximum.",
    '132 SMs: the same die as H100.',
  ],
} as const satisfies DevicePreset;
