/**
 * Which input moves the answer most: each is raised by a tenth, and the chosen layout is asked again.
 * One idea: the layout stays, its batch may change, since that is what an operator would do. What an input does not
 * touch is not worked out again.
 */
import type { ClusterSpec, LinkSpec, PlanRequest, Scenario } from '@epsim/spec';
import { searchOf } from './plan-search.js';
import { type Evaluated, search } from './search.js';
import { createStages } from './stages.js';
import { createStepModel, type StepModel } from './step-time.js';

export interface Sensitivity {
  readonly input: string;
  /** Change of tokens per second and rank for a tenth more of the input, a fraction; null where it becomes infeasible. */
  readonly effect: number | null;
}

const TENTH = 1.1;

/** Effects on a chosen layout, largest first; `step` has the times of the scenario as it is. */
export function sensitivityOf(
  chosen: Evaluated,
  scenario: Scenario,
  step: StepModel,
): readonly Sensitivity[] {
  const throughputOf = (varied: Scenario): number | null => {
    const { engine } = varied.plan as PlanRequest;
    const plan = { ...(varied.plan as PlanRequest), engine: { ...engine, serving: chosen.serving } };
    const on = searchOf({ ...varied, plan }, stepOf(varied, step));
    const layouts = [chosen.layout, ...(chosen.prefill === null ? [] : [chosen.prefill.layout])];
    const found = search(layouts, { ...on, overlaps: [...new Set(overlapsOf(chosen))] });
    const same = found.evaluated.find(({ layout }) => layout === chosen.layout);
    return same === undefined || same.misses.length > 0 ? null : same.economics.tokensPerSecPerRank;
  };
  const base = throughputOf(scenario);
  return variations(scenario)
    .map(({ input, varied }) => {
      const value = throughputOf(varied);
      return { input, effect: value === null || base === null ? null : value / base - 1 };
    })
    .sort((a, b) => Math.abs(b.effect ?? 1) - Math.abs(a.effect ?? 1));
}

/** Step times of a variation: those of the base on its own cluster, its exchanges on its own network. */
function stepOf(varied: Scenario, base: StepModel): StepModel {
  const { cluster } = base.scenario;
  if (varied.cluster === cluster) return base;
  const { placer } = base.stages;
  const same = varied.cluster.topology === cluster.topology;
  const { mtpLayers } = (varied.plan as PlanRequest).engine;
  return createStepModel(varied, base.sample, mtpLayers, same ? base.stages : createStages(varied, placer));
}

function overlapsOf({ decode, prefill }: Evaluated) {
  return prefill === null ? [decode.overlap] : [decode.overlap, prefill.overlap];
}

function variations(scenario: Scenario): readonly { readonly input: string; readonly varied: Scenario }[] {
  const { cluster } = scenario;
  const plan = scenario.plan as PlanRequest;
  const { device, topology } = cluster;
  const { requests } = plan;
  const on = (change: Partial<ClusterSpec>): Scenario => ({
    ...scenario,
    cluster: { ...cluster, ...change },
  });
  const asking = (change: Partial<PlanRequest['requests']>): Scenario => ({
    ...scenario,
    plan: { ...plan, requests: { ...requests, ...change } },
  });
  const faster = (link: LinkSpec): LinkSpec => ({ ...link, bytesPerSec: TENTH * link.bytesPerSec });
  const { bf16, fp8, fp4 } = device.flopsPerSec;
  const flopsPerSec = {
    bf16: TENTH * bf16,
    ...(fp8 === undefined ? {} : { fp8: TENTH * fp8 }),
    ...(fp4 === undefined ? {} : { fp4: TENTH * fp4 }),
  };
  const { scaleUp, scaleOut } = topology;
  return [
    {
      input: 'memory bandwidth',
      varied: on({ device: { ...device, memoryBytesPerSec: TENTH * device.memoryBytesPerSec } }),
    },
    { input: 'memory', varied: on({ device: { ...device, memoryBytes: TENTH * device.memoryBytes } }) },
    { input: 'compute', varied: on({ device: { ...device, flopsPerSec } }) },
    { input: 'scale-up bandwidth', varied: on({ topology: { ...topology, scaleUp: faster(scaleUp) } }) },
    ...(scaleOut === null
      ? []
      : [
          {
            input: 'scale-out bandwidth',
            varied: on({ topology: { ...topology, scaleOut: faster(scaleOut) } }),
          },
        ]),
    { input: 'prompt length', varied: asking({ inputTokens: Math.round(TENTH * requests.inputTokens) }) },
    { input: 'answer length', varied: asking({ outputTokens: Math.round(TENTH * requests.outputTokens) }) },
  ];
}
