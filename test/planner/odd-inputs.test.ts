import { planText } from '@epsim/planner';
import { expect, test } from 'vitest';
import { planOf, planScenario } from './support.js';

const small = (...set: readonly string[]) =>
  planScenario(
    ...[
      'model=qwen3-30b-a3b',
      'cluster={ preset: h100-8, ranks: 4 }',
      'workload={ skew: { kind: log-normal } }',
    ],
    'plan={ requests: { inputTokens: 1000, outputTokens: 200 }, objectives: { tpot: 20 ms } }',
    ...set,
  );

test.each([
  [
    'requests.inputTokens=1000000',
    /inputTokens: too many tokens: 1000000 \+ 200; qwen3-30b-a3b takes \d+ tokens/,
  ],
  [
    'requests={ ratePerSec: 3, users: 10 }',
    /users: conflicting load: 3 requests\/s and 10 users; .*write one/,
  ],
  ['requests.ratePerSec=0', /ratePerSec: out of range: 0; above 0/],
  ['objectives.quantile=0.9999', /quantile: out of range: 0.9999; .*0.999/],
  ['engine.mtpLayers=3', /mtpLayers: unknown prediction layers: 3; qwen3-30b-a3b has none; write 0/],
  ['engine.acceptedTokens=5', /acceptedTokens: too many tokens: 5; a step yields 1 token/],
  ['objectives.costPerMillionTokens=1', /unknown price: 1; .*write plan.dollarsPerHour: 4/],
  ['objectives.power=10 kW', /power: missing load: 10000 W; .*write plan.requests.ratePerSec or users/],
])('%s is refused with its place, its value and a repair', (set, message) => {
  expect(() => small(`plan.${set}`)).toThrow(message);
});

test.each([
  [
    'one accelerator in all',
    ['cluster.ranks=1', 'plan.limits.fleetRanks=1'],
    true,
    /Best: TP1 DP1 EP1 on 1 rank,.*prefill on the same/,
  ],
  [
    'more ranks than experts',
    ['cluster.ranks=256', 'plan.limits.ranks=136'],
    true,
    /at most 136 ranks an instance[\s\S]* more that no engine can load/,
  ],
  [
    'a prompt of one token',
    ['plan.requests.inputTokens=1', 'plan.requests.ratePerSec=3'],
    true,
    /fleet: \d+ ranks/,
  ],
  [
    'an answer of one token',
    ['plan.requests.outputTokens=1', 'plan.requests.ratePerSec=3'],
    true,
    /fleet: 1 rank = 1 decode instance for/,
  ],
  ['a billion requests a second', ['plan.requests.ratePerSec=1e9'], true, /fleet: \d{8} ranks/],
  ['no room', ['plan.engine.memoryFraction=0.01'], false, /does not fit: 16 GiB of 0.75/],
  [
    'no time',
    ['plan.objectives.tpot=1 us'],
    false,
    /TPOT [\d.]+ ms > 1 us[\s\S]*enough to allow: tpot: [\d.]+ ms/,
  ],
  ['Mixtral on eight', ['model=mixtral-8x7b', 'cluster.ranks=8'], true, /mixtral-8x7b \(46.7 B parameters/],
])('%s has an answer', (_, set, feasible, answer) => {
  const plan = planOf(small(...set));
  expect(plan.feasible).toBe(feasible);
  const text = planText(plan);
  expect(text).toMatch(answer);
  expect(text).not.toMatch(/NaN|Infinity|undefined/);
});

test('fleets that are simulated in parts have as many ranks for a rate as those that are simulated whole', () => {
  const ranksPerRate = (rate: number) => {
    const plan = planOf(small('plan.objectives.ttft=1 s', `plan.requests.ratePerSec=${rate}`));
    return plan.layouts[0].fleet!.ranks / rate;
  };
  const whole = ranksPerRate(1000);
  for (const rate of [3000, 20_000]) expect(Math.abs(ranksPerRate(rate) / whole - 1)).toBeLessThan(0.06);
});
