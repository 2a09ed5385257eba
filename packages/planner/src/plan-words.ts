/**
 * What a plan took for granted and where its numbers come from, in sentences.
 */
import { exchanges, kernelCosts } from '@epsim/engine';
import { profileFor } from '@epsim/model';
import { formatBytes, formatNs, type PlanRequest, type Scenario } from '@epsim/spec';
import { FLEET_LOAD } from './economics.js';
import { KERNEL_SHARE } from './engine-share.js';
import { endToEndError } from './errors/error-bar.js';
import { scoredRows } from './errors/scored-rows.js';
import type { LoadSample } from './load-sample.js';
import { heldUnderLoad } from './pools.js';

export function assumptionsOf(scenario: Scenario, plan: PlanRequest, sample: LoadSample): readonly string[] {
  const { requests, engine } = plan;
  const { device } = scenario.cluster;
  const price = plan.dollarsPerHour ?? scenario.cluster.dollarsPerHour;
  return [
    ...scenario.model.assumptions,
    ...sample.description,
    `decode steps see the mean context, ${requests.inputTokens} + ${Math.ceil(requests.outputTokens / 2)} tokens; memory holds whole requests`,
    `cache in ${engine.cacheFormat}, windows ${engine.windows}; ${formatBytes(engine.memoryFraction * device.memoryBytes)} of ${formatBytes(device.memoryBytes)} are used, ${formatBytes(engine.reserveBytes)} of it by libraries`,
    `${formatNs(engine.stepOverheadNs)} between steps; modelled kernels are ${100 * KERNEL_SHARE.prefill} % of a prefill step and ${100 * KERNEL_SHARE.decode} % of a decode step`,
    scenario.time.overlap === null
      ? 'each layout overlaps phases in whichever way is faster'
      : `phases overlap as time.overlap says: ${scenario.time.overlap}`,
    `${engine.acceptedTokens} ${engine.acceptedTokens === 1 ? 'token' : 'tokens'} a decode step, ${engine.mtpLayers} extra prediction layers`,
    heldUnderLoad(plan)
      ? `objectives are held to the ${Number((100 * (plan.objectives.quantile ?? 0.5)).toFixed(6))}th percentile of simulated Poisson arrivals; where a layout was not simulated, its TTFT is that of a prompt alone and its TPOT that of a full instance`
      : 'no rate and no quantile is asked, so objectives are held without queueing: TTFT is that of a prompt alone, TPOT that of a full instance; quantiles under load stand beside them',
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

export function sourcesOf(scenario: Scenario): Readonly<Record<string, string>> {
  const { model, cluster } = scenario;
  const profile = profileFor(cluster.device, model.precision.routedExperts);
  const { scaleUp, scaleOut } = cluster.topology;
  const step = 'steps of the parts below';
  const error = profile.leaveOutError;
  const bar = error === null ? '' : `; rows left out are ${(100 * error).toFixed(1)} % off`;
  return {
    ttftNs: `${step} for a prompt alone, or the asked quantile of a simulated queue of them`,
    tpotNs: `${step} with a full instance; tokensPerSecPerUser is its inverse`,
    tokensPerSecPerRank: `${step}: full instances, those that prefill included`,
    costPerMillionTokens: 'ranks of the fleet, or shares of full instances, times the price stated',
    watts: 'rated power of the accelerators; not measured, no error bar',
    memoryBytesPerRank:
      'parameter list and state arithmetic of the model, to the byte; activations and buffers are bounds',
    model: model.source,
    device: cluster.device.source,
    experts: `${profile.provenance}: ${profile.source}${bar}`,
    attention: `derived: roofline of ${cluster.device.name} at fractions of ${profile.name}`,
    ...exchangeSources(scenario),
    scaleUp: `${scaleUp.achieved.provenance}: ${scaleUp.achieved.source}`,
    ...(scaleOut === null
      ? {}
      : { scaleOut: `${scaleOut.achieved.provenance}: ${scaleOut.achieved.source}` }),
    error: errorSource(),
  };
}

/** What moves the rows of each phase; phases whose exchange is links alone have no entry. */
function exchangeSources(scenario: Scenario): Readonly<Record<string, string>> {
  const choice = exchanges[scenario.time.exchange];
  const entries = (['prefill', 'decode'] as const).flatMap((phase) => {
    const kernel = kernelCosts({ ...scenario, phase }, 'dispatch', choice);
    return kernel === null ? [] : [[`${phase}Exchange`, `${kernel.provenance}: ${kernel.source}`]];
  });
  return Object.fromEntries(entries);
}

function errorSource(): string {
  const { half, nineTenths } = endToEndError();
  const sources = [...new Set(scoredRows.map(({ source }) => source))].join(', ');
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  return `${scoredRows.length} published serving throughputs (${sources}), a source left out of the fit of its own: half within ${percent(half)}, nine tenths within ${percent(nineTenths)}; wider by as much as the parts of a step are less certain than there`;
}
