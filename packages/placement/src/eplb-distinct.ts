/**
 * EPLB without waste: replicas chosen by load as there, but no rank ever holds an expert twice.
 * The one idea: a second replica on the same rank shares no load, so an expert gets at most one per rank, and
 * a replica that no rank with room can take changes places with another one.
 * EPLB gives an expert that has all tokens five replicas on four ranks, two of them on the same one.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { z } from 'zod';
import { sumOf } from './loads.js';
import { heaviestFirst } from './pack.js';
import type { PlacementInput, PlacementPolicy } from './policy.js';
import { type Replicas, replicate } from './replicate.js';
import { checkInput, slotOffsetsOf } from './slots.js';

export const eplbDistinct: PlacementPolicy = {
  summary: 'EPLB that never puts two replicas of an expert on one rank',
  options: z.strictObject({}),
  place(input) {
    checkInput(input);
    return placeDistinct(input);
  },
};

/** Ranks while they are being filled. */
interface Bins {
  readonly replicas: Replicas;
  /** Replicas that a rank has room for, [rankCount]: its slots, but at most one of each expert. */
  readonly room: Int32Array;
  /** Replica numbers of each rank, in the order they came. */
  readonly content: number[][];
  /** Whether a rank holds an expert, [rankCount x expertCount]. */
  readonly held: Uint8Array;
  readonly load: Float64Array;
  readonly speed: Float64Array;
}

/**
 * How much a rank attracts the next replica of an expert, in fair shares of load: it is chosen as if it had
 * that much less to do. `shares` is the number of replicas that the expert is to have.
 */
export type Pull = (rank: number, expert: number, shares: number, holds: (rank: number) => boolean) => number;

/**
 * The placement of `eplb-distinct`, for policies that begin with it. Every slot is filled, except on a rank
 * that has more slots than there are experts. `pull` leans it; without one only load counts.
 */
export function placeDistinct(input: PlacementInput, pull?: Pull): Placement {
  const { rankCount, slotsPerRank } = input;
  const expertCount = input.loads.length;
  const room = slotsPerRank.map((slots) => Math.min(slots, expertCount));
  const usable = room.reduce((ranks, slots) => ranks + (slots > 0 ? 1 : 0), 0);
  const slots = sumOf(room);
  const bins: Bins = {
    replicas: replicate(Float32Array.from(input.loads), slots, usable),
    room,
    content: Array.from({ length: rankCount }, () => []),
    held: new Uint8Array(rankCount * expertCount),
    load: new Float64Array(rankCount),
    speed: input.rankSpeed ?? new Float64Array(rankCount).fill(1),
  };
  const fairShare = sumOf(input.loads) / sumOf(bins.speed);
  for (const replica of heaviestFirst(bins.replicas.loads)) {
    const expert = bins.replicas.item[replica];
    const rank = lightestRank(
      bins,
      (candidate) => !holds(bins, candidate, expert),
      pull &&
        ((candidate) =>
          fairShare * pull(candidate, expert, bins.replicas.counts[expert], (r) => holds(bins, r, expert))),
    );
    if (rank >= 0) put(bins, rank, replica);
    else if (!exchange(bins, replica)) fillInstead(bins);
  }
  const slotOffsets = slotOffsetsOf(slotsPerRank);
  const slotExpert = new Int32Array(slotOffsets[rankCount]).fill(NO_EXPERT);
  for (let rank = 0; rank < rankCount; rank++) {
    bins.content[rank].forEach((replica, i) => {
      slotExpert[slotOffsets[rank] + i] = bins.replicas.item[replica];
    });
  }
  return { rankCount, expertCount, slotOffsets, slotExpert };
}

function holds(bins: Bins, rank: number, expert: number): boolean {
  return bins.held[rank * bins.replicas.counts.length + expert] === 1;
}

/** The rank with room that has least to do for its speed, less its `pull`, and that `fits`; -1 when there is none. */
function lightestRank(bins: Bins, fits: (rank: number) => boolean, pull?: (rank: number) => number): number {
  let best = -1;
  let least = Infinity;
  for (let rank = 0; rank < bins.room.length; rank++) {
    if (bins.content[rank].length === bins.room[rank]) continue;
    let load = bins.load[rank] / bins.speed[rank];
    if (!fits(rank)) continue;
    if (pull) load -= pull(rank);
    if (load < least) {
      least = load;
      best = rank;
    }
  }
  return best;
}

function put(bins: Bins, rank: number, replica: number): void {
  bins.content[rank].push(replica);
  bins.held[rank * bins.replicas.counts.length + bins.replicas.item[replica]] = 1;
  bins.load[rank] += bins.replicas.loads[replica];
}

/**
 * Places a replica whose expert is on every rank with room already: a full rank that lacks the expert takes
 * it, and hands the replica nearest in load to a rank with room. False when no pair of ranks can.
 */
function exchange(bins: Bins, replica: number): boolean {
  const { item, loads } = bins.replicas;
  const to = lightestRank(bins, () => true);
  let best = { rank: -1, at: -1, gap: Infinity };
  for (let rank = 0; rank < bins.room.length; rank++) {
    if (rank === to || holds(bins, rank, item[replica]) || bins.room[rank] === 0) continue;
    bins.content[rank].forEach((candidate, at) => {
      const gap = Math.abs(loads[candidate] - loads[replica]);
      if (gap < best.gap && !holds(bins, to, item[candidate])) best = { rank, at, gap };
    });
  }
  if (best.rank < 0) return false;
  const [moved] = bins.content[best.rank].splice(best.at, 1);
  bins.held[best.rank * bins.replicas.counts.length + item[moved]] = 0;
  bins.load[best.rank] -= loads[moved];
  put(bins, best.rank, replica);
  put(bins, to, moved);
  return true;
}

/** Gives a slot that no replica chosen by load may take to the heaviest expert that its rank lacks. */
function fillInstead(bins: Bins): void {
  const to = lightestRank(bins, () => true);
  const { counts, item, loads } = bins.replicas;
  // The first `counts.length` replicas are one of each expert.
  let heaviest = -1;
  for (let expert = 0; expert < counts.length; expert++) {
    if (holds(bins, to, expert)) continue;
    if (heaviest < 0 || loads[expert] > loads[heaviest]) heaviest = expert;
  }
  if (heaviest >= 0) put(bins, to, item[heaviest]);
}
