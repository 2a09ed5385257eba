import {
  type DeviceProfile,
  deviceProfiles,
  type ExpertKernel,
  expertComputeTime,
  expertErrorBar,
  expertNs,
  expertSizes,
  expertTimer,
  profileFor,
  tileFor,
} from '@epsim/model';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bf16, kimiK3, mxfp4 } from '../parameters/shapes.js';
import { b200, h200, unknown } from './devices.js';

const k3 = kimiK3();
const sizes = expertSizes(k3.moe, k3.precision.routedExperts);
const anyLoads = fc
  .array(fc.nat(300), { minLength: 1, maxLength: 40 })
  .map((loads) => Int32Array.from(loads));
const anyKernel = fc.record({
  startNs: fc.nat(50_000),
  memoryFraction: fc.double({ min: 0.1, max: 1, noNaN: true }),
  computeFraction: fc.double({ min: 0.1, max: 1, noNaN: true }),
  computeFormat: fc.constantFrom('bf16' as const, 'fp8' as const),
  tileRows: fc.constantFrom([8], [32], [128]),
  tileFill: fc.constant(1),
  tileLoad: fc.constantFrom('own' as const, 'presented' as const),
  rereadFraction: fc.double({ min: 0, max: 1, noNaN: true }),
  overlapExponent: fc.double({ min: 1, max: 8, noNaN: true }),
  permuteFraction: fc.double({ min: 0.1, max: 2, noNaN: true }),
  tileNs: fc.nat(500),
  innerBlock: fc.constant(1),
}) satisfies fc.Arbitrary<ExpertKernel>;

/** Every expert by itself, without the shared factors of the fast form. */
function naiveNs(loads: Int32Array, kernel: ExpertKernel): number {
  const peak = { bf16: 2250e12, fp8: 4500e12, fp4: 9000e12 }[kernel.computeFormat];
  const total = loads.reduce((sum, rows) => sum + rows, 0);
  if (total === 0) return 0;
  const tile = tileFor(kernel, total / loads.length);
  let seconds = (total * 3584 * 4) / (7700e9 * kernel.permuteFraction);
  for (const rows of loads) {
    let streamed = 0;
    let multiplied = 0;
    for (let done = 0; done < rows; done += tile) {
      streamed += 17_547_264 * (done === 0 ? 1 : kernel.rereadFraction);
      multiplied += tile * 66_060_288;
      seconds += kernel.tileNs / 1e9;
    }
    const memory = streamed / (7700e9 * kernel.memoryFraction);
    const compute = multiplied / (peak * kernel.computeFraction);
    seconds +=
      (memory ** kernel.overlapExponent + compute ** kernel.overlapExponent) ** (1 / kernel.overlapExponent);
  }
  return kernel.startNs + 1e9 * seconds;
}

describe('time of the experts of a rank', () => {
  test('the fast form agrees with walking over tiles', () => {
    fc.assert(
      fc.property(anyLoads, anyKernel, (loads, kernel) => {
        const fast = expertNs({ tokensPerSlot: loads }, sizes, b200, kernel);
        expect(fast).toBeCloseTo(naiveNs(loads, kernel), 3);
      }),
    );
  });

  test('a part of a load takes what it takes by itself, whatever was asked before', () => {
    fc.assert(
      fc.property(fc.array(anyLoads, { minLength: 2, maxLength: 4 }), anyKernel, (parts, kernel) => {
        const time = expertTimer(sizes, b200, kernel);
        const tokensPerSlot = Int32Array.from(parts.flatMap((part) => [...part]));
        let first = 0;
        for (const part of parts) {
          const last = first + part.length;
          const alone = expertNs({ tokensPerSlot: part }, sizes, b200, kernel);
          expect(time({ tokensPerSlot }, first, last)).toBe(alone);
          first = last;
        }
      }),
    );
  });

  test('it never beats streaming the weights of activated experts at nominal bandwidth', () => {
    fc.assert(
      fc.property(anyLoads, anyKernel, (loads, kernel) => {
        const activated = loads.filter((rows) => rows > 0).length;
        const bound = (1e9 * activated * sizes.weightBytes) / b200.memoryBytesPerSec;
        const ns = expertNs({ tokensPerSlot: loads }, sizes, b200, kernel);
        expect(ns).toBeGreaterThanOrEqual(bound * (1 - 1e-12));
      }),
    );
  });

  test('with one tile size, one more row is never faster, and order does not matter', () => {
    fc.assert(
      fc.property(anyLoads, anyKernel, fc.nat(39), (loads, kernel, index) => {
        const more = loads.slice();
        more[index % more.length] = (more[index % more.length] as number) + 1;
        const time = (tokensPerSlot: Int32Array): number => expertNs({ tokensPerSlot }, sizes, b200, kernel);
        expect(time(more)).toBeGreaterThanOrEqual(time(loads));
        expect(time(loads.slice().reverse())).toBeCloseTo(time(loads), 3);
      }),
    );
  });

  test('a rank without rows takes no time, and presented rows of others cost their permutation', () => {
    const none = new Int32Array(14);
    expect(expertComputeTime(k3, b200, none).ns).toBe(0);
    const one = Int32Array.from([4, 0, 9]);
    const alone = expertComputeTime(k3, b200, one).ns;
    expect(expertComputeTime(k3, b200, { tokensPerSlot: one, presentedRows: 100_000 }).ns).toBeGreaterThan(
      alone,
    );
  });

  test('fewer activated experts are faster at small batches, uneven ones slower at large batches', () => {
    const even = (rows: number): Int32Array => new Int32Array(112).fill(rows);
    const uneven = (rows: number): Int32Array => {
      const loads = new Int32Array(112);
      for (let i = 0; i < 28; i++) loads[i] = 4 * rows;
      return loads;
    };
    const kernel = deviceProfiles['b200-trtllm-w4a8'].experts;
    const time = (loads: Int32Array): number => expertNs({ tokensPerSlot: loads }, sizes, b200, kernel);
    expect(time(uneven(1))).toBeLessThan(time(even(1)));
    const hot = even(128);
    hot[0] = 20_000;
    expect(time(hot)).toBeGreaterThan(time(even(128)));
  });
});

