/**
 * The placement of every layer over a run: placed once, and again every so many steps from the loads seen since.
 */
import { checkSlotCount, leastSlotsPerRank, type PlacementPolicy } from '@epsim/placement';
import type { Placement, Routing, Scenario, StepRecord } from '@epsim/spec';

export class PlacementKeeper {
  private readonly slotsPerRank: Int32Array;
  private readonly current: (Placement | undefined)[];
  /** Choices per expert since the layer was last placed. */
  private readonly seen: Float64Array[];

  constructor(
    private readonly scenario: Scenario,
    private readonly policy: PlacementPolicy,
  ) {
    const { placement, cluster, model, layers } = scenario;
    const { expertCount } = model.moe;
    const least = this.policy.leastSlotsPerRank ?? leastSlotsPerRank;
    const slots = placement.slotsPerRank ?? least(expertCount, cluster.rankCount);
    this.slotsPerRank = new Int32Array(cluster.rankCount).fill(slots);
    checkSlotCount(expertCount, this.slotsPerRank);
    this.current = new Array(layers).fill(undefined);
    this.seen = Array.from({ length: layers }, () => new Float64Array(expertCount));
  }

  /** Resolves when the policy may split batches. */
  async ready(): Promise<void> {
    await this.policy.ready?.();
  }

  /**
   * The placement of a layer for this step, and what moved to get there. The first one is made from the step's
   * own loads, which stand for the statistics that an operator has; later ones from the loads seen since the last.
   */
  place(step: number, layer: number, routing: Routing): { placement: Placement; move: StepRecord['move'] } {
    const { everySteps, options } = this.scenario.placement;
    const none = { slots: 0, bytes: 0, ns: 0 };
    const current = this.current[layer];
    if (current && !(everySteps > 0 && step > 0 && step % everySteps === 0))
      return { placement: current, move: none };
    const loads = current ? this.seen[layer] : countChoices(routing);
    const next = this.policy.place(
      {
        loads,
        rankCount: this.scenario.cluster.rankCount,
        slotsPerRank: this.slotsPerRank,
        domainRanks: this.scenario.cluster.topology.domainRanks,
        seed: this.scenario.seed,
        layer,
        ...(current ? { previous: current } : {}),
      },
      options,
    );
    this.current[layer] = next;
    this.seen[layer] = new Float64Array(loads.length);
    return { placement: next, move: none };
  }

  /** The placement as this batch uses it: policies that decide per batch set quotas. */
  split(placement: Placement, routing: Routing): Placement {
    if (!this.policy.split) return placement;
    const { rankCount } = placement;
    const choices = new Int32Array(rankCount * routing.expertCount);
    for (let rank = 0; rank < rankCount; rank++) {
      const end = routing.tokenOffsets[rank + 1] * routing.width;
      for (let i = routing.tokenOffsets[rank] * routing.width; i < end; i++) {
        if (routing.experts[i] >= 0) choices[rank * routing.expertCount + routing.experts[i]]++;
      }
    }
    const { domainRanks } = this.scenario.cluster.topology;
    return this.policy.split({ placement, choices, domainRanks }, this.scenario.placement.options);
  }

  observe(layer: number, expertLoad: Int32Array): void {
    const seen = this.seen[layer];
    for (let e = 0; e < seen.length; e++) seen[e] += expertLoad[e];
  }
}

function countChoices(routing: Routing): Float64Array {
  const out = new Float64Array(routing.expertCount);
  for (const e of routing.experts) if (e >= 0) out[e]++;
  return out;
}
