import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalog } from '@epsim/engine';
import { createMemoryModel, type Layout, type MemoryTerms } from '@epsim/planner';
import { type ModelShape, modelPresets, parseScenario } from '@epsim/spec';
import { expect, test } from 'vitest';
import { root } from '../support/epsim.js';
import { planOf } from './support.js';

const terms: MemoryTerms = {
  cacheFormat: 'fp8',
  windows: 'kept',
  mtpLayers: 0,
  reserveBytes: 2e9,
  dispatchKind: 'per-rank',
  dispatchRowBytes: 3696,
  combineRowBytes: 7168,
};
const idle = { sequences: 0, contextTokens: 0, tokensPerStep: 0, logitRows: 0 };
const ep = (ranks: number): Layout => ({
  ...{ attentionTensor: 1, attentionData: ranks, expertRanks: ranks, expertTensor: 1 },
  ...{ pipeline: 1, redundantExperts: 0 },
});
const routed = (model: ModelShape, ranks: number) =>
  (createMemoryModel(model, terms).rank(ep(ranks), idle, 0, 0).weights['routed-expert'] ?? 0) / 1e9;

test.each([
  ['kimi-k3', 16, 90.4],
  ['kimi-k3', 32, 45.2],
  ['kimi-k3', 56, 25.8],
  ['kimi-k3', 112, 12.9],
  ['kimi-k3', 128, 11.3],
] as const)('routed experts of %s on %i ranks take %d GB each', (name, ranks, wanted) => {
  expect(routed(modelPresets[name], ranks)).toBeCloseTo(wanted, 1);
});

test.each([
  [8, 71.35],
  [16, 35.67],
  [32, 17.84],
] as const)(
  'on %i ranks, routed experts of Kimi K2.5 in INT4 with their scales take %d GB each',
  (ranks, wanted) => {
    expect(routed(modelPresets['kimi-k2.5'], ranks)).toBeCloseTo(wanted, 2);
  },
);

test('128 sequences of 9,000 tokens on TP4 leave 15.9 GB of latents and 13.9 GB of states on a rank', () => {
  const layout = { ...ep(28), attentionTensor: 4, attentionData: 7 };
  const use = { sequences: 128, contextTokens: 9000, tokensPerStep: 128, logitRows: 128 };
  const rank = createMemoryModel(modelPresets['kimi-k3'], terms).rank(layout, use, 0, 0);
  expect(rank.cache).toBe(128 * 9000 * 13_824);
  expect(rank.recurrent).toBe((128 * 69 * 96 * 128 * 128 * 4) / 4);
  expect(rank.weights['routed-expert']).toBe(32 * 92 * 17_547_264);
});

const scenario = (name: string, ...set: readonly string[]) => {
  const file = join(root, 'scenarios', name);
  return parseScenario(readFileSync(file, 'utf8'), { file, catalog, set });
};

test('a million tokens of context are planned with little tensor parallelism, because it does not cut latents', () => {
  const plan = planOf(scenario('k3-1m-context.yaml'));
  expect(plan.feasible).toBe(true);
  expect(plan.layouts[0].degrees.attentionTensor).toBeLessThanOrEqual(2);
  const wide = planOf(scenario('k3-1m-context.yaml', 'plan.engine.cacheFormat=bf16'));
  expect(wide.layouts[0].tokensPerSecPerRank!).toBeLessThan(plan.layouts[0].tokensPerSecPerRank!);
});

test('a GB200 gives more than an H200, and neither plan exceeds its memory', () => {
  const rate = (...set: readonly string[]) => {
    const asked = scenario('k3-h200-vs-gb200.yaml', ...set);
    const { layouts, best } = planOf(asked);
    expect(best!.memory.total).toBeLessThanOrEqual(0.9 * asked.cluster.device.memoryBytes);
    return layouts[0].tokensPerSecPerRank!;
  };
  expect(rate('cluster={ preset: gb200-nvl72, ranks: 32 }')).toBeGreaterThan(2 * rate('cluster.ranks=32'));
});
