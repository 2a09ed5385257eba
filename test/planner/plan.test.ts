import {
  type CapacityPlan,
  createStepModel,
  economicsOf,
  enumerateLayouts,
  layoutFaults,
  planText,
  searchOf,
} from '@epsim/planner';
import { expect, test } from 'vitest';
import { planOf, planScenario, sampleOf } from './support.js';

/** A small model on one node: plans of it take a moment. */
const small = (...set: readonly string[]) =>
  planScenario(
    'model=qwen3-30b-a3b',
    'cluster={ preset: h100-8, ranks: 8 }',
    'workload={ skew: { kind: log-normal } }',
    ...set,
  );
const best = (plan: CapacityPlan) => plan.layouts[0].tokensPerSecPerRank ?? 0;

test('Kimi K3 needs what its operators found: 16 B200, 8 B300, 16 H200, 32 H100, and no fewer', () => {
  const fits = (preset: string, ranks: number) => {
    const scenario = planScenario(
      `cluster={ preset: ${preset}, ranks: ${ranks} }`,
      'plan={ requests: { inputTokens: 2000, outputTokens: 500 }, engine: { chunkTokens: 2048 } }',
    );
    const sample = sampleOf(scenario);
    const { pools } = searchOf(scenario, createStepModel(scenario, sample, 0));
    const { layouts } = enumerateLayouts(scenario, ranks);
    return layouts.some(
      (layout) =>
        pools.memory.fullestBytes(layout, pools.use('mixed', layout, layout.pipeline)) <= pools.usableBytes,
    );
  };
  expect([fits('b200-8', 8), fits('b200-8', 16)]).toEqual([false, true]);
  expect([fits('b300-8', 4), fits('b300-8', 8)]).toEqual([false, true]);
  expect([fits('h200-8', 8), fits('h200-8', 16)]).toEqual([false, true]);
  expect([fits('h100-8', 16), fits('h100-8', 32)]).toEqual([false, true]);
});

test('a plan has its layouts best first, every infeasible one with its reason, and sources and assumptions in words', () => {
  const plan = planOf(planScenario('plan={ objectives: { tpot: 40 ms }, dollarsPerHour: 4 $/h }'));
  expect(plan.feasible).toBe(true);
  const feasible = plan.layouts.filter((layout) => layout.feasible);
  const refined = feasible.filter((layout) => layout.refined);
  expect(refined.length).toBeGreaterThan(0);
  expect(feasible.slice(0, refined.length)).toEqual(refined);
  const rates = refined.map((layout) => layout.tokensPerSecPerRank ?? 0);
  expect(rates).toEqual([...rates].sort((a, b) => b - a));
  for (const { feasible: fits, why, tpotNs, memoryBytesPerRank } of plan.layouts) {
    if (fits) expect(tpotNs).toBeLessThanOrEqual(40e6);
    if (fits) expect(memoryBytesPerRank).toBeLessThanOrEqual(0.9 * 180e9);
    if (!fits) expect(why).toMatch(/does not fit: \d+ GiB of 151|TPOT .* > 40 ms|stages need as many/);
  }
  expect(plan.layouts.some(({ why }) => why?.startsWith('does not fit'))).toBe(true);
  const text = planText(plan);
  for (const word of ['Best:', 'Frontier', 'Why the rest fell out', 'Assumed', 'Sources', '$4 an hour']) {
    expect(text).toContain(word);
  }
});

test('no layout that is left unrefined could still be better than the best', () => {
  const plan = planOf(planScenario('plan.objectives.tpot=50 ms'));
  const rest = plan.layouts.filter(({ refined, feasible }) => feasible && !refined);
  for (const { tokensPerSecPerRank } of rest) expect(tokensPerSecPerRank).toBeLessThanOrEqual(best(plan));
});

test('the frontier holds what nothing beats in speed and throughput at once', () => {
  const { frontier, points } = planOf(planScenario());
  expect(frontier.length).toBeGreaterThan(2);
  expect(points.length).toBeGreaterThan(frontier.length);
  for (const point of frontier) {
    for (const other of [...frontier, ...points]) {
      const beaten =
        other.tokensPerSecPerRank > point.tokensPerSecPerRank &&
        other.tokensPerSecPerUser > point.tokensPerSecPerUser;
      expect(beaten).toBe(false);
    }
  }
});

test('objectives that nothing meets give the closest layout, and allowing what it misses is enough', () => {
  const tight = planOf(planScenario('plan.objectives.tpot=6 ms'));
  expect(tight.feasible).toBe(false);
  expect(tight.best).toBe(null);
  expect(tight.closest?.misses.map(({ objective }) => objective)).toEqual(['tpot']);
  const [allow] = tight.closest!.allow;
  expect(allow).toMatch(/^tpot: [\d.]+ ms$/);
  expect(planText(tight)).toMatch(/No layout meets the objectives[\s\S]*It is enough to allow: tpot/);
  expect(planOf(planScenario(`plan.objectives.tpot=${allow.slice(6)}`)).feasible).toBe(true);
});

