/**
 * The layouts that are worth a look: every combination of degrees that some engine could load.
 * One idea: enumerate plainly and let memory and time say no, so that the answer can say why.
 */
import { dividingRankCounts, leastRedundantExperts } from '@epsim/placement';
import type { Scenario } from '@epsim/spec';
import { type Layout, layoutFaults, layoutRanks } from './layout.js';

const TENSOR_WAYS = [1, 2, 4, 8, 16];
const EXPERT_WAYS = [1, 2, 4, 8];
const STAGES = [1, 2, 4, 8];
/** Placements that gain nothing from replicas, because they do not look at loads. */
const BLIND_PLACEMENTS = ['contiguous', 'round-robin', 'random'];

/** Most ranks of one instance: what the plan says, else what the cluster has. */
export function mostRanks({ plan, cluster }: Scenario): number {
  const limits = plan?.limits;
  const nodes = (limits?.nodes ?? Number.POSITIVE_INFINITY) * cluster.topology.domainRanks;
  const asked = Math.min(limits?.ranks ?? Number.POSITIVE_INFINITY, nodes);
  return Number.isFinite(asked) ? asked : cluster.rankCount;
}

/** Sizes of a stage: parts of a domain, whole domains, powers of two and what divides the experts. */
export function stageSizes({ model, cluster }: Scenario, most: number): readonly number[] {
  const { domainRanks } = cluster.topology;
  const sizes = new Set<number>();
  for (let n = 1; n <= most; n *= 2) sizes.add(n);
  for (let n = domainRanks; n <= most; n += domainRanks) {
    if (n <= 4 * domainRanks || Number.isInteger(Math.log2(n / domainRanks))) sizes.add(n);
  }
  for (const n of dividingRankCounts(model.moe.expertCount)) if (n <= most) sizes.add(n);
  return [...sizes].sort((a, b) => a - b);
}

/** Redundant experts that are tried: none, what makes slots equal, and one or two more slots on each rank. */
function redundancies({ model, placement, cluster }: Scenario, expertRanks: number): readonly number[] {
  if (expertRanks === 1) return [0];
  const least = leastRedundantExperts(model.moe.expertCount, expertRanks);
  const { slotsPerRank: each } = placement;
  const slots =
    placement.slots ?? (typeof each === 'number' ? each * expertRanks : each?.reduce((a, b) => a + b, 0));
  if (slots !== undefined && expertRanks === cluster.rankCount) return [slots - model.moe.expertCount];
  const blind = BLIND_PLACEMENTS.includes(placement.policy);
  const more = blind ? [] : [least + expertRanks, least + 2 * expertRanks];
  return [...new Set([0, least, ...more])];
}

export interface Candidates {
  readonly layouts: readonly Layout[];
  /** Layouts that no engine could load, and the reasons. */
  readonly refused: readonly { readonly layout: Layout; readonly why: string }[];
}

/** Every layout of at most `most` ranks, small ones first. */
export function enumerateLayouts(scenario: Scenario, most: number): Candidates {
  const layouts: Layout[] = [];
  const refused: { layout: Layout; why: string }[] = [];
  for (const layout of degrees(scenario, most)) {
    const [why] = layoutFaults(scenario.model, layout);
    if (why === undefined) layouts.push(layout);
    else refused.push({ layout, why });
  }
  layouts.sort((a, b) => layoutRanks(a) - layoutRanks(b));
  return { layouts, refused };
}

function* degrees(scenario: Scenario, most: number): Generator<Layout> {
  for (const ranks of stageSizes(scenario, most)) {
    for (const pipeline of STAGES.filter((stages) => ranks * stages <= most)) {
      for (const attentionTensor of TENSOR_WAYS.filter((ways) => ranks % ways === 0)) {
        for (const expertTensor of EXPERT_WAYS.filter((ways) => ranks % ways === 0)) {
          const expertRanks = ranks / expertTensor;
          for (const redundantExperts of redundancies(scenario, expertRanks)) {
            const attentionData = ranks / attentionTensor;
            yield { attentionTensor, attentionData, expertRanks, expertTensor, pipeline, redundantExperts };
          }
        }
      }
    }
  }
}
