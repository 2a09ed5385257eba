import { orthogonalizeFlops, paramCount } from '@epsim/model';
import {
  backwardRatio,
  elementsOnRank,
  headMuonFlops,
  iterationFlops,
  type Layout,
  muonFlops,
  planTraining,
  stageSums,
  trainingText,
} from '@epsim/planner';
import { modelPresets } from '@epsim/spec';
import { expect, test } from 'vitest';
import { planScenario } from './support.js';

const scenario = (...set: readonly string[]) =>
  planScenario(
    ...['phase=train', 'model=qwen3-30b-a3b', 'cluster={ preset: h100-8, ranks: 64 }'],
    ...[
      'workload={ skew: { kind: log-normal } }',
      'plan={ training: { globalBatchTokens: 4194304 } }',
      ...set,
    ],
  );

test('orthogonalising one 12288 x 7168 projection takes 3.26 TFLOP an iteration, its 96 head blocks 45.5 GFLOP', () => {
  expect(iterationFlops({ count: 1, rows: 12_288, columns: 7168 }) / 1e12).toBeCloseTo(3.26, 2);
  expect(iterationFlops({ count: 96, rows: 128, columns: 7168 }) / 1e9).toBeCloseTo(45.5, 1);
  for (const model of Object.values(modelPresets)) {
    expect(muonFlops(model, true)).toBeLessThanOrEqual(muonFlops(model, false));
  }
});

test("head blocks are those of Kimi K3's 69 KDA layers and of its 24 MLA layers", () => {
  // Rows of all heads, columns and rows of a block: query, key, value and gate, the decay's second factor;
  // the query's second factor, keys and values from the latent, the gate.
  const kda = [...Array(4).fill([12_288, 7168, 128]), [12_288, 128, 128]];
  const mla = [
    [96 * 192, 1536, 192],
    [96 * 256, 512, 256],
    [12_288, 7168, 128],
  ];
  const expected = (perHead: boolean) => {
    const layer = (projections: readonly (readonly number[])[]) =>
      projections.reduce(
        (sum, [rows, columns, block]) => sum + orthogonalizeFlops(rows, columns, perHead ? block : rows),
        0,
      );
    return 69 * layer(kda) + 24 * layer(mla);
  };
  const model = modelPresets['kimi-k3'];
  for (const perHead of [true, false]) {
    expect(headMuonFlops(model, perHead) / expected(perHead)).toBeCloseTo(1, 12);
    expect(headMuonFlops(model, perHead)).toBeLessThan(muonFlops(model, perHead));
  }
  // What is not cut by heads costs the same either way.
  const saved = muonFlops(model, false) - muonFlops(model, true);
  expect(saved / (expected(false) - expected(true))).toBeCloseTo(1, 9);
});

test('elements of all ranks, copies counted once, are the parameters of the model', () => {
  const model = modelPresets['kimi-k3'];
  const layout: Layout = {
    attentionTensor: 1,
    attentionData: 32,
    expertRanks: 32,
    expertTensor: 1,
    pipeline: 8,
    redundantExperts: 0,
  };
  let sum = 0;
  for (const sums of stageSums({ ...model, vision: null }, 8, 0)) {
    const { experts, rest } = elementsOnRank(layout, sums);
    sum += 32 * experts + rest;
  }
  expect(Math.abs(sum / paramCount(model) - 1)).toBeLessThan(1e-12);
});

test('a step is its phases, and its bubble shrinks as micro-batches grow', () => {
  const small = planTraining(scenario());
  const large = planTraining(scenario('plan.training.globalBatchTokens=16777216'));
  expect(small.feasible && large.feasible).toBe(true);
  const fit = small.layouts.filter(({ feasible }) => feasible);
  for (const { phases, stepNs, bubbleFraction, degrees, microBatches } of fit) {
    const { forward, backward, bubble, gradients, optimizer } = phases!;
    expect(stepNs).toBeCloseTo(forward + backward + bubble + gradients + optimizer, 3);
    const stages = degrees.pipeline;
    expect(bubbleFraction).toBeCloseTo((stages - 1) / (microBatches! + stages - 1), 9);
    const same = large.layouts.find((other) => JSON.stringify(other.degrees) === JSON.stringify(degrees));
    expect(same!.bubbleFraction).toBeLessThanOrEqual(bubbleFraction!);
  }
  const rates = fit.map(({ tokensPerSecPerRank }) => tokensPerSecPerRank!);
  expect(rates).toEqual([...rates].sort((a, b) => b - a));
  expect(trainingText(small)).toMatch(/Best: TP[\s\S]*% of the BF16 peak[\s\S]*Assumed/);
});

test('storing the forward pass costs memory and saves the time of computing it again', () => {
  const again = planTraining(scenario()).layouts;
  const stored = planTraining(scenario('plan.training.recompute=false')).layouts;
  for (const one of stored) {
    const other = again.find(({ degrees }) => JSON.stringify(degrees) === JSON.stringify(one.degrees))!;
    expect(one.memoryBytesPerRank).toBeGreaterThan(other.memoryBytesPerRank);
    if (one.feasible && other.feasible) expect(one.stepNs!).toBeLessThan(other.stepNs!);
  }
});

test('a backward pass is twice a forward pass without exchanges, and hides its rows where halves overlap', () => {
  const parts = { attention: 4, dense: 2, shared: 1, experts: 3, head: 0, tensorGroups: 0, handover: 0 };
  expect(backwardRatio({ ...parts, dispatch: 0, combine: 0 }, 'shared-experts')).toBe(2);
  expect(backwardRatio({ ...parts, dispatch: 5, combine: 5 }, 'shared-experts')).toBe(1.5);
  expect(backwardRatio({ ...parts, dispatch: 10, combine: 10 }, 'two-micro-batches')).toBe(1);
});

test('Kimi K3 does not train on 64 ranks, and the plan says what does not fit', () => {
  const plan = planTraining(
    planScenario('phase=train', 'cluster={ preset: gb200-nvl72, ranks: 64 }', 'plan={}'),
  );
  expect(plan.feasible).toBe(false);
  expect(plan.layouts[0].why).toMatch(/does not fit: \d+ GiB of 156/);
  expect(trainingText(plan)).toContain('No layout can train.');
});

test('a training plan overlaps phases as the scenario says', () => {
  const used = (...set: readonly string[]) =>
    new Set(planTraining(scenario(...set)).layouts.flatMap(({ overlap }) => overlap ?? []));
  expect([...used('time.overlap=none')]).toEqual(['none']);
  expect(used().has('none')).toBe(false);
});
