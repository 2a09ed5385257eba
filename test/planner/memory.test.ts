import { checkpointBytes, type ParameterTensor, parameterList, parameterTotals } from '@epsim/model';
import {
  cacheTokens,
  copiesOf,
  createMemoryModel,
  type Layout,
  layoutFaults,
  layoutName,
  layoutNotes,
  leastRanksByWeights,
  type MemoryTerms,
  slotsOfLayout,
  stageRanks,
  stageSums,
} from '@epsim/planner';
import { bytesPerElement, clusterPresets, type ModelShape, modelPresets, precisions } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const GB = 1e9;
const plain: Layout = {
  attentionTensor: 1,
  attentionData: 1,
  expertRanks: 1,
  expertTensor: 1,
  pipeline: 1,
  redundantExperts: 0,
};
const ep = (ranks: number): Layout => ({ ...plain, attentionData: ranks, expertRanks: ranks });
const tp = (ranks: number): Layout => ({ ...plain, attentionTensor: ranks, expertTensor: ranks });
const terms: MemoryTerms = {
  cacheFormat: 'bf16',
  windows: 'kept',
  mtpLayers: 0,
  reserveBytes: 0,
  dispatchKind: 'per-rank',
  dispatchRowBytes: 3696,
  combineRowBytes: 7168,
};
const idle = { sequences: 0, contextTokens: 0, tokensPerStep: 0, logitRows: 0 };
const models: readonly ModelShape[] = Object.values(modelPresets);
const k3 = modelPresets['kimi-k3'];

function anyLayout(): fc.Arbitrary<Layout> {
  const power = (most: number) => fc.integer({ min: 0, max: most }).map((n) => 2 ** n);
  return fc
    .record({
      attentionTensor: power(3),
      attentionData: power(4),
      cut: power(3),
      pipeline: power(3),
      redundantExperts: fc.integer({ min: 0, max: 200 }),
    })
    .map(({ attentionTensor, attentionData, cut, pipeline, redundantExperts }) => {
      const ranks = attentionTensor * attentionData;
      const expertTensor = Math.min(cut, ranks);
      return {
        attentionTensor,
        attentionData,
        expertRanks: ranks / expertTensor,
        expertTensor,
        pipeline,
        redundantExperts,
      };
    });
}

test('weights of all ranks, copies counted once, are the parameter list of the model (law 10)', () => {
  fc.assert(
    fc.property(fc.constantFrom(...models), anyLayout(), (model, layout) => {
      if (layout.pipeline > model.layers.length) return;
      const loaded = parameterList(model).filter((tensor) => tensor.part !== 'mtp');
      const byClass = (sum: (tensor: ParameterTensor) => number) => {
        const totals = new Map<string, number>();
        for (const tensor of loaded) {
          totals.set(tensor.tensorClass, (totals.get(tensor.tensorClass) ?? 0) + sum(tensor));
        }
        return totals;
      };
      const wanted = byClass((tensor) => tensor.bytes);
      // Experts only ever stand on their own ranks; of the rest, every rank holds bytes / ranks x copies.
      const memory = createMemoryModel(model, { ...terms, mtpLayers: 0 });
      const seen = new Map<string, number>();
      for (const [stage, sums] of stageSums(model, layout.pipeline, 0).entries()) {
        let experts = 0;
        let rest = 0;
        for (let group = 0; group < layout.expertRanks; group++) {
          const rank = memory.rank(layout, idle, stage, group);
          experts += layout.expertTensor * (rank.weights['routed-expert'] ?? 0);
          rest +=
            layout.expertTensor * (rank.total - (rank.weights['routed-expert'] ?? 0) - rank.redundantExperts);
        }
        let once = 0;
        let held = 0;
        for (const sum of sums) {
          if (sum.split === 'experts') continue;
          once += sum.bytes;
          held += sum.bytes * copiesOf(sum, layout);
          seen.set(sum.tensorClass, (seen.get(sum.tensorClass) ?? 0) + sum.bytes);
        }
        expect(rest).toBeGreaterThanOrEqual(once * (1 - 1e-12));
        expect(Math.abs(rest / held - 1)).toBeLessThan(1e-9);
        const padding = paddingOf(model, layout);
        seen.set('routed-expert', (seen.get('routed-expert') ?? 0) + experts / padding);
      }
      for (const [tensorClass, bytes] of wanted) {
        expect(Math.abs((seen.get(tensorClass) ?? 0) / bytes - 1)).toBeLessThan(1e-9);
      }
    }),
    { numRuns: 60 },
  );
});

function paddingOf(model: ModelShape, layout: Layout): number {
  const { groupSize } = model.precision.routedExperts;
  const block = groupSize > 1024 ? Math.sqrt(groupSize) : Math.max(1, groupSize);
  const size = model.moe.expertInnerSize / layout.expertTensor;
  return (Math.ceil(size / block) * block) / size;
}

