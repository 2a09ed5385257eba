import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalog } from '@epsim/engine';
import type { CapacityPlan } from '@epsim/planner';
import { parseScenario, type Scenario } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { root } from '../support/epsim.js';
import { planOf } from './support.js';

const file = (name: string) => readFileSync(join(root, 'scenarios', name), 'utf8');
const kimi = (name: string, ...set: readonly string[]) => ({ text: file(name), set });
const published = `model: deepseek-v3
cluster: { preset: h800-nodes, ranks: 16 }
workload: { preset: deepseek-r1-32 }
placement: { policy: eplb }
dispatch: { kind: per-node }
plan: { requests: { inputTokens: 4096, outputTokens: 1000 }, objectives: { ttft: 5 s, tpot: 50 ms } }
`;
const oneNode = `model: qwen3-30b-a3b
cluster: { preset: h100-8, ranks: 8 }
workload: { skew: { kind: log-normal } }
plan: { objectives: { tpot: 20 ms } }
`;

/** Scenarios of docs/planning.md, on 16 ranks an instance so that a plan takes a moment, and a small one. */
const scenarios = {
  'K3 at a rate on GB200': kimi('k3-plan.yaml', 'cluster.ranks=16'),
  'K3 on H200': kimi('k3-h200-vs-gb200.yaml', 'cluster.ranks=16'),
  'K3 on GB200': kimi('k3-h200-vs-gb200.yaml', 'cluster={ preset: gb200-nvl72, ranks: 16 }'),
  'K3 at a million tokens': kimi('k3-1m-context.yaml', 'cluster.ranks=16'),
  'DeepSeek-V3 on H800': { text: published, set: [] },
  'a small model on one node': { text: oneNode, set: [] },
} as const;
type Name = keyof typeof scenarios;

function scenarioOf(name: Name, ...more: readonly string[]): Scenario {
  const { text, set } = scenarios[name];
  return parseScenario(text, { file: `${name}.yaml`, catalog, set: [...set, ...more] });
}
const planned = (name: Name, ...more: readonly string[]) => planOf(scenarioOf(name, ...more));

/** Nothing where nothing is feasible. */
const throughput = ({ feasible, layouts }: CapacityPlan) =>
  feasible ? (layouts[0].tokensPerSecPerRank ?? 0) : 0;
/** Ranks of the fleet, or rank-hours where no rate is asked; without end where nothing is feasible. */
function price({ feasible, layouts }: CapacityPlan): number {
  if (!feasible) return Number.POSITIVE_INFINITY;
  return layouts[0].fleet?.ranks ?? layouts[0].rankHoursPerMillionTokens ?? Number.POSITIVE_INFINITY;
}

test.each([
  ['K3 at a rate on GB200', 'TP4 DP4 EP16', 'TP1 DP4 EP4 PP4 +4', 76, 96, 356],
  ['K3 on H200', 'TP8 DP2 EP8 ETP2', 'TP2 DP2 EP4 PP4', 50, null, 76.3],
  ['K3 on GB200', 'TP4 DP4 EP16', 'TP1 DP4 EP4 PP4', 200, null, 570],
  ['K3 at a million tokens', 'TP1 DP4 EP2 ETP2 PP4', 'TP4 DP4 EP16', 10, 80, 18.2],
  ['DeepSeek-V3 on H800', 'TP1 DP16 EP16', 'TP1 DP2 EP2 PP8 +2', 27, null, 527],
  ['a small model on one node', 'TP4 DP2 EP8', 'TP1 DP1 EP1', 200, null, 2116],
] as const)('golden plan: %s is %s, fed by %s', (name, decode, prefill, sequences, fleet, rate) => {
  const [best] = planned(name).layouts;
  expect([best.layout, best.prefill?.layout, best.serving]).toEqual([decode, prefill, 'split']);
  expect([best.sequencesPerGroup, best.fleet?.ranks ?? null]).toEqual([sequences, fleet]);
  expect(Math.abs(best.tokensPerSecPerRank! / rate - 1)).toBeLessThan(0.01);
});

const fields = fc.constantFrom('memoryBytesPerSec', 'scaleUp', 'scaleOut');
const less = fc.double({ min: 0.3, max: 0.95, noNaN: true });

function withBandwidth(scenario: Scenario, field: string, scale: number): Scenario {
  const { cluster } = scenario;
  const { device, topology } = cluster;
  const scaled = (link: typeof topology.scaleUp) => ({ ...link, bytesPerSec: scale * link.bytesPerSec });
  const changed =
    field === 'memoryBytesPerSec'
      ? { device: { ...device, memoryBytesPerSec: scale * device.memoryBytesPerSec } }
      : field === 'scaleUp'
        ? { topology: { ...topology, scaleUp: scaled(topology.scaleUp) } }
        : { topology: { ...topology, scaleOut: topology.scaleOut && scaled(topology.scaleOut) } };
  return { ...scenario, cluster: { ...cluster, ...changed } };
}

