import {
  createStepModel,
  type QueueFleet,
  quantileOf,
  requestStream,
  type ServiceTimes,
  searchOf,
  serviceTimes,
  simulateQueue,
  tableOf,
} from '@epsim/planner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planOf, planScenario, sampleOf } from './support.js';

const service: ServiceTimes = {
  slots: 64,
  groups: 4,
  tokensPerStep: 1,
  decodeNs: (n) => 10e6 + n * 1e5,
  chunkNs: (tokens) => 5e6 + tokens * 1e4,
  nextChunkNs: (tokens) => 5e6 + tokens * 1e4,
  chunkTokens: 2048,
};
const split: QueueFleet = {
  ...{ decode: service, decodeInstances: 2, prefill: service, prefillInstances: 1 },
  transferNs: 3e6,
};
const together: QueueFleet = { ...split, prefill: null, prefillInstances: 0 };
const stream = (ratePerSec: number, more = {}) =>
  requestStream({
    ...{
      seed: 5,
      count: 2000,
      ratePerSec,
      inputTokens: 1000,
      outputTokens: 100,
      cacheHitRate: 0,
      spread: 0.5,
    },
    ...more,
  });
const fleets = fc.constantFrom(split, together);

test('every request gets its tokens: none is lost, none ends before it starts, and steps bound its speed', () => {
  fc.assert(
    fc.property(fleets, fc.integer({ min: 1, max: 40 }), (fleet, rate) => {
      const requests = stream(rate, { count: 500 });
      const { ttftNs, tpotNs, outputTokens, slotFraction } = simulateQueue(requests, fleet);
      expect(outputTokens).toBe(requests.outputTokens.reduce((a, b) => a + b, 0));
      for (let i = 0; i < 500; i++) {
        expect(ttftNs[i]).toBeGreaterThanOrEqual(
          service.nextChunkNs(requests.promptTokens[i] / service.groups),
        );
        if (requests.outputTokens[i] > 1)
          expect(tpotNs[i]).toBeGreaterThanOrEqual(service.decodeNs(1) * (1 - 1e-9));
      }
      expect(slotFraction).toBeLessThanOrEqual(1 + 1e-9);
    }),
    { numRuns: 12 },
  );
});

test('a request that comes alone sees its prompt, its transfer and its own steps', () => {
  const alone = stream(1e-3, { count: 1, spread: 0 });
  const apart = simulateQueue(alone, split);
  expect(apart.ttftNs[0]).toBeCloseTo(service.chunkNs(1000) + 3e6, 0);
  expect(apart.tpotNs[0]).toBeCloseTo(service.decodeNs(1), 0);
  const mixed = simulateQueue(alone, together);
  expect(mixed.ttftNs[0]).toBeCloseTo(service.nextChunkNs(1000), 0);
  expect(mixed.tpotNs[0]).toBeCloseTo(service.decodeNs(1), 0);
});

test('prompts of one server wait as long as the theory of queues says (Poisson arrivals, equal service)', () => {
  const one: ServiceTimes = {
    ...service,
    groups: 1,
    chunkTokens: 1000,
    chunkNs: () => 50e6,
    nextChunkNs: () => 50e6,
  };
  const fleet: QueueFleet = { ...split, prefill: one, transferNs: 0 };
  for (const load of [0.3, 0.6, 0.8]) {
    const requests = stream(load / 0.05, { count: 60_000, spread: 0, outputTokens: 1 });
    const { ttftNs } = simulateQueue(requests, fleet);
    const waited = ttftNs.reduce((a, b) => a + b, 0) / ttftNs.length - 50e6;
    const theory = (load / (2 * (1 - load))) * 50e6;
    expect(Math.abs(waited / theory - 1)).toBeLessThan(0.1);
  }
});

test('the requests in a fleet are its rate times their stay (Little)', () => {
  const requests = stream(20, { count: 4000 });
  const { ttftNs, tpotNs, endNs } = simulateQueue(requests, split);
  let stay = 0;
  for (let i = 0; i < 4000; i++) stay += ttftNs[i] + tpotNs[i] * (requests.outputTokens[i] - 1);
  const present = stay / endNs;
  expect(present / ((20 * stay) / 4000 / 1e9)).toBeGreaterThan(0.9);
  expect(present).toBeLessThan(2 * service.slots);
});

test('a higher rate never shortens the wait, and more instances never lengthen it', () => {
  fc.assert(
    fc.property(fleets, fc.integer({ min: 2, max: 30 }), (fleet, rate) => {
      const p90 = (of: QueueFleet, at: number) => quantileOf(simulateQueue(stream(at), of).ttftNs, 0.9);
      const base = p90(fleet, rate);
      expect(p90(fleet, 2 * rate)).toBeGreaterThanOrEqual(base * 0.98);
      const larger = { ...fleet, decodeInstances: 4, prefillInstances: 2 * fleet.prefillInstances };
      expect(p90(larger, rate)).toBeLessThanOrEqual(base * 1.02);
    }),
    { numRuns: 8 },
  );
});

test('the same seed gives the same requests at every rate, only closer together', () => {
  const [slow, fast] = [stream(1), stream(10)];
  expect(fast.promptTokens).toEqual(slow.promptTokens);
  expect(fast.arrivalNs[1999] * 10).toBeCloseTo(slow.arrivalNs[1999], -3);
  const mean = (list: Int32Array) => list.reduce((a, b) => a + b, 0) / list.length;
  expect(mean(slow.promptTokens)).toBeGreaterThan(950);
  expect(mean(slow.promptTokens)).toBeLessThan(1050);
});

