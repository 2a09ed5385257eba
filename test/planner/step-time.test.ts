import { createExchange, exchanges, kernelCosts, overlaps } from '@epsim/engine';
import { buildTopology, networkModels, topologyKinds } from '@epsim/network';
import {
  createStepModel,
  exchangeLine,
  exchangeNs,
  groupBytes,
  type Layout,
  layerKinds,
  layersInARow,
  type OverlapName,
  placeExperts,
  shrunkPopularity,
  stageCluster,
} from '@epsim/planner';
import { type DispatchPlan, modelPresets, randomSource } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planScenario, sampleOf } from './support.js';

const scenario = planScenario();
const sample = sampleOf(scenario);
const model = createStepModel(scenario, sample, 0);
const work = {
  phase: 'decode' as const,
  sequences: 32,
  newTokens: 1,
  contextTokens: 5000,
  cacheBytes: 2,
  logitRows: 32,
};

function layoutOf(tensor: number, data: number, cut: number, pipeline = 1): Layout {
  return {
    attentionTensor: tensor,
    attentionData: data,
    expertRanks: (tensor * data) / cut,
    expertTensor: cut,
    pipeline,
    redundantExperts: 0,
  };
}

const layouts = fc.constantFrom(
  layoutOf(1, 8, 1),
  layoutOf(2, 4, 1),
  layoutOf(8, 1, 8),
  layoutOf(4, 2, 2),
  layoutOf(1, 16, 1),
  layoutOf(2, 8, 1, 2),
);
const names = Object.keys(overlaps) as OverlapName[];

test('the finer model is never faster than the bound that it refines (law 5)', () => {
  fc.assert(
    fc.property(
      layouts,
      fc.constantFrom(...names),
      fc.integer({ min: 1, max: 9 }),
      (layout, overlap, size) => {
        const batch = { ...work, sequences: 2 ** size, logitRows: 2 ** size };
        const bound = model.bound(layout, batch, overlap);
        const fine = model.refined(layout, batch, overlap);
        expect(fine.totalNs).toBeGreaterThanOrEqual(bound.totalNs);
        expect(fine.stageNs).toBeGreaterThanOrEqual(bound.stageNs);
        expect(fine.totalNs).toBeLessThan(1.6 * bound.totalNs);
      },
    ),
    { numRuns: 30 },
  );
});

test('a larger batch or a longer context never makes a step shorter', () => {
  fc.assert(
    fc.property(layouts, fc.constantFrom(...names), (layout, overlap) => {
      const at = (sequences: number, contextTokens: number) =>
        model.bound(layout, { ...work, sequences, contextTokens }, overlap).totalNs;
      // A batch beyond the sample is drawn anew, so sizes within the sample are compared.
      for (const [few, many] of [
        [1, 4],
        [4, 16],
        [16, 64],
      ]) {
        expect(at(many, 5000)).toBeGreaterThanOrEqual(at(few, 5000));
        expect(at(few, 9000)).toBeGreaterThan(at(few, 5000));
      }
    }),
    { numRuns: 18 },
  );
});

test('stages share the layers: the whole way takes as long with two stages as with one, and a hop', () => {
  const one = model.bound(layoutOf(2, 4, 1), work, 'shared-experts');
  const two = model.bound(layoutOf(2, 4, 1, 2), work, 'shared-experts');
  expect(two.totalNs - two.parts.handover).toBeCloseTo(one.totalNs, 3);
  expect(two.stageNs).toBeLessThan(0.6 * one.totalNs);
});

test('exchanges of one network serve steps on other devices', () => {
  const { cluster } = scenario;
  const device = { ...cluster.device, memoryBytesPerSec: 1.1 * cluster.device.memoryBytesPerSec };
  const faster = { ...scenario, cluster: { ...cluster, device } };
  const alone = createStepModel(faster, sample, 0);
  const sharing = createStepModel(faster, sample, 0, model.stages);
  for (const fidelity of ['bound', 'refined'] as const) {
    const time = alone[fidelity](layoutOf(2, 8, 1, 2), work, 'shared-experts');
    expect(sharing[fidelity](layoutOf(2, 8, 1, 2), work, 'shared-experts')).toEqual(time);
    expect(model[fidelity](layoutOf(2, 8, 1, 2), work, 'shared-experts').totalNs).toBeGreaterThan(
      time.totalNs,
    );
  }
});

test('a line through two sizes is the network bound at every size', () => {
  const layout = layoutOf(1, 16, 1);
  const topology = buildTopology(stageCluster(scenario.cluster, 16));
  const { dispatchBytes } = placeExperts(scenario, sample, layout);
  const line = exchangeLine(networkModels.bound, topology, dispatchBytes);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), (tokens) => {
      const bytes = dispatchBytes.map((each) => tokens * each);
      const { sentNs, receivedNs } = networkModels.bound.transfer(topology, bytes);
      for (let rank = 0; rank < 16; rank++) {
        const exact = Math.max(sentNs[rank], receivedNs[rank]);
        expect(Math.abs(exchangeNs(line, rank, tokens) / exact - 1)).toBeLessThan(1e-3);
      }
    }),
    { numRuns: 40 },
  );
});