test('more bandwidth of memory or links never lowers throughput', () => {
  const names = fc.constantFrom<Name>('K3 on H200', 'K3 on GB200', 'a small model on one node');
  fc.assert(
    fc.property(names, fields, less, (name, field, factor) => {
      const scenario = scenarioOf(name);
      const slower = planOf(withBandwidth(scenario, field, factor));
      expect(throughput(planOf(scenario))).toBeGreaterThanOrEqual(throughput(slower));
    }),
    { numRuns: 4 },
  );
});

test('more memory never makes a layout infeasible, nor the best one worse', () => {
  const names = fc.constantFrom<Name>('a small model on one node', 'K3 on H200', 'DeepSeek-V3 on H800');
  fc.assert(
    fc.property(names, less, (name, factor) => {
      const scenario = scenarioOf(name);
      const { device } = scenario.cluster;
      const small = { ...device, memoryBytes: factor * device.memoryBytes };
      const [few, many] = [
        planOf({ ...scenario, cluster: { ...scenario.cluster, device: small } }),
        planOf(scenario),
      ];
      const feasible = ({ layouts }: CapacityPlan) =>
        layouts.filter((one) => one.feasible).map(({ layout, serving }) => `${layout} ${serving}`);
      const all = new Set(feasible(many));
      for (const layout of feasible(few)) expect(all).toContain(layout);
      expect(throughput(many)).toBeGreaterThanOrEqual(throughput(few));
    }),
    { numRuns: 4 },
  );
});

const quantile = fc.constantFrom('null', '0.9');

test('doubling the rate never lowers the fleet', () => {
  const names = fc.constantFrom<Name>('DeepSeek-V3 on H800', 'a small model on one node');
  fc.assert(
    fc.property(names, fc.double({ min: 0.5, max: 60, noNaN: true }), quantile, (name, rate, at) => {
      const fleet = (ratePerSec: number) =>
        price(planned(name, `plan.requests.ratePerSec=${ratePerSec}`, `plan.objectives.quantile=${at}`));
      expect(fleet(2 * rate)).toBeGreaterThanOrEqual(fleet(rate));
    }),
    { numRuns: 4 },
  );
});

test('a rate that one way to serve can only hold with many instances does not hide another that needs few', () => {
  const set = ['plan.objectives.quantile=0.9', 'plan.objectives.tpot=50 ms'];
  const fleet = (rate: number) =>
    price(planned('DeepSeek-V3 on H800', ...set, `plan.requests.ratePerSec=${rate}`, 'cluster.ranks=32'));
  // Eight layouts that prefill and decode together have fewer ranks by their bounds, and miss the 90th percentile.
  expect(fleet(5.318)).toBeLessThanOrEqual(fleet(10.636));
});

test('a tighter objective never gives a cheaper plan', () => {
  const names = fc.constantFrom<Name>('DeepSeek-V3 on H800', 'K3 on GB200', 'a small model on one node');
  const objective = fc.constantFrom('ttft', 'tpot');
  const rates = fc.constantFrom(null, 3, 12);
  fc.assert(
    fc.property(names, objective, less, rates, (name, which, factor, rate) => {
      const set = [`plan.requests.ratePerSec=${rate}`];
      const limit = which === 'ttft' ? 5000 : 50;
      const at = (ms: number) => price(planned(name, ...set, `plan.objectives.${which}=${ms} ms`));
      expect(at(factor * limit)).toBeGreaterThanOrEqual(at(limit) * (1 - 1e-9));
    }),
    { numRuns: 4 },
  );
});

test('a longer context never raises tokens per second and accelerator', () => {
  const names = fc.constantFrom<Name>('K3 at a million tokens', 'K3 on GB200', 'a small model on one node');
  const shares = fc.double({ min: 0.05, max: 0.4, noNaN: true });
  fc.assert(
    fc.property(names, shares, fc.double({ min: 1.05, max: 2.2, noNaN: true }), (name, share, longer) => {
      const { model } = scenarioOf(name);
      const at = (tokens: number) =>
        throughput(planned(name, `plan.requests.inputTokens=${Math.round(tokens)}`));
      const tokens = share * model.contextTokens;
      expect(at(longer * tokens)).toBeLessThanOrEqual(at(tokens));
    }),
    { numRuns: 4 },
  );
});
