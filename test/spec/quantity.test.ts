import {
  exactQuantity,
  formatBandwidth,
  formatBytes,
  formatDollarsPerHour,
  formatFlops,
  formatNs,
  formatWatts,
  parseQuantity,
  type QuantityKind,
  zBandwidth,
  zBytes,
  zDuration,
  zFlops,
} from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';

function read(kind: QuantityKind, text: unknown): number {
  const result = parseQuantity(kind, text);
  if (!result.ok) throw new Error(JSON.stringify(result.problem));
  return result.value;
}

function refusal(kind: QuantityKind, text: unknown): string {
  const result = parseQuantity(kind, text);
  if (result.ok) throw new Error(`was read as ${result.value}`);
  return `${result.problem.kind} ${result.problem.subject}; ${result.problem.help}`;
}

test('every unit is worth what it says', () => {
  expect(read('bytes', '80 GB')).toBe(80e9);
  expect(read('bytes', '80 GiB')).toBe(85_899_345_920);
  expect(read('bytes', '141GiB')).toBe(141 * 2 ** 30);
  expect(read('bytes', '1.5 KiB')).toBe(1536);
  expect(read('bytes', '81559 MiB')).toBe(85_520_809_984);
  expect(read('bandwidth', '50 GB/s')).toBe(50e9);
  expect(read('bandwidth', '50 Gbps')).toBe(6.25e9);
  expect(read('bandwidth', '400 Gb/s')).toBe(50e9);
  expect(read('bandwidth', '400 Gbit/s')).toBe(50e9);
  expect(read('bandwidth', '1 GiB/s')).toBe(2 ** 30);
  expect(read('bandwidth', '3.35 TB/s')).toBe(3.35e12);
  expect(read('duration', '3 us')).toBe(3000);
  expect(read('duration', '3 \u00b5s')).toBe(3000);
  expect(read('duration', '1.1 ms')).toBe(1_100_000);
  expect(read('duration', '2 min')).toBe(120e9);
  expect(read('flops', '989 TFLOPS')).toBe(989e12);
  expect(read('flops', '2.25 PFLOP/s')).toBe(2.25e15);
  expect(read('power', '1.2 kW')).toBe(1200);
  expect(read('price', '$2.50/h')).toBe(2.5);
  expect(read('price', '2.50 $/h')).toBe(2.5);
  expect(read('price', '4 USD/h')).toBe(4);
});

test('bits are an eighth of bytes, whatever the number', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.constantFrom('k', 'M', 'G', 'T'), (count, prefix) => {
      expect(read('bandwidth', `${count} ${prefix}bps`) * 8).toBe(read('bandwidth', `${count} ${prefix}B/s`));
    }),
  );
});

test('80 GB is 74.5 GiB and never 80', () => {
  expect(read('bytes', '80 GB') / 2 ** 30).toBeCloseTo(74.5, 1);
  expect(formatBytes(read('bytes', '80 GiB'))).toBe('85.9 GB');
});

test('a bare number says which unit to write', () => {
  expect(refusal('bandwidth', 50)).toBe('missing unit; write "50 GB/s" or "400 Gbps"');
  expect(refusal('bandwidth', '50')).toBe('missing unit; write "50 GB/s" or "400 Gbps"');
  expect(refusal('bytes', 80)).toBe('missing unit; write "80 GB" or "141 GiB"');
});

test('what is not a quantity is refused with the nearest unit', () => {
  expect(refusal('bandwidth', '50 gbps')).toContain('did you mean Gbps?');
  expect(refusal('bytes', '50 GB/s')).toContain('unknown unit');
  expect(refusal('duration', '3 parsec')).toContain('unknown unit');
  expect(refusal('duration', 'soon')).toBe('wrong value; write "3 us" or "2.5 ms"');
  expect(refusal('duration', null)).toContain('wrong value');
  expect(refusal('duration', undefined)).toContain('missing value');
  expect(refusal('duration', '-3 us')).toContain('out of range value; must be at least 0 ns');
  expect(refusal('bandwidth', '0 GB/s')).toContain('must be above 0 B/s');
  expect(refusal('bytes', '1e400 GB')).toContain('too large');
});

const kinds: readonly QuantityKind[] = ['bytes', 'bandwidth', 'duration', 'flops', 'power', 'price'];

test('any value written out exactly reads back as the same double', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.oneof(fc.integer({ min: 1, max: 1e15 }), fc.double({ min: 1e-9, max: 1e18, noNaN: true })),
      (kind, value) => {
        expect(read(kind, exactQuantity(kind, value))).toBe(value);
      },
    ),
  );
  expect(exactQuantity('bytes', 80e9)).toBe('80 GB');
  expect(exactQuantity('bytes', 141 * 2 ** 30)).toBe('141 GiB');
  expect(exactQuantity('bandwidth', 50e9)).toBe('50 GB/s');
  expect(exactQuantity('duration', 2500)).toBe('2.5 us');
});

test('printing keeps three digits and reads back within half a percent', () => {
  expect(formatBytes(1.5565e12)).toBe('1.56 TB');
  expect(formatBytes(59_136)).toBe('59.1 kB');
  expect(formatBytes(0)).toBe('0 B');
  expect(formatBandwidth(450e9)).toBe('450 GB/s');
  expect(formatNs(999.7)).toBe('1 us');
  expect(formatNs(0.25)).toBe('0.25 ns');
  expect(formatNs(90e9)).toBe('1.5 min');
  expect(formatFlops(989e12)).toBe('989 TFLOPS');
  expect(formatWatts(700)).toBe('700 W');
  expect(formatDollarsPerHour(2.5)).toBe('2.5 $/h');
  fc.assert(
    fc.property(fc.double({ min: 1, max: 9e17, noNaN: true }), (value) => {
      expect(Math.abs(read('bytes', formatBytes(value)) / value - 1)).toBeLessThan(0.0051);
      expect(Math.abs(read('duration', formatNs(value)) / value - 1)).toBeLessThan(0.0051);
    }),
  );
});

test('the zod types read units, write them back and describe themselves', () => {
  const schema = z.strictObject({
    memory: zBytes(),
    rate: zBandwidth().optional(),
    wait: zDuration().default(0),
  });
  expect(schema.parse({ memory: '80 GB' })).toEqual({ memory: 80e9, wait: 0 });
  expect(z.encode(schema, { memory: 80e9, rate: 5e9, wait: 0 })).toEqual({
    memory: '80 GB',
    rate: '5 GB/s',
    wait: '0 ns',
  });
  const issues = schema.safeParse({ rate: 50 }).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toEqual(['memory', 'rate']);
  expect(issues[1].message).toBe('missing unit: 50; write "50 GB/s" or "400 Gbps"');
  expect(z.toJSONSchema(zFlops(), { io: 'input' })).toMatchObject({ type: 'string' });
});
