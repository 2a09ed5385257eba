/**
 * Placement of a whole load table, layer by layer, in the shape that engines exchange.
 * The one idea: the same policies as in a run, asked once per layer, with the balance before and after.
 * Knows no files: loads come as numbers, results leave as numbers (formats.ts writes them as text).
 */
import type { Placement } from '@epsim/spec';
import { z } from 'zod';
import { balancedness, rankLoads, replicaCounts, sumOf } from './loads.js';
import { moves } from './moves.js';
import type { PlacedReplicas, PlacementInput, PlacementPolicy } from './policy.js';
import { placementPolicies } from './registry.js';
import { evenSlots, leastSlotsPerRank, slotOffsetsOf, slotsByExpert } from './slots.js';
import { duplicatesOnRank } from './validate.js';

export interface PlaceTableOptions {
  /** A name in `placementPolicies`. */
  readonly policy: string;
  readonly ranks: number;
  /** Slots over all ranks; a remainder goes to the first ranks. By default the fewest the policy needs. */
  readonly slots?: number;
  /** Nodes that the ranks form, which are also the domains of distance. One by default. */
  readonly nodes?: number;
  /** Groups of experts, for policies that have the option. */
  readonly groups?: number;
  /** Further options of the policy. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly seed?: number;
  /** Placement in use, [layers][slots]: enables `moves` and is the balance before. */
  readonly previous?: readonly (readonly number[])[];
}

/** The JSON of `epsim place`. */
export const placementTableSchema = z.strictObject({
  policy: z.string(),
  ranks: z.int(),
  slotsPerRank: z.array(z.int()).describe('[ranks]'),
  physicalToLogical: z
    .array(z.array(z.int()))
    .describe('expert of each slot, [layers][slots]; -1 for an empty slot'),
  logicalToPhysical: z
    .array(z.array(z.array(z.int())))
    .describe('slots of each expert, [layers][experts][most replicas of the table], padded with -1'),
  logicalCount: z.array(z.array(z.int())).describe('replicas of each expert, [layers][experts]'),
  balancedness: z
    .array(z.number())
    .describe('mean over max of the rank loads, [layers]; 1 where a layer has no load'),
  balancednessBefore: z
    .array(z.number())
    .describe('the same for the placement in use, or for experts in order without replicas, [layers]'),
  duplicatesOnRank: z
    .int()
    .describe('replicas that share a rank with another replica of their expert, over all layers'),
  moves: z
    .array(z.int())
    .optional()
    .describe(
      'slots whose weights change from the previous placement, [layers]; with slots renumbered so that fewest do',
    ),
});

type Table = z.infer<typeof placementTableSchema>;
/** A placement that nobody writes to. */
export type PlacementTable = { readonly [Field in keyof Table]: Deep<Table[Field]> };
type Deep<T> = T extends (infer Item)[] ? readonly Deep<Item>[] : T;

/**
 * Places every layer of `loads` ([layers][experts], any non-negative numbers).
 * Policies that decide per batch are shown the loads as one batch that comes from all ranks alike, so their
 * result is what they reach on it; await the policy's `ready` first.
 * Throws RangeError on an unknown policy, on ragged loads, and as the policy does.
 */
export function placeTable(loads: readonly (readonly number[])[], table: PlaceTableOptions): PlacementTable {
  const policy = policyOf(table.policy);
  const expertCount = checkLoads(loads);
  const slotsPerRank = slotsOf(table, policy, expertCount);
  const options = optionsOf(table, policy);
  const before = placementPolicies.contiguous;
  const layers = loads.map((row, layer) => {
    const input = inputOf(row, layer, slotsPerRank, table);
    const first = placeLayer(policy, input, options);
    const change = input.previous && moves(input.previous, first, input.domainRanks);
    const placed = change?.relabelled ?? first;
    const old =
      input.previous ?? before.place({ ...input, slotsPerRank: evenSlots(expertCount, table.ranks) }, {});
    return { placed, change, after: balanceOf(placed, row), before: balanceOf(old, row) };
  });
  const most = Math.max(...layers.map(({ placed }) => Math.max(...replicaCounts(placed))));
  return {
    policy: table.policy,
    ranks: table.ranks,
    slotsPerRank: [...slotsPerRank],
    physicalToLogical: layers.map(({ placed }) => [...placed.slotExpert]),
    logicalToPhysical: layers.map(({ placed }) => slotsOfExperts(placed, most)),
    logicalCount: layers.map(({ placed }) => [...replicaCounts(placed)]),
    balancedness: layers.map((layer) => layer.after),
    balancednessBefore: layers.map((layer) => layer.before),
    duplicatesOnRank: layers.reduce((sum, { placed }) => sum + duplicatesOnRank(placed), 0),
    ...(table.previous ? { moves: layers.map(({ change }) => change?.movedSlots ?? 0) } : {}),
  };
}

