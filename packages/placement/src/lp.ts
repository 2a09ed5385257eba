/**
 * Per-batch sharing between replicas as a linear program (after DeepSeek's LPLB).
 * The one idea: replicas are placed by expected load once; each batch then asks how many choices every replica
 * takes so that the busiest rank has least, which a linear program answers exactly, over any number of hops.
 * A fixed replica graph keeps the traffic between replicas on links that are chosen in advance.
 * Await `ready()` before the first `split`.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import { z } from 'zod';
import { placeDistinct } from './eplb-distinct.js';
import { homesPerRank } from './homes.js';
import { choicesPerExpert } from './loads.js';
import { shareByProgram } from './lp-share.js';
import { heaviestFirst, packBalanced } from './pack.js';
import type { PlacementInput, PlacementPolicy } from './policy.js';
import { type ReplicaGraph, replicaGraphs, sourceRank } from './replica-graph.js';
import { checkInput, slotOffsetsOf } from './slots.js';
import { loadSolver } from './solver.js';

const lpOptions = z.strictObject({
  graph: z
    .enum(['by-load', ...replicaGraphs])
    .default('by-load')
    .describe(
      "whose experts a rank's redundant slots copy: a fixed graph of ranks, or as expected loads ask for",
    ),
});

export const lp: PlacementPolicy = {
  summary: 'choices of each batch shared between replicas by a linear program, on a replica graph or by load',
  options: lpOptions,
  place(input, options) {
    checkInput(input);
    const { graph } = lpOptions.parse(options);
    return graph === 'by-load' ? placeDistinct(input) : placeOnGraph(input, graph);
  },
  split({ placement, choices, rankSpeed }) {
    const load = choicesPerExpert(choices, placement.expertCount);
    return { ...placement, slotQuota: shareByProgram(placement, load, rankSpeed) };
  },
  ready: loadSolver,
};

function placeOnGraph(input: PlacementInput, graph: ReplicaGraph): Placement {
  const { rankCount, slotsPerRank, domainRanks } = input;
  const expertCount = input.loads.length;
  const loads = Float32Array.from(input.loads);
  const homes = homesPerRank(slotsPerRank, expertCount);
  const { pack, position } = packBalanced(loads, homes, input.rankSpeed);
  const slotOffsets = slotOffsetsOf(slotsPerRank);
  const slotExpert = new Int32Array(slotOffsets[rankCount]).fill(NO_EXPERT);
  for (let e = 0; e < expertCount; e++) slotExpert[slotOffsets[pack[e]] + position[e]] = e;
  const order = heaviestFirst(loads);
  // Heaviest first, each expert of a rank is copied once before any is copied twice.
  const waiting: number[][] = Array.from({ length: rankCount }, () => []);
  for (const expert of order) waiting[pack[expert]].push(expert);
  const spare: number[] = [...order];
  const holds = (rank: number, expert: number) =>
    slotExpert.subarray(slotOffsets[rank], slotOffsets[rank + 1]).includes(expert);
  const mostRedundant = slotsPerRank.reduce((most, slots, rank) => Math.max(most, slots - homes[rank]), 0);
  for (let nth = 0; nth < mostRedundant; nth++) {
    for (let rank = 0; rank < rankCount; rank++) {
      if (nth >= slotsPerRank[rank] - homes[rank]) continue;
      const source = sourceRank(graph, rank, nth, rankCount, domainRanks);
      const fits = (expert: number) => !holds(rank, expert);
      const expert = (source >= 0 ? takeFirst(waiting[source], fits) : undefined) ?? rotateFirst(spare, fits);
      if (expert !== undefined) slotExpert[slotOffsets[rank] + homes[rank] + nth] = expert;
    }
  }
  return { rankCount, expertCount, slotOffsets, slotExpert };
}

function takeFirst(queue: number[], fits: (value: number) => boolean): number | undefined {
  const at = queue.findIndex(fits);
  return at < 0 ? undefined : queue.splice(at, 1)[0];
}

/** As `takeFirst`, but what was taken goes to the end of the queue. */
function rotateFirst(queue: number[], fits: (value: number) => boolean): number | undefined {
  const value = takeFirst(queue, fits);
  if (value !== undefined) queue.push(value);
  return value;
}
