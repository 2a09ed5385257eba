/** Where a plan's bytes go: how many stay, stay in a domain, or cross between domains, and over which link most. */
import type { Topology } from '@epsim/network';
import type { DispatchPlan, StepRecord } from '@epsim/spec';

/** `linkBytes` are the bytes over each link of `topology`, out and back. */
export function tierBytes(
  plan: DispatchPlan,
  topology: Topology,
  linkBytes: Float64Array,
): Omit<StepRecord['bytes'], 'dedupRatio'> {
  const tiers = { local: 0, 'scale-up': 0, 'scale-out': 0 };
  let dispatch = 0;
  let combine = 0;
  for (let from = 0; from < plan.rankCount; from++) {
    for (let to = 0; to < plan.rankCount; to++) {
      const i = from * plan.rankCount + to;
      dispatch += plan.dispatchBytes[i];
      combine += plan.combineBytes[i];
      tiers[topology.tierOf(from, to)] += plan.dispatchBytes[i] + plan.combineBytes[i];
    }
  }
  let busiest = -1;
  for (let i = 0; i < linkBytes.length; i++) {
    if (linkBytes[i] > 0 && (busiest < 0 || linkBytes[i] > linkBytes[busiest])) busiest = i;
  }
  return {
    dispatch,
    combine,
    scaleUp: tiers['scale-up'],
    scaleOut: tiers['scale-out'],
    local: tiers.local,
    byLinkMax: {
      link: busiest < 0 ? 'none' : topology.links[busiest].name,
      bytes: busiest < 0 ? 0 : linkBytes[busiest],
    },
  };
}
