/**
 * NVIDIA H20, 96 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const h20 = {
  device: {
    name: 'H20 96GB',
    memoryBytes: 96 * GB,
    memoryBytesPerSec: 4000 * GB,
    flopsPerSec: { bf16: 148 * TFLOPS, fp8: 296 * TFLOPS },
    smCount: 78,
    source: 'Ant Group and LMSYS post on H20 serving (2025)',
  },
  scaleUpBytesPerSec: 450 * GB,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: [
    'Memory bandwidth: 4000 GB/s kept (the post); InferSim at f2293da uses 4096 GB/s.',
    'Network: 50 GB/s kept (8 x 400G nodes); nodes with 4 x 400G have 25 GB/s per device.',
    '78 SMs: as reported by the CUDA runtime on H20.',
  ],
} as const satisfies DevicePreset;
