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
    source:
      'Vultr documentation of MI325X instances (2025); xGMI as on MI300X, 7 x 64 GB/s each direction, whose boards it fits',
  },
  scaleUpBytesPerSec: 448 * GB,
  domainRanks: 8,
  nicBytesPerSec: 50 * GB,
  notes: [
    'FP8 peak and power are not in the source and stay absent.',
    'The source does not state xGMI: seven links to eight fully meshed devices are taken to be those of MI300X.',
  ],
} as const satisfies DevicePreset;
