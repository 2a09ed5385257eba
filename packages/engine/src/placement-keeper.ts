/**
 * The placement of every layer over a run: placed once, and again every so many steps from the loads that
 * an operator would know by then. Says which weights travel; what that costs is the caller's.
 */
import {
  type Balancer,
  checkSlotCount,
  createBalancer,
  evenSlots,
  leastSlotsPerRank,
  type Moves,
  moves,
  type PlacementPolicy,
  settleRanks,
} from '@epsim/placement';
import type { Placement, Routing, Scenario } from '@epsim/spec';

export class PlacementKeeper {
  private readonly slotsPerRank: Int32Array;
  private readonly current: (Placement | undefined)[];
  private readonly balancer: Balancer;
  private readonly rankSpeed: Float64Array;

  constructor(
    private readonly scenario: Scenario,
    private readonly policy: PlacementPolicy,
    rankSpeed: Float64Array,
  ) {
    const { placement, cluster, model, layers } = scenario;
    const { expertCount } = model.moe;
    const least = policy.leastSlotsPerRank ?? leastSlotsPerRank;
    const { slotsPerRank: each = null, slots } = placement;
    const all =
      slots ?? (typeof each === 'number' ? each : least(expertCount, cluster.rankCount)) * cluster.rankCount;
    this.slotsPerRank =
      typeof each === 'object' && each ? Int32Array.from(each) : evenSlots(all, cluster.rankCount);
    checkSlotCount(expertCount, this.slotsPerRank);
    this.rankSpeed = rankSpeed;
    this.current = new Array(layers).fill(undefined);
    this.balancer = createBalancer({
      everySteps: placement.everySteps,
      windowSteps: placement.windowSteps ?? Math.max(1, placement.everySteps),
      staleSteps: placement.staleSteps,
      layerCount: layers,
      expertCount,
    });
  }

  /** Resolves when the policy may split batches. */
  async ready(): Promise<void> {
    await this.policy.ready?.();
  }

  /**
   * The placement of a layer for this step, and the moves that lead to it, if any. The first one is made from
   * the step's own loads, which stand for the statistics that an operator starts with, and moves nothing.
   */
  place(step: number, layer: number, routing: Routing): { placement: Placement; moved: Moves | null } {
    const current = this.current[layer];
    const loads = current ? this.balancer.loadsFor(step, layer) : choicesPerExpert(routing);
    if (current && !loads) return { placement: current, moved: null };
    const { cluster, placement, seed } = this.scenario;
    const { domainRanks } = cluster.topology;
    const next = this.policy.place(
      {
        loads: Float64Array.from(loads!),
        rankCount: cluster.rankCount,
        slotsPerRank: this.slotsPerRank,
        rankSpeed: this.rankSpeed,
        domainRanks,
        seed,
        layer,
        ...(current ? { previous: current } : {}),
      },
      placement.options,
    );
    const alike = this.rankSpeed.every((speed) => speed === this.rankSpeed[0]);
    const settled = current && alike ? settleRanks(current, next, domainRanks) : next;
    const moved = current ? moves(current, settled, domainRanks) : null;
    this.current[layer] = moved?.relabelled ?? next;
    return { placement: this.current[layer], moved };
  }

  /** The placement as this batch uses it: policies that decide per batch set quotas. */
  split(placement: Placement, routing: Routing): Placement {
    if (!this.policy.split) return placement;
    const choices = new Int32Array(placement.rankCount * routing.expertCount);
    for (let rank = 0; rank < placement.rankCount; rank++) {
      const end = routing.tokenOffsets[rank + 1] * routing.width;
      for (let i = routing.tokenOffsets[rank] * routing.width; i < end; i++) {
        if (routing.experts[i] >= 0) choices[rank * routing.expertCount + routing.experts[i]]++;
      }
    }
    const { domainRanks } = this.scenario.cluster.topology;
    const input = { placement, choices, domainRanks, rankSpeed: this.rankSpeed };
    return this.policy.split(input, this.scenario.placement.options);
  }

  observe(step: number, layer: number, expertLoad: Int32Array): void {
    this.balancer.observe(step, layer, expertLoad);
  }
}

/** Choices of each expert, [expertCount]. */
export function choicesPerExpert(routing: Routing): Int32Array {
  const out = new Int32Array(routing.expertCount);
  for (const e of routing.experts) if (e >= 0) out[e]++;
  return out;
}
