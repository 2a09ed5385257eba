/** Devices for tests, by their vendors' figures. */
import type { DeviceSpec } from '@epsim/spec';

export const b200: DeviceSpec = {
  name: 'b200',
  memoryBytes: 180e9,
  memoryBytesPerSec: 7700e9,
  flopsPerSec: { bf16: 2250e12, fp8: 4500e12, fp4: 9000e12 },
  source: 'test',
};

export const h200: DeviceSpec = {
  name: 'H200 SXM',
  memoryBytes: 141e9,
  memoryBytesPerSec: 4800e9,
  flopsPerSec: { bf16: 989e12, fp8: 1978e12 },
  source: 'test',
};

export const h800: DeviceSpec = {
  name: 'h800',
  memoryBytes: 80e9,
  memoryBytesPerSec: 3352e9,
  flopsPerSec: { bf16: 989e12, fp8: 1979e12 },
  source: 'test',
};

export const unknown: DeviceSpec = {
  name: 'somebody-elses',
  memoryBytes: 100e9,
  memoryBytesPerSec: 5000e9,
  flopsPerSec: { bf16: 1000e12 },
  source: 'test',
};
