/**
 * One B200 of a GB200 NVL72 rack, 186 GB.
 */
import { type DevicePreset, GB, TFLOPS } from './device-preset.js';

export const gb200 = {
  device: {
    name: 'GB200 NVL72',
    memoryBytes: 186 * GB,
    memoryBytesPerSec: 8000 * GB,
    flopsPerSec: { bf16: 2500 * TFLOPS, fp8: 5000 * TFLOPS, fp4: 10000 * TFLOPS },
    watts: 1200,
    source: 'system files of ai-dynamo/aiconfigurator at 095f58a5 (2026-07)',
  },
  scaleUpBytesPerSec: 900 * GB,
  domainRanks: 72,
  nicBytesPerSec: 100 * GB,
  notes: [
    'Memory bandwidth: 8000 GB/s kept (system file); InferSim at f2293da uses 13,400 GB/s x 0.8 for the two of a superchip, 5360 GB/s each as achieved.',
  ],
} as const satisfies DevicePreset;
