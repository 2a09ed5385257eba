/**
 * Google TPU v5p, 95 GiB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const tpuV5p = {
  device: {
    name: 'TPU v5p',
    memoryBytes: 95 * 2 ** 30,
    memoryBytesPerSec: 2765 * GB,
    flopsPerSec: { bf16: 459 * TFLOPS, fp8: 459 * TFLOPS },
    source: 'cloud.google.com, TPU v5p page (2025): 95 GiB, ICI 4800 Gbps per chip',
  },
  scaleUpBytesPerSec: 600 * GB,
  domainRanks: 8960,
  nicBytesPerSec: null,
  notes: [
    'Memory bandwidth 2765 GB/s was not verified in the source.',
    '600 GB/s is the sum over the six ICI links of a 3-D torus; one neighbour gets a sixth.',
  ],
} as const satisfies DevicePreset;
