/**
 * AMD Instinct MI300X, 192 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const mi300x = {
  device: {
    name: 'MI300X',
    memoryBytes: 192 * GB,
    memoryBytesPerSec: 5300 * GB,
    flopsPerSec: { bf16: 1307.4 * TFLOPS, fp8: 2614.9 * TFLOPS },
    watts: 750,
    source: 'report of the alpharomercoma repository (2025): xGMI 7 x 64 GB/s each direction',
  },
  scaleUpBytesPerSec: 448 * GB,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: [
    'xGMI is a full mesh: 64 GB/s to each of seven peers, 448 GB/s only to all of them at once.',
    "The xGMI figure has one source and was not verified against AMD's data sheet.",
  ],
} as const satisfies DevicePreset;
