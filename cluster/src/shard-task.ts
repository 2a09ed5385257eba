/**
 * A shard's task as bytes, and back. What comes back is checked as anything from outside is: every number that
 * leads to a place in memory is in range before a kernel sees it.
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

const planSchema = z.strictObject({
  rank: count,
  tokenCount: count,
  sendOffsets: ints,
  sendTokens: ints,
  recvOffsets: ints,
  groupOffsets: ints,
  groupRows: ints,
  groupWeights: floats,
});

const taskSchema = z.strictObject({
  step: count,
  layer: count,
  memoryBytes: z
    .number()
    .min(0)
    .max(2 ** 32),
  slotExpert: ints,
  plans: z.array(planSchema).min(1).max(4096),
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
  const owned = plans.map((plan) => ({ ...plan }));
  return packr.pack({
    ...{ step, layer, memoryBytes, slotExpert, spec },
    plans: owned,
    ...(hidden ? { hidden } : {}),
  });
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
  const { step, layer, memoryBytes, slotExpert, plans, hidden, spec } = parsed.data;
  const wrong = taskProblem(parsed.data);
  if (wrong !== null) throw new RangeError(`a task that cannot be: ${wrong}`);
  const part: ShardPart = {
    spec,
    layout: shardLayout(spec, plans.map(rowsOf)),
    plans,
    slotExpert,
    ...(hidden ? { hidden } : {}),
  };
  return { part, step, layer, memoryBytes };
}

function taskProblem(task: z.infer<typeof taskSchema>): string | null {
  const { spec, plans, slotExpert, hidden } = task;
  const { rankCount, firstRank, slotCounts, model } = spec;
  if (firstRank + plans.length > rankCount) return 'more ranks than there are';
  if (slotCounts.length !== plans.length) return 'slots for other ranks';
  if (slotExpert.length !== slotCounts.reduce((a, b) => a + b, 0)) return 'experts for other slots';
  if (!allBelow(slotExpert, model.expertCount, -1)) return 'an expert that is not there';
  if (hidden && hidden.length !== plans.length) return 'hidden states of other ranks';
  for (const [local, plan] of plans.entries()) {
    const wrong = planProblem(plan, rankCount, slotCounts[local]);
    if (plan.rank !== firstRank + local || wrong !== null)
      return `rank ${plan.rank}: ${wrong ?? 'out of order'}`;
    if (hidden && hidden[local].length !== plan.tokenCount * model.hiddenSize)
      return 'hidden states of another size';
  }
  return null;
}

function planProblem(plan: RankPlan, rankCount: number, slots: number): string | null {
  const { sendOffsets, sendTokens, recvOffsets, groupOffsets, groupRows, groupWeights } = plan;
  if (!isPrefix(sendOffsets, rankCount, sendTokens.length)) return 'offsets of rows to send';
  if (!isPrefix(recvOffsets, rankCount, recvOffsets[rankCount])) return 'offsets of rows to receive';
  if (!isPrefix(groupOffsets, slots, groupRows.length)) return 'offsets of choices';
  if (groupWeights.length !== groupRows.length) return 'weights of other choices';
  if (!allBelow(sendTokens, plan.tokenCount)) return 'a token that is not there';
  if (!allBelow(groupRows, recvOffsets[rankCount])) return 'a row that does not arrive';
  return null;
}

/** True for [count + 1] numbers from 0 to `total` that never fall. */
function isPrefix(offsets: Int32Array, count: number, total: number): boolean {
  if (offsets.length !== count + 1 || offsets[0] !== 0 || offsets[count] !== total) return false;
  for (let i = 0; i < count; i++) if (offsets[i + 1] < offsets[i]) return false;
  return true;
}

function allBelow(values: Int32Array, end: number, least = 0): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] < least || values[i] >= end) return false;
  return true;
}