test('one rank holds the checkpoint, class by class, to the byte', () => {
  for (const model of models) {
    const { weights, total } = createMemoryModel(model, { ...terms, mtpLayers: model.mtpLayerCount }).rank(
      plain,
      idle,
      0,
      0,
    );
    for (const { tensorClass, bytes } of parameterTotals(model)) {
      expect(`${model.name} ${tensorClass} ${weights[tensorClass]}`).toBe(
        `${model.name} ${tensorClass} ${bytes}`,
      );
    }
    expect(total).toBe(checkpointBytes(model));
  }
});

test('Kimi K3 in MXFP4 is 1.56 TB, and its experts are 22.6 GB on each of 64 ranks and 180.8 GB on each of 8', () => {
  const memory = createMemoryModel(k3, terms);
  const experts = (ranks: number) => memory.rank(ep(ranks), idle, 0, 0).weights['routed-expert'] ?? 0;
  expect(memory.rank(plain, idle, 0, 0).total / 1e12).toBeCloseTo(1.56, 2);
  expect(experts(64) / GB).toBeCloseTo(22.6, 1);
  expect(experts(8) / GB).toBeCloseTo(180.8, 1);
});

test('a sequence of Kimi K3 takes 434 MB and 15 MB of state and 27,648 B a token, cut by heads only in its KDA layers', () => {
  const memory = createMemoryModel(k3, terms);
  const one = { ...idle, sequences: 1, contextTokens: 1_048_576 };
  const whole = memory.rank(plain, one, 0, 0);
  expect(whole.cache).toBe(27_648 * 1_048_576);
  expect([whole.recurrent, whole.conv].map((b) => Math.round(b / 1e6))).toEqual([434, 15]);
  const eighth = memory.rank({ ...plain, attentionTensor: 8, expertTensor: 8 }, one, 0, 0);
  expect(eighth.cache).toBe(whole.cache);
  expect(eighth.recurrent * 8).toBe(whole.recurrent);
});

test('a redundant slot on each rank costs one expert of every layer, and nothing else', () => {
  const memory = createMemoryModel(k3, terms);
  const before = memory.rank(ep(64), idle, 0, 0);
  const after = memory.rank({ ...ep(64), redundantExperts: 64 }, idle, 0, 0);
  expect(after.redundantExperts).toBe(92 * 17_547_264);
  expect(after.total - before.total).toBe(92 * 17_547_264);
});

test('stages of a pipeline hold the checkpoint between them, lookups first and head last', () => {
  const memory = createMemoryModel(k3, terms);
  const layout = { ...plain, pipeline: 8 };
  const stages = Array.from({ length: 8 }, (_, stage) => memory.rank(layout, idle, stage, 0));
  expect(stages.reduce((sum, { total }) => sum + total, 0)).toBe(checkpointBytes(k3));
  expect(stages.map(({ weights }) => (weights.embedding ?? 0) > 0)).toEqual([true, ...Array(7).fill(false)]);
  expect(stages.map(({ weights }) => (weights.head ?? 0) > 0)).toEqual([...Array(7).fill(false), true]);
});

test('the fullest rank is the fullest of all ranks', () => {
  fc.assert(
    fc.property(anyLayout(), fc.integer({ min: 0, max: 64 }), (layout, sequences) => {
      const memory = createMemoryModel(k3, terms);
      const use = { sequences, contextTokens: 5000, tokensPerStep: 64, logitRows: sequences };
      let most = 0;
      for (let stage = 0; stage < layout.pipeline; stage++) {
        for (let group = 0; group < layout.expertRanks; group++) {
          most = Math.max(most, memory.rank(layout, use, stage, group).total);
        }
      }
      expect(memory.fullest(layout, use).total).toBe(most);
    }),
    { numRuns: 40 },
  );
});

test('latent attention is not sharded by tensor parallelism: eight ranks with 40 GB hold 569,216 tokens, not 4,553,728', () => {
  const model = modelPresets['deepseek-v3'];
  expect(cacheTokens(model, tp(8), 40 * GB, terms)).toBe(569_216);
  expect(cacheTokens(model, ep(8), 40 * GB, terms)).toBe(4_553_728);
  const withMtp = cacheTokens(model, tp(8), 40 * GB, { ...terms, mtpLayers: 1 });
  expect(withMtp).toBe(Math.floor((40 * GB) / 71_424));
});

test('a window layer of gpt-oss holds its window, or every token where the engine unifies pages, and the sum says which', () => {
  const model = modelPresets['gpt-oss-120b'];
  const one = { ...idle, sequences: 1, contextTokens: 131_072 };
  const cache = (windows: MemoryTerms['windows'], use: typeof one) =>
    createMemoryModel(model, { ...terms, windows }).rank(plain, use, 0, 0).cache;
  expect(cache('kept', { ...one, contextTokens: 1 })).toBe(73_728);
  expect(cache('kept', one)).toBe(4_836_556_800);
  expect(cache('unified', one)).toBe(9_663_676_416);
  const small = modelPresets['gpt-oss-20b'];
  const many = { ...idle, sequences: 32, contextTokens: 8192 };
  const gib = (windows: MemoryTerms['windows']) =>
    createMemoryModel(small, { ...terms, windows }).rank(plain, many, 0, 0).cache / 2 ** 30;
  expect(gib('kept')).toBeCloseTo(6.09, 2);
  expect(gib('unified')).toBeCloseTo(12, 2);
});