function policyOf(name: string): PlacementPolicy {
  const policies: Readonly<Record<string, PlacementPolicy>> = placementPolicies;
  if (Object.hasOwn(policies, name)) return policies[name];
  throw new RangeError(`unknown placement policy: ${name}; known: ${Object.keys(policies).join(', ')}`);
}

function checkLoads(loads: readonly (readonly number[])[]): number {
  const expertCount = loads[0]?.length ?? 0;
  if (expertCount === 0) throw new RangeError('loads are empty; expected [layers][experts]');
  loads.forEach((row, layer) => {
    if (row.length !== expertCount) {
      throw new RangeError(`loads of layer ${layer} have ${row.length} experts, layer 0 has ${expertCount}`);
    }
  });
  return expertCount;
}

function slotsOf(table: PlaceTableOptions, policy: PlacementPolicy, expertCount: number): Int32Array {
  const least = policy.leastSlotsPerRank ?? leastSlotsPerRank;
  return evenSlots(table.slots ?? least(expertCount, table.ranks) * table.ranks, table.ranks);
}

/** The policy's own options, with nodes and groups among them where it knows them. */
function optionsOf(table: PlaceTableOptions, policy: PlacementPolicy): unknown {
  const given: Record<string, unknown> = { ...table.options };
  for (const key of ['nodes', 'groups'] as const) {
    if (table[key] === undefined) continue;
    const withKey = { ...given, [key]: table[key] };
    if (policy.options.safeParse({ [key]: table[key] }).success) Object.assign(given, withKey);
    else if (key === 'groups')
      throw new RangeError(`placement policy ${table.policy} knows no groups; eplb does`);
  }
  return policy.options.parse(given);
}

function inputOf(
  row: readonly number[],
  layer: number,
  slotsPerRank: Int32Array,
  table: PlaceTableOptions,
): PlacementInput {
  const { ranks, nodes = 1, seed = 0, previous } = table;
  const slotOffsets = slotOffsetsOf(slotsPerRank);
  const old = previous?.[layer];
  if (previous && old?.length !== slotOffsets[ranks]) {
    throw new RangeError(
      `previous layer ${layer} has ${old?.length ?? 0} slots, expected ${slotOffsets[ranks]}`,
    );
  }
  const absent = old && row.findIndex((_, expert) => !old.includes(expert));
  if (absent !== undefined && absent >= 0) {
    throw new RangeError(`previous layer ${layer} has no slot for expert ${absent}; is it a placement?`);
  }
  const foreign = old?.find((expert) => expert >= row.length);
  if (foreign !== undefined) {
    throw new RangeError(`previous layer ${layer} names expert ${foreign} of ${row.length}`);
  }
  return {
    loads: Float64Array.from(row),
    rankCount: ranks,
    slotsPerRank,
    domainRanks: Math.ceil(ranks / nodes),
    seed,
    layer,
    ...(old
      ? {
          previous: {
            rankCount: ranks,
            expertCount: row.length,
            slotOffsets,
            slotExpert: Int32Array.from(old),
          },
        }
      : {}),
  };
}

function placeLayer(policy: PlacementPolicy, input: PlacementInput, options: unknown): PlacedReplicas {
  const placement = policy.place(input, options);
  if (!policy.split) return placement;
  return policy.split({ placement, choices: asBatch(input), domainRanks: input.domainRanks }, options);
}

/** Most choices that a table of loads is scaled to as a batch: enough for shares to be exact to a millionth. */
const BATCH_CHOICES = 2 ** 24;

/** The loads as whole choices, from all ranks as evenly as they divide, [rankCount x expertCount]. */
function asBatch({ loads, rankCount }: PlacementInput): Int32Array {
  const total = sumOf(loads);
  const whole = loads.every(Number.isInteger) && total <= BATCH_CHOICES;
  const scale = whole || total === 0 ? 1 : BATCH_CHOICES / total;
  const choices = new Int32Array(rankCount * loads.length);
  loads.forEach((load, expert) => {
    const count = Math.round(load * scale);
    for (let rank = 0; rank < rankCount; rank++) {
      const share = Math.floor(count / rankCount) + (rank < count % rankCount ? 1 : 0);
      choices[rank * loads.length + expert] = share;
    }
  });
  return choices;
}

function balanceOf(placement: Placement, row: readonly number[]): number {
  return balancedness(rankLoads(placement, row));
}

/** Slots of each expert, [experts][width] padded with -1, in the order in which the policy made the replicas. */
function slotsOfExperts(placement: PlacedReplicas, width: number): number[][] {
  const replica = placement.slotReplica;
  return slotsByExpert(placement).map((of) => {
    if (replica) of.sort((a, b) => replica[a] - replica[b]);
    return [...of, ...new Array(width - of.length).fill(-1)];
  });
}
