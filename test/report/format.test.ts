import { formatValue } from '@epsim/report';
import { expect, test } from 'vitest';

test.each([
  [0, 'ns', '0 ns'],
  [999.4, 'ns', '999 ns'],
  [999.6, 'ns', '1 µs'],
  [1234, 'ns', '1.23 µs'],
  [8.5e9, 'ns', '8.5 s'],
  [173_824, 'bytes', '174 kB'],
  [1.56e12, 'bytes', '1.56 TB'],
  [896, 'count', '896'],
  [12_345, 'count', '12,345'],
  [2.7795e12, 'count', '2.78 T'],
  [0.1234, 'fraction', '12.3 %'],
  [1.3333, 'ratio', '1.33'],
  [0.00001, 'ratio', '1e-5'],
  [null, 'ns', 'n/a'],
] as const)('%s in %s reads %s', (value, unit, text) => {
  expect(formatValue(value, unit)).toBe(text);
});