test('a table is exact at its sizes and grows with them', () => {
  const table = tableOf([1, 2, 8], [10, 12, 30]);
  expect([0.5, 1, 2, 5, 8, 16].map(table)).toEqual([10, 10, 12, 21, 30, 60]);
  expect(() => tableOf([1], [])).toThrow(/1 sizes and 0 values/);
});

test('an objective on the 99th percentile needs at least the fleet that the mean needs, and says what it holds', () => {
  const set = ['plan.requests.ratePerSec=30', 'plan.requests.spread=1', 'plan.objectives.ttft=2.5 s'];
  const mean = planOf(planScenario(...set));
  const held = planOf(planScenario(...set, 'plan.objectives.quantile=0.99'));
  expect(held.feasible).toBe(true);
  expect(held.layouts[0].fleet!.ranks).toBeGreaterThanOrEqual(mean.layouts[0].fleet!.ranks);
  const { underLoad } = held.best!;
  expect(underLoad.holds).toBe(true);
  expect(underLoad.ttftNs.asked).toBe(underLoad.ttftNs.p99);
  expect(underLoad.ttftNs.p99).toBeLessThanOrEqual(2.5e9);
  expect(mean.best!.underLoad.ttftNs.asked).toBe(mean.best!.underLoad.ttftNs.p50);
  expect(planOf(planScenario('plan.requests.spread=1')).best!.underLoad.holds).toBe(null);
});

test('no simulated quantile of the time to the first token is below that of a prompt alone', () => {
  const lengths = fc.record({
    inputTokens: fc.integer({ min: 500, max: 60_000 }),
    spread: fc.constantFrom(0, 0.5, 1.5),
    quantile: fc.constantFrom(0.5, 0.9, 0.99),
    load: fc.constantFrom(0.1, 0.7, 1.2),
    chunkTokens: fc.constantFrom(4096, 16_384),
    layout: fc.constantFrom(
      { ...{ attentionTensor: 2, attentionData: 8, expertRanks: 16 }, pipeline: 1 },
      { ...{ attentionTensor: 1, attentionData: 8, expertRanks: 8 }, pipeline: 2 },
    ),
  });
  fc.assert(
    fc.property(lengths, ({ inputTokens, spread, quantile, load, chunkTokens, layout }) => {
      const scenario = planScenario(
        `plan.requests={ inputTokens: ${inputTokens}, outputTokens: 50, spread: ${spread} }`,
        `plan.objectives.quantile=${quantile}`,
      );
      const { pools } = searchOf(scenario, createStepModel(scenario, sampleOf(scenario), 0));
      const degrees = { ...layout, expertTensor: 1, redundantExperts: 0 };
      const overlap = 'shared-experts';
      const pool = pools.prefill(degrees, chunkTokens, overlap, 'bound');
      const times = serviceTimes(pools, degrees, overlap, 64, chunkTokens, 'bound');
      const ratePerSec = load * pool.requestsPerSec;
      const requests = requestStream({
        ...scenario.plan!.requests,
        seed: scenario.seed,
        count: 3000,
        ratePerSec,
      });
      const seen = (prefill: ServiceTimes | null) => {
        const fleet = { decode: times, decodeInstances: 1, prefill, prefillInstances: 1, transferNs: 0 };
        return quantileOf(simulateQueue(requests, fleet).ttftNs.subarray(750), quantile);
      };
      expect(seen(times)).toBeGreaterThanOrEqual(pool.latencyNs * (1 - 1e-9));
      expect(seen(null)).toBeGreaterThanOrEqual(pool.latencyNs * (1 - 1e-9));
    }),
    { numRuns: 25 },
  );
});

test('a layout is feasible where its simulated quantile holds, and a refusal says what it is held against', () => {
  const set = ['plan.requests.ratePerSec=30', 'plan.requests.spread=1', 'plan.objectives.quantile=0.9'];
  for (const ttft of [0.6, 1.2]) {
    const plan = planOf(planScenario(...set, `plan.objectives.ttft=${ttft} s`, 'plan.objectives.tpot=40 ms'));
    const tried = plan.layouts.filter(({ simulated }) => simulated !== null);
    expect(tried.length).toBeGreaterThan(0);
    for (const { feasible, ttftNs, simulated, why } of tried) {
      const { ttftNs: first, tpotNs: next } = simulated!;
      expect(ttftNs).toBe(first.p90);
      expect(feasible).toBe(first.p90 <= ttft * 1e9 && next.p90 <= 40e6);
      if (!feasible) expect(why).toMatch(/T[TP][FO]T p90 .* > .*, simulated at 30 requests\/s/);
    }
    for (const { feasible, simulated, why, ttftNs } of plan.layouts) {
      if (simulated !== null) continue;
      if (feasible) expect(ttftNs).toBeLessThanOrEqual(ttft * 1e9);
      else if (why!.includes('TTFT'))
        expect(why).toContain(`> ${ttft === 0.6 ? '600 ms' : '1.2 s'} for a prompt alone`);
    }
  }
});

test('slots in use are what enters times how long it stays, whatever the fleet did while it filled and emptied', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 24 }), fc.constantFrom(1500, 6000), (rate, count) => {
      const requests = stream(rate, { count, outputTokens: 400 });
      const { tpotNs, slotFraction } = simulateQueue(requests, split);
      let stay = 0;
      for (let i = count / 4; i < count; i++) stay += tpotNs[i] * (requests.outputTokens[i] - 1);
      const present = (rate * stay) / (0.75 * count) / 1e9;
      expect(Math.abs(slotFraction / (present / (2 * service.slots)) - 1)).toBeLessThan(0.1);
    }),
    { numRuns: 8 },
  );
});