describe('the profile that speaks for a device', () => {
  test('a measured device has its own, an unmeasured one borrows with a wider bar', () => {
    expect(profileFor(h200, mxfp4).name).toBe('h200-marlin-w4a16');
    const borrowed = profileFor(unknown, mxfp4);
    expect(borrowed.provenance).toBe('derived');
    expect(borrowed.kernel).toBe('marlin-w4a16');
    expect(borrowed.leaveOutError).toBeGreaterThanOrEqual(0.5);
    const sibling = profileFor({ ...h200, name: 'H100 SXM' }, mxfp4);
    expect(sibling.leaveOutError).toBe(0.07);
    const eightBit = profileFor(
      { ...h200, name: 'H100 SXM' },
      { name: 'fp8', bits: 8, groupSize: 16_384, scaleBits: 32 },
    );
    expect(eightBit.leaveOutError).toBe(2 * (deviceProfiles['h800-deepgemm-fp8'].leaveOutError as number));
    expect(profileFor({ ...b200, name: 'GB300 NVL72' }, mxfp4).source).toContain('gb200-trtllm-w4a8');
    expect(profileFor({ ...h200, name: 'H100 SXM' }, mxfp4).source).toContain('h200-marlin-w4a16');
    expect(profileFor(unknown, bf16).kernel).toBe('grouped-bf16');
  });

  test('experts of a width or a cut that nobody measured double it too', () => {
    const profile = profileFor(b200, mxfp4);
    const barOf = (expertWidth: number, expertInnerSize: number, ways: number) =>
      expertErrorBar({ expertWidth, expertInnerSize }, profile, 112, 16, ways);
    const own = barOf(3584, 3072, 1) as number;
    expect(own).toBe(profile.leaveOutError);
    expect([barOf(3584, 3072, 8), barOf(2048, 3072, 1), barOf(3584, 4096, 1), barOf(3584, 4096, 2)]).toEqual([
      own,
      2 * own,
      2 * own,
      own,
    ]);
  });

  test('a prediction outside the range of its profile doubles its error bar', () => {
    const inside = expertComputeTime(k3, b200, new Int32Array(112).fill(20));
    const outside = expertComputeTime(k3, b200, new Int32Array(2).fill(20));
    expect(inside.provenance).toBe('fitted');
    expect(outside.relErrorBar).toBeCloseTo(2 * (inside.relErrorBar as number), 12);
  });

  test('every shipped profile is plain data with a source, and errors where it claims to be fitted', () => {
    for (const [name, profile] of Object.entries<DeviceProfile>(deviceProfiles)) {
      expect(profile.name).toBe(name);
      expect(JSON.parse(JSON.stringify(profile))).toEqual(profile);
      expect(profile.source.length).toBeGreaterThan(10);
      if (profile.provenance === 'fitted') expect(profile.leaveOutError).toBeGreaterThan(0);
    }
  });
});
