import { endToEndError, planTraining } from '@epsim/planner';
import { expect, test } from 'vitest';
import { planOf, planScenario } from './support.js';

const published = endToEndError();
const barOf = (...set: readonly string[]) => {
  const scenario = planScenario('plan.requests.inputTokens=2000', ...set);
  const [best] = planOf(scenario).layouts;
  return { bar: best.relErrorBar!, bars: best.relErrorBars!, from: best.errorFrom! };
};
const deepseek = (preset: string) =>
  barOf(
    'model=deepseek-v3',
    `cluster={ preset: ${preset}, ranks: 16 }`,
    'workload={ skew: { kind: log-normal } }',
  );

test('a plan of measured parts has the bar of published figures, one of borrowed parts a visibly wider one', () => {
  const measured = deepseek('h800-nodes');
  const borrowed = deepseek('gb200-nvl72');
  expect(measured.bar).toBeCloseTo(published.nineTenths, 2);
  expect(borrowed.bar).toBeGreaterThan(1.3 * measured.bar);
  expect(borrowed.from).toMatch(
    /^experts, \d+ % of the step at \+- 60 % \(fractions of h800-deepgemm-fp8 at nominal/,
  );
});

test('experts of a shape that nobody measured, mixers that nobody measured and other makers widen it', () => {
  const qwen = barOf(
    'model=qwen3-30b-a3b',
    'cluster={ preset: h800-nodes, ranks: 8 }',
    'workload={ skew: { kind: log-normal } }',
  );
  expect(qwen.bar).toBeGreaterThan(1.2 * published.nineTenths);
  const amd = barOf('cluster={ preset: mi300x-8, ranks: 16 }');
  expect(amd.bar).toBeGreaterThan(2 * published.nineTenths);
  expect(amd.from).toContain('beyond the loads or shapes that were measured');
});

test('each figure has its bar: throughput lies between those of the steps that make it', () => {
  const { bars } = deepseek('gb200-nvl72');
  const [least, most] = [bars.ttftNs, bars.tpotNs].sort((a, b) => a - b);
  expect(bars.tokensPerSecPerRank).toBeGreaterThanOrEqual(least);
  expect(bars.tokensPerSecPerRank).toBeLessThanOrEqual(most);
  expect(bars.tokensPerSecPerUser).toBe(bars.tpotNs);
  expect(bars.costPerMillionTokens).toBe(bars.tokensPerSecPerRank);
});

test('training, which nothing was scored against, has at least twice the bar of published figures', () => {
  const scenario = planScenario(
    'model=qwen3-30b-a3b',
    'phase=train',
    'cluster={ preset: h800-nodes, ranks: 64 }',
    'workload={ skew: { kind: uniform } }',
    'plan.training.globalBatchTokens=4194304',
  );
  const [best] = planTraining(scenario).layouts;
  expect(best.relErrorBar).toBeGreaterThanOrEqual(2 * published.nineTenths);
  expect(best.errorFrom).toMatch(/% of the step at/);
});

test('an objective that is met by less than the bar says what to ask for instead', () => {
  const scenario = planScenario('plan.objectives.tpot=40 ms');
  const { best, layouts } = planOf(scenario);
  expect(layouts[0].tpotNs! * (1 + layouts[0].relErrorBars!.tpotNs)).toBeGreaterThan(40e6);
  expect(best!.notes.join()).toMatch(
    /TPOT of [\d.]+ ms may be [\d.]+ ms, above its 40 ms: an objective of [\d.]+ ms/,
  );
});
