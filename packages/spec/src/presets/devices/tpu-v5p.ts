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
    source:
      'docs.cloud.google.com, TPU v5p page (2026): 95 GiB, 2765 GB/s, ICI 1200 GB/s both directions and 50 Gbps of data centre network per chip',
  },
  scaleUpBytesPerSec: 600 * GB,
  domainRanks: 8960,
  nicBytesPerSec: 6.25 * GB,
  notes: [
    'An edition of the page says 2575 GiB/s of memory bandwidth, which is the same figure.',
    '600 GB/s one direction (4800 Gbps) is the sum over the six ICI links of a 3-D torus; one neighbour gets a sixth.',
  ],
} as const satisfies DevicePreset;
