/**
 * How far off each part of a step may be, by what its own estimate says.
 * One idea: a part that was measured has the error of what its fit did not see; one that borrows from a relative,
 * or lies outside what was measured, twice that. Knows parts of a step, nothing of whole systems.
 */
import { exchanges, kernelCosts } from '@epsim/engine';
import { expertErrorBar, profileFor, ROOFLINE_ERROR } from '@epsim/model';
import type { Scenario } from '@epsim/spec';
import { stageCluster } from '../exchanges.js';
import { type Layout, slotsOfLayout, stageRanks } from '../layout.js';
import type { StepPhase } from '../stages.js';
import type { StepParts } from '../step-time.js';

export interface PartError {
  /** Median error of such a part, a fraction. */
  readonly relError: number;
  readonly source: string;
}

export type PartErrors = Readonly<Record<keyof StepParts, PartError>>;

/** Errors of the parts of a layer step of `tokens` of a whole stage. */
export type FindPartErrors = (layout: Layout, tokens: number, phase: StepPhase) => PartErrors;

/** Of a kernel on an architecture that nobody measured it on: H200 predicted from Blackwell was off by 62 % in the median. */
const UNMEASURED_ERROR = 0.6;

export function createPartErrors(scenario: Scenario): FindPartErrors {
  const { model } = scenario;
  const roofline = { relError: ROOFLINE_ERROR, source: 'roofline at fractions that were fitted on H800' };
  const attention = attentionError(scenario);
  return (layout, tokens, phase) => {
    const ranks = stageRanks(layout);
    const cluster = stageCluster(scenario.cluster, ranks);
    const workload = { ...scenario.workload, tokensPerRank: tokens / ranks };
    const link = linkError({ ...scenario, phase, cluster, workload });
    const { moe } = model;
    const [slots] = slotsOfLayout(moe.expertCount, layout);
    const rows = (tokens * moe.topK) / (moe.expertCount + layout.redundantExperts);
    return {
      ...{ attention, dense: roofline, shared: roofline, head: roofline },
      experts: expertError(scenario, slots, rows, layout.expertTensor),
      ...{ dispatch: link, combine: link, tensorGroups: link, handover: link },
    };
  };
}

function expertError({ model, cluster }: Scenario, slots: number, rows: number, ways: number): PartError {
  const { device } = cluster;
  const profile = profileFor(device, model.precision.routedExperts);
  const relError = expertErrorBar(model.moe, profile, slots, rows, ways) ?? UNMEASURED_ERROR;
  const outside = relError > (profile.leaveOutError ?? relError);
  const where = profile.provenance === 'derived' ? profile.source : `kernels measured on ${device.name}`;
  return { relError, source: outside ? `${where}, beyond the loads or shapes that were measured` : where };
}

/** Latent attention was measured; other mixers stand in for it with twice its error, by their share of the layers. */
function attentionError({ model }: Scenario): PartError {
  const kinds = model.layers.flatMap(({ attention }) => (attention === null ? [] : [attention.kind]));
  const others = kinds.filter((kind) => kind !== 'mla');
  const names = [...new Set(others)].join(', ');
  return {
    relError: ROOFLINE_ERROR * (1 + others.length / Math.max(1, kinds.length)),
    source: `roofline at fractions fitted to latent attention on H800${names === '' ? '' : `; nobody measured ${names}`}`,
  };
}

/** The kernels that move rows, or the links' own figures where those are borrowed. */
function linkError(scenario: Scenario): PartError {
  const { topology, rankCount } = scenario.cluster;
  const { achieved } =
    topology.scaleOut !== null && rankCount > topology.domainRanks ? topology.scaleOut : topology.scaleUp;
  const kernel = kernelCosts(scenario, 'dispatch', exchanges[scenario.time.exchange]);
  const own = kernel?.relErrorBar ?? null;
  if (kernel === null || own === null) {
    return { relError: UNMEASURED_ERROR, source: `links alone: ${achieved.source}` };
  }
  const borrowed = kernel.provenance === 'fitted' && achieved.provenance === 'derived';
  return {
    relError: borrowed ? 2 * own : own,
    source: borrowed ? `links by analogy: ${achieved.source}` : kernel.source,
  };
}
