/**
 * The sampled loads on the slots of one layout: how long each expert rank multiplies, and which bytes one token sends.
 * One idea: counts are per expert and shared evenly by its replicas, so a batch of any size is a few sums.
 * Placement, plan and kernel are those of the simulator; nothing here is balanced unless the sample is.
 */
import { catalog, dispatchOptions, planDispatch } from '@epsim/engine';
import {
  type DeviceProfile,
  type ExpertSizes,
  type ExpertTimer,
  expertSizes,
  shardByBlocks,
} from '@epsim/model';
import {
  type DispatchPlan,
  type ModelShape,
  NO_EXPERT,
  type Placement,
  type Routing,
  type Scenario,
} from '@epsim/spec';
import { type Layout, scaleBlock, slotsOfLayout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';

/** The experts of a stage as they are placed, for each sampled layer. */
export interface PlacedExperts {
  readonly layout: Layout;
  readonly placements: readonly Placement[];
  /** How often each expert is placed, [expertCount], and which of its replicas a slot holds, [slots]; per layer. */
  readonly replicas: readonly { readonly of: Int32Array; readonly turn: Int32Array }[];
  /** Bytes that one token of every rank sends on the way out, and that come back, [ranks x ranks], over sampled layers. */
  readonly dispatchBytes: Float64Array;
  readonly combineBytes: Float64Array;
  /** 1 where a rank sends rows to another on the way out, [ranks x ranks]. */
  readonly sends: Uint8Array;
}

/** Places the experts of a layout and plans the sample on it. Throws RangeError where the policy refuses. */
export function placeExperts(scenario: Scenario, sample: LoadSample, layout: Layout): PlacedExperts {
  const { expertCount } = sample;
  const slotsPerRank = slotsOfLayout(expertCount, layout);
  const { policy, options } = scenario.placement;
  const place = catalog.placement[policy as keyof typeof catalog.placement];
  const domainRanks = domainRanksOf(scenario, layout);
  const placements = sample.known.map((loads, layer) =>
    place.place(
      { loads, rankCount: layout.expertRanks, slotsPerRank, domainRanks, seed: scenario.seed, layer },
      options,
    ),
  );
  const ranks = stageRanks(layout);
  const dispatchBytes = new Float64Array(ranks * ranks);
  const combineBytes = new Float64Array(ranks * ranks);
  let reuse: DispatchPlan | undefined;
  for (const [layer, placement] of placements.entries()) {
    const routing = routingOf(sample, layer, layout.expertRanks);
    reuse = planDispatch(routing, placement, { ...dispatchOptions(scenario), domainRanks }, reuse);
    const share = layout.expertRanks / sample.tokens / placements.length;
    addPairs(reuse.dispatchBytes, layout, share, dispatchBytes);
    addPairs(reuse.combineBytes, layout, share, combineBytes);
  }
  return {
    ...{ layout, placements, dispatchBytes },
    replicas: placements.map(replicasOf),
    combineBytes: transposed(combineBytes, ranks),
    sends: Uint8Array.from(dispatchBytes, (bytes) => (bytes > 0 ? 1 : 0)),
  };
}

/** Expert ranks that share a scale-up domain when a stage is spread evenly over as few domains as hold it. */
function domainRanksOf({ cluster }: Scenario, layout: Layout): number {
  const domains = Math.ceil(stageRanks(layout) / cluster.topology.domainRanks);
  return Math.max(1, Math.ceil(layout.expertRanks / domains));
}

/** The timed half of the sample as a batch of which every expert rank has an equal part. */
function routingOf(sample: LoadSample, layer: number, expertRanks: number): Routing {
  const { expertCount, topK, tokens, choices } = sample;
  const experts = choices[layer];
  return {
    expertCount,
    topK,
    width: topK,
    tokenOffsets: Int32Array.from({ length: expertRanks + 1 }, (_, r) =>
      Math.floor((tokens * r) / expertRanks),
    ),
    experts,
    weights: new Float32Array(experts.length),
    droppedChoices: 0,
  };
}

/**
 * Adds group-to-group bytes to rank-to-rank ones, one token on every rank. Where experts are cut, a row goes to
 * every rank of its expert's group and a part of the result comes back from each.
 */
function addPairs(groups: Float64Array, layout: Layout, share: number, out: Float64Array): void {
  const { expertRanks, expertTensor } = layout;
  const ranks = expertRanks * expertTensor;
  for (let from = 0; from < ranks; from++) {
    const row = Math.floor(from / expertTensor) * expertRanks;
    for (let to = 0; to < ranks; to++) {
      if (from === to) continue;
      out[from * ranks + to] += groups[row + Math.floor(to / expertTensor)] * share;
    }
  }
}

function transposed(matrix: Float64Array, n: number): Float64Array {
  const out = new Float64Array(matrix.length);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[j * n + i] = matrix[i * n + j];
  return out;
}

/** Sizes of the part of an expert that one rank computes, padded to whole blocks of scales. */
export function cutExpertSizes(
  { moe, precision }: ModelShape,
  expertTensor: number,
  profile: DeviceProfile,
): ExpertSizes {
  const { columns } = scaleBlock(precision.routedExperts);
  const expertInnerSize = shardByBlocks(moe.expertInnerSize, expertTensor, columns).paddedSize;
  return expertSizes({ ...moe, expertInnerSize }, precision.routedExperts, profile.experts.innerBlock);
}

/** Nanoseconds of each expert rank for a batch of `stageTokens`, one array [expertRanks] for each layer. */
export function expertTimes(
  placed: PlacedExperts,
  sample: LoadSample,
  stageTokens: number,
  timeOf: ExpertTimer,
): readonly Float64Array[] {
  return sample.counts(stageTokens).map(({ layer, counts }) => {
    const { slotOffsets } = placed.placements[layer];
    const load = { tokensPerSlot: slotLoads(placed, layer, counts) };
    const ns = new Float64Array(slotOffsets.length - 1);
    for (let rank = 0; rank < ns.length; rank++)
      ns[rank] = timeOf(load, slotOffsets[rank], slotOffsets[rank + 1]);
    return ns;
  });
}

/** Choices of each slot, [slots]: an expert's are dealt over its replicas in slot order. */
function slotLoads({ placements, replicas }: PlacedExperts, layer: number, counts: Int32Array): Int32Array {
  const { slotExpert } = placements[layer];
  const { of, turn } = replicas[layer];
  const loads = new Int32Array(slotExpert.length);
  for (let slot = 0; slot < loads.length; slot++) {
    const expert = slotExpert[slot];
    if (expert === NO_EXPERT) continue;
    const count = counts[expert];
    const each = of[expert];
    loads[slot] = each === 1 ? count : Math.floor(count / each) + (turn[slot] < count % each ? 1 : 0);
  }
  return loads;
}

function replicasOf({ slotExpert, expertCount }: Placement): { of: Int32Array; turn: Int32Array } {
  const of = new Int32Array(expertCount);
  const turn = new Int32Array(slotExpert.length);
  for (let slot = 0; slot < slotExpert.length; slot++) {
    if (slotExpert[slot] !== NO_EXPERT) turn[slot] = of[slotExpert[slot]]++;
  }
  return { of, turn };
}
