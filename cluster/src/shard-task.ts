/**
 * A shard's task as bytes, and back. The lists of its ranks' plans travel as one array of integers and one of gate
 * weights, since every list's length follows from the one before it.
 * What comes back is checked as anything from outside is: every number that leads to a place in memory is in range
 * before a kernel sees it.
 */
import { type RankPlan, rowsOf, type ShardPart, type ShardTask, shardLayout } from '@epsim/engine';
import { Packr, Unpackr } from 'msgpackr';
import { z } from 'zod';

const packr = new Packr({ useRecords: false, moreTypes: true });
const unpackr = new Unpackr({ useRecords: false, moreTypes: true });

const count = z
  .int()
  .min(0)
  .max(2 ** 31);
const size = z
  .int()
  .min(0)
  .max(2 ** 20);
const format = z.enum(['fp32', 'bf16', 'fp8', 'mxfp8', 'mxfp4']);
const ints = z.instanceof(Int32Array);
const floats = z.instanceof(Float32Array);

const taskSchema = z.strictObject({
  step: count,
  layer: count,
  memoryBytes: z
    .number()
    .min(0)
    .max(2 ** 32),
  slotExpert: ints,
  /** Tokens of each of its ranks. */
  tokenCounts: z.array(count).min(1).max(4096),
  /** Of each rank in turn: sendOffsets, sendTokens, recvOffsets, groupOffsets, groupRows. */
  lists: ints,
  groupWeights: floats,
  hidden: z.array(floats).optional(),
  spec: z.strictObject({
    shard: count,
    rankCount: z.int().min(1).max(65_536),
    firstRank: count,
    slotCounts: z.array(size),
    dispatchFormat: format,
    combineFormat: format,
    model: z.strictObject({
      seed: z.number(),
      expertCount: z
        .int()
        .min(1)
        .max(2 ** 20),
      hiddenSize: size.multipleOf(8),
      expertWidth: size.multipleOf(8),
      latent: z.boolean(),
      latentNorm: z.boolean(),
      innerSize: size.multipleOf(8),
      sharedInnerSize: size.multipleOf(8),
      glu: z.union([
        z.strictObject({ kind: z.literal('swiglu') }),
        z.strictObject({ kind: z.literal('situ'), gateBound: z.number(), upBound: z.number() }),
      ]),
    }),
  }),
});

/** The task without what follows from the rest. */
export function encodeTask({ part, step, layer, memoryBytes }: ShardTask): Uint8Array {
  const { spec, plans, slotExpert, hidden } = part;
  const lists = plans.flatMap((plan) => [
    ...[plan.sendOffsets, plan.sendTokens, plan.recvOffsets, plan.groupOffsets, plan.groupRows],
  ]);
  return packr.pack({
    ...{ step, layer, memoryBytes, slotExpert, spec },
    tokenCounts: plans.map(({ tokenCount }) => tokenCount),
    lists: joined(Int32Array, lists),
    groupWeights: joined(
      Float32Array,
      plans.map((plan) => plan.groupWeights),
    ),
    ...(hidden ? { hidden } : {}),
  });
}

function joined<T extends Int32Array | Float32Array>(
  kind: new (length: number) => T,
  arrays: readonly T[],
): T {
  const all = new kind(arrays.reduce((sum, { length }) => sum + length, 0));
  let next = 0;
  for (const array of arrays) {
    all.set(array, next);
    next += array.length;
  }
  return all;
}

/** Throws RangeError with the first thing that is wrong. */
export function decodeTask(bytes: Uint8Array): ShardTask {
  let raw: unknown;
  try {
    raw = unpackr.unpack(bytes);
  } catch (thrown) {
    throw new RangeError(`a task that cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
  const parsed = taskSchema.safeParse(raw);
  if (!parsed.success) throw new RangeError(`a task that is none: ${parsed.error.issues[0].message}`);
  const { step, layer, memoryBytes, slotExpert, hidden, spec } = parsed.data;
  checkTask(parsed.data);
  const plans = plansOf(parsed.data);
  const part: ShardPart = {
    spec,
    layout: shardLayout(spec, plans.map(rowsOf)),
    plans,
    slotExpert,
    ...(hidden ? { hidden } : {}),
  };
  return { part, step, layer, memoryBytes };
}

type Parsed = z.infer<typeof taskSchema>;

function checkTask({ spec, tokenCounts, slotExpert, hidden }: Parsed): void {
  const { rankCount, firstRank, slotCounts, model } = spec;
  const ranks = tokenCounts.length;
  check(firstRank + ranks <= rankCount, 'more ranks than there are');
  check(slotCounts.length === ranks, 'slots for other ranks');
  const slots = slotCounts.reduce((a, b) => a + b, 0);
  check(slotExpert.length === slots, 'experts for other slots');
  check(allBelow(slotExpert, model.expertCount, -1), 'an expert that is not there');
  if (!hidden) return;
  check(hidden.length === ranks, 'hidden states of other ranks');
  hidden.forEach((rows, local) => {
    check(rows.length === tokenCounts[local] * model.hiddenSize, 'hidden states of another size');
  });
}

/** Cuts the lists into plans, of views. */
function plansOf({ spec, tokenCounts, lists, groupWeights }: Parsed): RankPlan[] {
  const { rankCount, firstRank, slotCounts } = spec;
  let next = 0;
  let nextChoice = 0;
  const take = (length: number) => {
    check(next + length <= lists.length, 'lists that are too short');
    next += length;
    return lists.subarray(next - length, next);
  };
  /** [length + 1] numbers from 0 that never fall. */
  const offsets = (length: number, what: string) => {
    const taken = take(length + 1);
    check(
      taken[0] === 0 && taken.every((value, i) => i === 0 || value >= taken[i - 1]),
      `offsets of ${what}`,
    );
    return taken;
  };
  const plans = tokenCounts.map((tokenCount, local): RankPlan => {
    const sendOffsets = offsets(rankCount, 'rows to send');
    const sendTokens = take(sendOffsets[rankCount]);
    check(allBelow(sendTokens, tokenCount), 'a token that is not there');
    const recvOffsets = offsets(rankCount, 'rows to receive');
    const groupOffsets = offsets(slotCounts[local], 'choices');
    const groupRows = take(groupOffsets[slotCounts[local]]);
    check(allBelow(groupRows, recvOffsets[rankCount]), 'a row that does not arrive');
    const weights = groupWeights.subarray(nextChoice, nextChoice + groupRows.length);
    nextChoice += groupRows.length;
    return {
      ...{ rank: firstRank + local, tokenCount, sendOffsets, sendTokens, recvOffsets },
      ...{ groupOffsets, groupRows, groupWeights: weights },
    };
  });
  check(next === lists.length, 'lists that are too long');
  check(nextChoice === groupWeights.length, 'weights of other choices');
  return plans;
}

function check(holds: boolean, otherwise: string): void {
  if (!holds) throw new RangeError(`a task that cannot be: ${otherwise}`);
}

function allBelow(values: Int32Array, end: number, least = 0): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] < least || values[i] >= end) return false;
  return true;
}
