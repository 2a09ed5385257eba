/**
 * The dispatch plan: where every choice of one layer goes, and what that moves between ranks.
 * One plan serves both halves: the carried half moves these rows, the timed half prices these bytes.
 * Knows nothing of links or time.
 */
import { type DispatchPlan, NO_EXPERT, type Placement, type Routing } from '@epsim/spec';
import { chooseSlots, type ReplicaRule, slotsByExpert } from './choose-slots.js';

/** Where a row is sent once: per choice, per destination rank, or per destination node and forwarded inside. */
export type DispatchKind = 'per-expert' | 'per-rank' | 'per-node';

export interface DispatchOptions {
  readonly kind: DispatchKind;
  readonly replica: ReplicaRule;
  /** Ranks of a node or scale-up domain; `per-node` forwards inside it, `nearest` prefers it. */
  readonly domainRanks: number;
  /** Bytes of one row on the way out and back, scales included. */
  readonly dispatchRowBytes: number;
  readonly combineRowBytes: number;
}

/**
 * Plans one layer. Arrays are fresh, or those of `reuse` where the sizes agree.
 * Throws RangeError when routing and placement disagree on experts or ranks.
 */
export function planDispatch(
  routing: Routing,
  placement: Placement,
  options: DispatchOptions,
  reuse?: DispatchPlan,
): DispatchPlan {
  const rankCount = placement.rankCount;
  if (routing.expertCount !== placement.expertCount || routing.tokenOffsets.length !== rankCount + 1) {
    throw new RangeError(
      `routing of ${routing.expertCount} experts on ${routing.tokenOffsets.length - 1} ranks does not fit a placement of ${placement.expertCount} experts on ${rankCount} ranks`,
    );
  }
  const index = slotsByExpert(placement);
  const slotOfChoice = sized(reuse?.slotOfChoice, routing.experts.length);
  chooseSlots(routing, placement, index, options.replica, options.domainRanks, slotOfChoice);

  const tokensPerSlot = sized(reuse?.tokensPerSlot, placement.slotExpert.length).fill(0);
  const choicesPerPair = sized(reuse?.choicesPerPair, rankCount * rankCount).fill(0);
  const rowsPerPair = sized(reuse?.rowsPerPair, rankCount * rankCount).fill(0);
  countChoices(routing, slotOfChoice, index.rankOfSlot, tokensPerSlot, choicesPerPair);
  if (options.kind === 'per-expert') rowsPerPair.set(choicesPerPair);
  else {
    // Once per rank is once per node where all ranks are one node: nothing is forwarded.
    const nodeRanks = options.kind === 'per-rank' ? rankCount : options.domainRanks;
    countRows(routing, slotOfChoice, index.rankOfSlot, nodeRanks, rowsPerPair);
  }

  const dispatchBytes = reuse?.dispatchBytes ?? new Float64Array(rankCount * rankCount);
  const combineBytes = reuse?.combineBytes ?? new Float64Array(rankCount * rankCount);
  for (let i = 0; i < rowsPerPair.length; i++) {
    dispatchBytes[i] = rowsPerPair[i] * options.dispatchRowBytes;
    combineBytes[i] = rowsPerPair[i] * options.combineRowBytes;
  }
  return {
    rankCount,
    routing,
    placement,
    slotOfChoice,
    tokensPerSlot,
    choicesPerPair,
    rowsPerPair,
    dispatchBytes,
    combineBytes,
  };
}

function sized(array: Int32Array | undefined, length: number): Int32Array {
  return array?.length === length ? array : new Int32Array(length);
}

function countChoices(
  routing: Routing,
  slotOfChoice: Int32Array,
  rankOfSlot: Int32Array,
  tokensPerSlot: Int32Array,
  choicesPerPair: Int32Array,
): void {
  const { tokenOffsets, width } = routing;
  const rankCount = tokenOffsets.length - 1;
  for (let rank = 0; rank < rankCount; rank++) {
    const row = rank * rankCount;
    for (let i = tokenOffsets[rank] * width; i < tokenOffsets[rank + 1] * width; i++) {
      const slot = slotOfChoice[i];
      if (slot === NO_EXPERT) continue;
      tokensPerSlot[slot]++;
      choicesPerPair[row + rankOfSlot[slot]]++;
    }
  }
}

/**
 * A row crosses to another node once, lands on the rank of the sender's own index there (its rail), and is
 * forwarded inside the node to each rank that needs it. A rank gets a row once, however many of its experts need
 * it: it is read in place. Where the last node is short, the rail wraps.
 */
function countRows(
  routing: Routing,
  slotOfChoice: Int32Array,
  rankOfSlot: Int32Array,
  domainRanks: number,
  rowsPerPair: Int32Array,
): void {
  const { tokenOffsets, width } = routing;
  const rankCount = tokenOffsets.length - 1;
  const lastToken = new Int32Array(rankCount).fill(-1);
  const entryToken = new Int32Array(Math.ceil(rankCount / domainRanks)).fill(-1);
  for (let rank = 0; rank < rankCount; rank++) {
    const home = Math.floor(rank / domainRanks);
    for (let token = tokenOffsets[rank]; token < tokenOffsets[rank + 1]; token++) {
      for (let i = token * width; i < (token + 1) * width; i++) {
        if (slotOfChoice[i] === NO_EXPERT) continue;
        const to = rankOfSlot[slotOfChoice[i]];
        if (lastToken[to] === token) continue;
        lastToken[to] = token;
        const node = Math.floor(to / domainRanks);
        const entry = node === home ? rank : railRank(node, rank, domainRanks, rankCount);
        if (node !== home && entryToken[node] !== token) {
          entryToken[node] = token;
          rowsPerPair[rank * rankCount + entry]++;
        }
        if (node === home || entry !== to) rowsPerPair[entry * rankCount + to]++;
      }
    }
  }
}

/** The rank of `node` on which rows from `rank` land. */
export function railRank(node: number, rank: number, domainRanks: number, rankCount: number): number {
  const size = Math.min(domainRanks, rankCount - node * domainRanks);
  return node * domainRanks + ((rank % domainRanks) % size);
}

/** Rows sent over choices made: 1 when every choice sends a row of its own, less when a row serves several. */
export function dedupRatio(plan: DispatchPlan): number {
  let rows = 0;
  let choices = 0;
  for (let i = 0; i < plan.rowsPerPair.length; i++) {
    rows += plan.rowsPerPair[i];
    choices += plan.choicesPerPair[i];
  }
  return choices === 0 ? 1 : rows / choices;
}

/** Choices computed on each rank, [rankCount]. */
export function choicesPerRank(plan: DispatchPlan): Float64Array {
  const out = new Float64Array(plan.rankCount);
  for (let i = 0; i < plan.choicesPerPair.length; i++) out[i % plan.rankCount] += plan.choicesPerPair[i];
  return out;
}
