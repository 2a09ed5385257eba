/**
 * One B300 of a GB300 NVL72 rack, 288 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const gb300 = {
  device: {
    name: 'GB300 NVL72',
    memoryBytes: 288 * GB,
    memoryBytesPerSec: 8000 * GB,
    flopsPerSec: { bf16: 2500 * TFLOPS, fp8: 5000 * TFLOPS, fp4: 15000 * TFLOPS },
    watts: 1400,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 900 * GB,
  domainRanks: 72,
  nicBytesPerSec: 100 * GB,
  notes: [
    '277.5 GiB (298.0 GB) of memory are visible by the same source, more than the nominal 288 GB; the nominal figure is kept.',
  ],
} as const satisfies DevicePreset;
