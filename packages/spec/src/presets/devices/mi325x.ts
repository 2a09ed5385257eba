/**
 * AMD Instinct MI325X, 256 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const mi325x = {
  device: {
    name: 'MI325X',
    memoryBytes: 256 * GB,
    memoryBytesPerSec: 6000 * GB,
    flopsPerSec: { bf16: 1307 * TFLOPS },
    source: 'Vultr documentation of MI325X instances (2025)',
  },
  scaleUpBytesPerSec: null,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: ['FP8 peak, scale-up bandwidth and power are not in the source and stay absent.'],
} as const satisfies DevicePreset;
