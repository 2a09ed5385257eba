/** Scenarios for the planner's tests, and the loads of each model sampled once. */
import { catalog } from '@epsim/engine';
import { type LoadSample, type PlanOptions, planCapacity, sampleLoads } from '@epsim/planner';
import { parseScenario, type Scenario } from '@epsim/spec';

const standard = `cluster: { preset: b200-8, ranks: 16 }
workload: { preset: kimi-k3-16 }
model: kimi-k3
plan: {}
`;

/** A scenario with overrides `path=value`, as the command line takes them. */
export function planScenario(...set: readonly string[]): Scenario {
  return parseScenario(standard, { file: 'plan.yaml', catalog, set });
}

const samples = new Map<string, LoadSample>();

/** The sample of a scenario's model; those of equal workloads are drawn once. */
export function sampleOf(scenario: Scenario): LoadSample {
  const { model, workload, routing, seed } = scenario;
  const key = JSON.stringify([model.moe, workload.options, routing, seed]);
  const known = samples.get(key) ?? sampleLoads(scenario);
  samples.set(key, known);
  return known;
}

export function planOf(scenario: Scenario, options: PlanOptions = {}): ReturnType<typeof planCapacity> {
  return planCapacity(scenario, { sample: sampleOf(scenario), sensitivity: false, ...options });
}
