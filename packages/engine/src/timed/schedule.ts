/**
 * What runs after what: the operations of one layer on every rank, each rank with a compute stream and a
 * network stream, and clocks of its own. A straggler delays exactly those who wait for it.
 * Two things that compute never run at once on a rank: they would share its memory and its multipliers.
 * An exchange reaches a rank when its last sender was ready and the bytes have travelled.
 * Knows nothing of what an operation is; durations come from outside.
 */

export type OpName = 'pre' | 'dispatch' | 'shared' | 'experts' | 'combine' | 'post';

/** Durations of one micro-batch, in ns. */
export interface MicroBatch {
  /** Per rank: router and down-projection; shared experts; routed experts; norm and up-projection. */
  readonly pre: Float64Array;
  readonly shared: Float64Array;
  readonly experts: Float64Array;
  readonly post: Float64Array;
  /** Per rank, from a common start: when its last byte has been sent, and when its last byte is there. */
  readonly dispatchSentNs: Float64Array;
  readonly dispatchReceivedNs: Float64Array;
  readonly combineSentNs: Float64Array;
  readonly combineReceivedNs: Float64Array;
  /** True at [s * ranks + d] when s sends rows to d on the way out; the way back is the transpose. */
  readonly sends: Uint8Array;
}

/** One operation in program order. A `blocking` one waits for all earlier ones of its rank, on every stream. */
export interface Op {
  readonly name: OpName;
  readonly batch: number;
  readonly blocking?: boolean;
}

export interface OpSpan {
  readonly name: OpName;
  readonly batch: number;
  readonly stream: 'compute' | 'network';
  readonly startNs: Float64Array;
  readonly endNs: Float64Array;
}

export interface Schedule {
  /** When each rank is done, [rankCount]. */
  readonly endNs: Float64Array;
  readonly spans: readonly OpSpan[];
}

const needs: Readonly<Record<OpName, OpName | null>> = {
  pre: null,
  dispatch: 'pre',
  shared: 'pre',
  experts: 'dispatch',
  combine: 'experts',
  post: 'combine',
};

/** Runs `program` on `rankCount` ranks that all start at 0. */
export function schedule(
  program: readonly Op[],
  batches: readonly MicroBatch[],
  rankCount: number,
): Schedule {
  const clocks = {
    compute: new Float64Array(rankCount),
    network: new Float64Array(rankCount),
  };
  const done = new Map<string, OpSpan>();
  const spans: OpSpan[] = [];
  for (const op of program) {
    const batch = batches[op.batch];
    const exchange = op.name === 'dispatch' || op.name === 'combine';
    const stream = exchange ? 'network' : 'compute';
    const startNs = clocks[stream].slice();
    const waitFor = (ends: Float64Array | undefined) => {
      for (let r = 0; ends !== undefined && r < rankCount; r++) startNs[r] = Math.max(startNs[r], ends[r]);
    };
    const needed = needs[op.name];
    if (needed) waitFor(done.get(needed + op.batch)?.endNs);
    // Results are added to what the shared experts gave, so the end of a layer waits for them too.
    if (op.name === 'post') waitFor(done.get(`shared${op.batch}`)?.endNs);
    if (op.blocking) waitFor(clocks.compute);
    if (op.blocking) waitFor(clocks.network);
    const endNs = exchange ? exchangeEnds(op.name, batch, startNs) : addEach(startNs, local(batch, op.name));
    clocks[stream].set(endNs);
    const span = { name: op.name, batch: op.batch, stream, startNs, endNs } as const;
    done.set(op.name + op.batch, span);
    spans.push(span);
  }
  const endNs = clocks.compute.map((c, r) => Math.max(c, clocks.network[r]));
  return { endNs, spans };
}

function addEach(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(a.length);
  for (let i = 0; i < sum.length; i++) sum[i] = a[i] + b[i];
  return sum;
}

function local(batch: MicroBatch, name: OpName): Float64Array {
  if (name === 'pre' || name === 'shared' || name === 'experts' || name === 'post') return batch[name];
  throw new RangeError(`${name} is an exchange and has no duration of its own`);
}

/** A rank is done when it has sent all, and has all from those who send to it, the last of whom started last. */
function exchangeEnds(
  name: 'dispatch' | 'combine' | OpName,
  batch: MicroBatch,
  startNs: Float64Array,
): Float64Array {
  const ranks = startNs.length;
  const sent = name === 'dispatch' ? batch.dispatchSentNs : batch.combineSentNs;
  const received = name === 'dispatch' ? batch.dispatchReceivedNs : batch.combineReceivedNs;
  const end = new Float64Array(ranks);
  for (let r = 0; r < ranks; r++) {
    let lastStart = startNs[r];
    for (let other = 0; other < ranks; other++) {
      const sends = name === 'dispatch' ? batch.sends[other * ranks + r] : batch.sends[r * ranks + other];
      if (sends && startNs[other] > lastStart) lastStart = startNs[other];
    }
    end[r] = Math.max(startNs[r] + sent[r], lastStart + received[r]);
  }
  return end;
}
