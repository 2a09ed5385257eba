/**
 * What a plan took for granted and where its numbers come from, in sentences.
 */
import { profileFor } from '@epsim/model';
import { formatBytes, formatNs, type PlanRequest, type Scenario } from '@epsim/spec';
import { FLEET_LOAD } from './economics.js';
import { PREFILL_KERNEL_SHARE } from './engine-share.js';
import type { LoadSample } from './load-sample.js';
import { END_TO_END_ERROR } from './validation/error.js';

export function assumptionsOf(scenario: Scenario, plan: PlanRequest, sample: LoadSample): readonly string[] {
  const { requests, engine } = plan;
  const { device } = scenario.cluster;
  const price = plan.dollarsPerHour ?? scenario.cluster.dollarsPerHour;
  return [
    ...scenario.model.assumptions,
    ...sample.description,
    `decode steps see the mean context, ${requests.inputTokens} + ${Math.ceil(requests.outputTokens / 2)} tokens; memory holds whole requests`,
    `cache in ${engine.cacheFormat}, windows ${engine.windows}; ${formatBytes(engine.memoryFraction * device.memoryBytes)} of ${formatBytes(device.memoryBytes)} are used, ${formatBytes(engine.reserveBytes)} of it by libraries`,
    `${formatNs(engine.stepOverheadNs)} between steps; modelled kernels are ${100 * PREFILL_KERNEL_SHARE} % of a prefill step`,
    `${engine.acceptedTokens} tokens a decode step, ${engine.mtpLayers} extra prediction layers`,
    plan.objectives.quantile === null
      ? 'times are means without queueing: a prompt is computed as soon as it arrives; quantiles under load stand beside them'
      : 'arrivals are Poisson; layouts that were not simulated come after those that were',
    price === undefined || price === null
      ? 'nobody said what an accelerator costs: write plan.dollarsPerHour'
      : `$${price} an hour for one accelerator, idle ones too`,
    device.watts === undefined
      ? `the power of ${device.name} is not known`
      : `${device.watts} W for each accelerator, its rated power; hosts and cooling apart`,
    `a fleet loads its instances to ${100 * FLEET_LOAD} % at most; a plan without a rate prices full ones`,
    'every rank and link at its nominal speed: overrides of the cluster are left out',
  ];
}

export function sourcesOf({ model, cluster }: Scenario): Readonly<Record<string, string>> {
  const profile = profileFor(cluster.device, model.precision.routedExperts);
  const { scaleUp, scaleOut } = cluster.topology;
  return {
    model: model.source,
    device: cluster.device.source,
    experts: `${profile.provenance}: ${profile.source}`,
    attention: `derived: roofline of ${cluster.device.name} at fractions of ${profile.name}`,
    scaleUp: `${scaleUp.achieved.provenance}: ${scaleUp.achieved.source}`,
    ...(scaleOut === null
      ? {}
      : { scaleOut: `${scaleOut.achieved.provenance}: ${scaleOut.achieved.source}` }),
    error: `median error against published serving throughputs: ${(100 * END_TO_END_ERROR).toFixed(0)} %`,
  };
}