test('a model that does not fit says how much is missing', () => {
  const plan = planOf(planScenario('cluster.ranks=8'));
  expect(plan.feasible).toBe(false);
  expect(plan.closest?.misses[0].objective).toBe('memory');
  expect(plan.closest?.allow.join()).toMatch(/\d+ GiB more on each rank,limits: more ranks/);
});

test('compared layouts add up to their memory, and the fleet grows with the rate', () => {
  const plan = planOf(planScenario('plan.requests.ratePerSec=10'));
  const [first] = plan.compared;
  expect(first.layout).toBe(plan.layouts[0].layout);
  const bytes = Object.values(first.memory).reduce((sum, part) => sum + part, 0);
  expect(bytes).toBeCloseTo(plan.best!.memory.total, -3);
  const ranks = plan.fleetByRate.map(({ rankCount }) => rankCount);
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
});

test('an exchange says of its time what the sources say', () => {
  for (const cluster of ['h200-8', 'gb200-nvl72', 'h800-nodes']) {
    const plan = planOf(planScenario(`cluster={ preset: ${cluster}, ranks: 32 }`));
    const { dispatch } = plan.compared[0].step;
    expect(plan.sources.decodeExchange.split(':')[0], cluster).toBe(dispatch.provenance);
  }
});

test('more than two thousand layouts of Kimi K3 are candidates on two racks', () => {
  const scenario = planScenario('cluster={ preset: gb200-nvl72, ranks: 144 }', 'placement.policy=eplb');
  const { layouts } = enumerateLayouts(scenario, 144);
  expect(2 * layouts.length).toBeGreaterThan(2000);
  const names = new Set(layouts.map((layout) => JSON.stringify(layout)));
  expect(names.size).toBe(layouts.length);
  for (const layout of layouts) expect(layoutFaults(scenario.model, layout)).toEqual([]);
});

test('a fleet is whole instances, and idle ranks are paid for', () => {
  const scenario = planScenario('plan={ requests: { outputTokens: 100 }, dollarsPerHour: 3.6 }');
  const pools = [
    { ranks: 16, requestsPerSec: 10 },
    { ranks: 8, requestsPerSec: 4 },
  ] as const;
  const at = (rate: number | null) => economicsOf(scenario, scenario.plan!, ...pools, rate);
  // At most 85 % of 10 and of 4 requests a second on each instance.
  expect(at(8).fleet).toEqual({ decodeInstances: 1, prefillInstances: 3, ranks: 40, ratePerSec: 8 });
  expect(at(9).fleet?.ranks).toBe(2 * 16 + 3 * 8);
  // 40 ranks x $3.6 an hour for 800 tokens a second.
  expect(at(8).costPerMillionTokens).toBeCloseTo((40 * 3.6 * 1e6) / (800 * 3600), 9);
  expect(at(null).fleet).toBe(null);
  expect(at(null).tokensPerSecPerRank).toBeCloseTo(1000 / (16 + 20), 9);
  expect(at(8).watts).toBe(40_000);
});

test('a plan overlaps phases as the scenario says, and no overlap that it names is better than the best', () => {
  const plan = (...set: readonly string[]) => planOf(small('plan.objectives.tpot=20 ms', ...set));
  const open = plan();
  for (const name of ['none', 'shared-experts', 'two-micro-batches', 'four-chunks']) {
    const named = plan(`time.overlap=${name}`);
    const used = new Set(named.layouts.flatMap(({ overlap }) => overlap ?? []));
    expect([...used]).toEqual([name]);
    expect(named.assumptions).toContain(`phases overlap as time.overlap says: ${name}`);
    if (name !== 'four-chunks') expect(best(named)).toBeLessThanOrEqual(best(open));
  }
  expect(open.assumptions).toContain('each layout overlaps phases in whichever way is faster');
});

test('prompts are held for a chunk in every stage and one that waits for its transfer', () => {
  const scenario = planScenario('plan.requests={ inputTokens: 4000, cacheHitRate: 0.5 }');
  const sample = sampleOf(scenario);
  const { pools } = searchOf(scenario, createStepModel(scenario, sample, 0));
  const held = (pipeline: number) => {
    const layout = enumerateLayouts(scenario, 16).layouts.find((one) => one.pipeline === pipeline);
    return layout && pools.use('prefill', layout, 16_000).sequences;
  };
  // 2000 of each prompt are computed, so a chunk holds 8 of them.
  expect([held(1), held(2), held(4)]).toEqual([16, 24, 40]);
});