test.each(['decode', 'prefill'] as const)('a plan times an exchange of %s as a run does', (phase) => {
  const site = { ...scenario, phase, cluster: stageCluster(scenario.cluster, 16) };
  const choice = exchanges[scenario.time.exchange];
  const { dispatchBytes } = placeExperts(scenario, sample, layoutOf(1, 16, 1));
  const kernel = kernelCosts(site, 'dispatch', choice);
  if (kernel === null) throw new Error('these devices have a kernel');
  const line = exchangeLine(networkModels.bound, buildTopology(kernel.cluster), dispatchBytes, kernel);
  const run = createExchange(site, 'dispatch', choice, topologyKinds['nvlink-domain'], networkModels.bound);
  for (const tokens of [1, 64, 4096]) {
    const tokenOffsets = Int32Array.from({ length: 17 }, (_, rank) => rank * tokens);
    const plan = { routing: { tokenOffsets } } as unknown as DispatchPlan;
    const bytes = dispatchBytes.map((each) => tokens * each);
    const { sentNs, receivedNs } = run.transfer(bytes, plan);
    for (let rank = 0; rank < 16; rank++) {
      const exact = Math.max(sentNs[rank], receivedNs[rank]);
      expect(Math.abs(exchangeNs(line, rank, tokens) / exact - 1)).toBeLessThan(1e-3);
    }
  }
});

test('a token sends one row to each rank that has one of its experts, and every row comes back', () => {
  const layout = layoutOf(1, 8, 1);
  const { dispatchBytes, combineBytes } = placeExperts(scenario, sample, layout);
  const out = dispatchBytes.reduce((sum, bytes) => sum + bytes, 0);
  const back = combineBytes.reduce((sum, bytes) => sum + bytes, 0);
  const distinct = 7.07;
  // FP8 rows of 3584 with a scale each 128, seven of eight ranks away from home.
  expect(out / 8 / 3696 / (distinct * (7 / 8))).toBeGreaterThan(0.97);
  expect(out / 8 / 3696 / (distinct * (7 / 8))).toBeLessThan(1.03);
  expect(back / out).toBeCloseTo(7168 / 3696, 6);
});

test('where experts are cut, every rank of the group gets the row', () => {
  const whole = placeExperts(scenario, sample, layoutOf(1, 4, 1)).dispatchBytes;
  const cut = placeExperts(scenario, sample, layoutOf(1, 8, 2)).dispatchBytes;
  const between = (matrix: Float64Array, ranks: number, from: number, to: number) =>
    matrix[from * ranks + to];
  expect(between(cut, 8, 0, 2)).toBeCloseTo(between(whole, 4, 0, 1), 6);
  expect(between(cut, 8, 0, 3)).toBeCloseTo(between(whole, 4, 0, 1), 6);
  expect(between(cut, 8, 0, 1)).toBeGreaterThan(0);
});

test('a group of tensor-parallel ranks scatters all it has but its own part', () => {
  const bytes = groupBytes(8, 4, 1000);
  const sent = Array.from({ length: 8 }, (_, r) =>
    bytes.subarray(8 * r, 8 * r + 8).reduce((a, b) => a + b, 0),
  );
  expect(sent).toEqual(Array(8).fill(750));
  expect(bytes[3 * 8 + 4]).toBe(0);
});

test('popularity without counting noise is even where counts are, and keeps what is not noise', () => {
  const random = randomSource(3, 'counts');
  const even = Int32Array.from({ length: 896 }, () => Math.round(20 + Math.sqrt(20) * random.normal()));
  const mean = even.reduce((a, b) => a + b, 0) / 896;
  const spread = (shares: Float64Array) => Math.max(...shares) * 896;
  expect(spread(shrunkPopularity(even))).toBeLessThan(1.5);
  expect(spread(Float64Array.from(even, (n) => n / mean / 896))).toBeGreaterThan(1.5);
  const hot = even.map((n, e) => (e < 10 ? 20 * n : n));
  expect(shrunkPopularity(hot).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
  expect(shrunkPopularity(hot)[0] / shrunkPopularity(hot)[20]).toBeGreaterThan(10);
});

test('a batch has its choices, whether it is smaller than the sample or larger', () => {
  for (const tokens of [1, 7, 64, 500, 5000, 50_000]) {
    for (const { counts } of sample.counts(tokens)) {
      const sum = counts.reduce((a, b) => a + b, 0);
      expect(Math.abs(sum / (16 * tokens) - 1)).toBeLessThan(tokens <= sample.tokens ? 1e-12 : 0.01);
    }
  }
});

test('kinds of layers count every layer once, and prediction layers on the last stage', () => {
  for (const shape of Object.values(modelPresets)) {
    for (const pipeline of [1, 2, 4]) {
      const stages = layerKinds(shape, pipeline, 1);
      const count = stages.flat().reduce((sum, kind) => sum + kind.count, 0);
      expect(count).toBe(shape.layers.length + 1);
    }
  }
  expect(layerKinds(modelPresets['kimi-k3'], 1, 0)[0].map(({ count }) => count)).toEqual([1, 68, 24]);
});

test('layers in a row run every operation of each layer once, in an order that each layer allows', () => {
  for (const { program, microBatches } of Object.values(overlaps)) {
    const row = layersInARow(program, microBatches, 3);
    expect(row).toHaveLength(3 * program.length);
    const place = new Map(row.map((op, i) => [`${op.name} ${op.batch}`, i]));
    expect(place.size).toBe(row.length);
    for (let batch = 0; batch < 3 * microBatches; batch++) {
      const order = (['pre', 'dispatch', 'experts', 'combine', 'post'] as const).map(
        (n) => place.get(`${n} ${batch}`)!,
      );
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
  }
});