test('700 GB of weights need 9 ranks of 80 GB, 10 at nine tenths, and two whole nodes; never 8, whatever GB is read as', () => {
  expect(leastRanksByWeights(700 * GB, 80 * GB, 8)).toEqual({ ranks: 9, ranksInWholeDomains: 16 });
  expect(leastRanksByWeights(700 * GB, 0.9 * 80 * GB, 8).ranks).toBe(10);
  expect(leastRanksByWeights(700 * GB, 80 * 2 ** 30, 8).ranks).toBe(9);
  expect(leastRanksByWeights(700 * GB, 81_559 * 2 ** 20, 8).ranks).toBe(9);
  expect(
    leastRanksByWeights(680 * GB, 0.9 * clusterPresets['h100-8'].cluster.device.memoryBytes, 8).ranks,
  ).toBe(10);
  expect(256 % leastRanksByWeights(700 * GB, 80 * GB, 8).ranksInWholeDomains).toBe(0);
});

test('experts that do not divide are spread one by one, and the note names the least redundancy and sizes that divide', () => {
  const model = { ...k3, moe: { ...k3.moe, expertCount: 30 } };
  expect([...slotsOfLayout(30, ep(8))]).toEqual([4, 4, 4, 4, 4, 4, 3, 3]);
  expect([...slotsOfLayout(256, ep(3))]).toEqual([86, 85, 85]);
  expect(layoutNotes(model, ep(8)).join()).toMatch(/need 2 redundant experts, or one of EP 5, 6, 10, 15/);
  expect(layoutNotes(k3, ep(72)).join()).toMatch(/need 40 redundant experts/);
  expect(layoutNotes(k3, ep(64))).toEqual([]);
});

const blocks = (model: ModelShape, routedExperts = precisions.fp8): ModelShape => ({
  ...model,
  precision: { routedExperts, rest: routedExperts },
});

test('experts cut across 128 x 128 blocks of scales cannot be loaded: 1536 / 8 = 192, where 8 expert ranks can', () => {
  for (const name of ['qwen3-235b-a22b', 'minimax-m2.5'] as const) {
    const model = blocks(modelPresets[name]);
    const legal = (layout: Layout) => layoutFaults(model, layout).filter((fault) => /inner size/.test(fault));
    for (const ways of [1, 2, 4]) expect(legal(tp(ways))).toEqual([]);
    expect(legal(tp(8)).join()).toMatch(/1536 \/ 8 = 192 is not whole blocks of 128 x 128; 1, 2, 4 ways are/);
    expect(legal(ep(8))).toEqual([]);
  }
});

test('DeepSeek-R1 can be cut 16 ways and not 32: 18432 / 32 = 576 and 2048 / 32 = 64', () => {
  const model = modelPresets['deepseek-v3'];
  expect(layoutFaults(model, tp(16))).toEqual([]);
  expect(layoutFaults(model, tp(32)).join()).toMatch(/2048 \/ 32 = 64.*18432 \/ 32 = 576/s);
});

test('gpt-oss is padded from 720 to 736 four ways and from 360 to 384 eight ways, and pays for it in bytes', () => {
  const model = modelPresets['gpt-oss-120b'];
  const memory = createMemoryModel(model, terms);
  const experts = (ways: number) => ways * (memory.rank(tp(ways), idle, 0, 0).weights['routed-expert'] ?? 0);
  expect(layoutNotes(model, tp(2))).toEqual([]);
  expect(layoutNotes(model, tp(4)).join()).toMatch(/cut to 720 columns and padded to 736.*\+2\.2 %/);
  expect(layoutNotes(model, tp(8)).join()).toMatch(/cut to 360 columns and padded to 384.*\+6\.7 %/);
  expect(experts(4) / experts(1)).toBeCloseTo(736 / 720, 10);
  expect(experts(8) / experts(1)).toBeCloseTo(384 / 360, 10);
});

test('a 4-bit format is never 4 bits flat', () => {
  const memory = createMemoryModel(k3, terms);
  const bytes = memory.rank(ep(8), idle, 0, 0).weights['routed-expert'] ?? 0;
  const elements = (92 * 896 * 33_030_144) / 8;
  expect(bytes / elements).toBe(bytesPerElement(precisions.mxfp4));
});

test('a layout says its degrees, and one whose degrees disagree cannot be loaded', () => {
  expect(layoutName({ ...ep(64), redundantExperts: 32, pipeline: 2 })).toBe('TP1 DP64 EP64 PP2 +32');
  expect(stageRanks(tp(8))).toBe(8);
  expect(layoutFaults(k3, { ...ep(8), expertRanks: 4 }).join()).toMatch(/are not the 4 expert ranks/);
  expect(layoutFaults(k3, { ...ep(8), attentionTensor: 0 }).join()).toMatch(/attentionTensor is 0/);
  expect(layoutFaults(k3, { ...plain, attentionTensor: 5, expertTensor: 5 }).join()).toMatch(/96 heads/);
});
