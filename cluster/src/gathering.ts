/**
 * What the shards of one layer tell the coordinator: how far they are, and their results.
 * One idea: a shard is done when its last words have come and all its ranks' results are there; what comes twice,
 * because two workers held the shard, is passed over.
 */
import type { LayerWork } from '@epsim/engine';
import { ClusterFailure, TransportError } from '@epsim/transport';
import {
  Arrivals,
  type Entry,
  FramesLost,
  noRefusals,
  type Piece,
  type RefusalCounts,
} from '@epsim/transport/redis';
import type { z } from 'zod';
import { progressSchema, resultsChannel, type Words, wordsSchema } from './shard-job.js';

export class Gathering {
  /** Results by rank, [tokens x hiddenSize]. */
  readonly outputs: readonly Float32Array[];
  receivedBytes = 0;
  sentBytes = 0;
  private readonly filled: Float64Array;
  private readonly arrivals: Arrivals<number>;
  private readonly refusedByShards = noRefusals();
  /** What each shard is at; absent once it is done. */
  private readonly phases = new Map<number, string>();

  constructor(
    private readonly work: LayerWork,
    run: string,
    beginning: number,
  ) {
    const { hiddenSize } = work.parts[0].spec.model;
    this.outputs = work.plans.map((plan) => new Float32Array(plan.tokenCount * hiddenSize));
    this.filled = new Float64Array(this.outputs.length);
    const shards = work.parts.map((_, shard) => shard);
    for (const shard of shards) this.phases.set(shard, 'dispatch');
    this.arrivals = new Arrivals(
      run,
      new Map(shards.map((shard) => [resultsChannel(beginning, shard), shard])),
    );
  }

  get complete(): boolean {
    return this.phases.size === 0;
  }

  /** The shards that are not done, and what was last heard of them. */
  get missing(): string {
    return [...this.phases].map(([shard, phase]) => `shard ${shard} (last heard of in ${phase})`).join(', ');
  }

  get refused(): RefusalCounts {
    return addRefusals(addRefusals(noRefusals(), this.refusedByShards), this.arrivals.refused);
  }

  /** Takes one entry. Throws FramesLost, ClusterFailure or TransportError for what a shard says went wrong. */
  take({ kind, bytes }: Entry): void {
    if (kind === 'frame') this.results(bytes);
    if (kind === 'words') this.words(bytes);
  }

  /** Takes an entry of the progress that shards made. */
  note({ bytes }: Entry): void {
    const progress = parsed(progressSchema, bytes);
    if (progress !== null && this.phases.has(progress.shard))
      this.phases.set(progress.shard, progress.begins);
  }

  private results(bytes: Buffer): void {
    const taken = this.arrivals.take(bytes);
    if (taken === null || !this.phases.has(taken.from)) return;
    for (const piece of taken.frame.pieces) this.fill(piece, taken.from);
  }

  private fill({ to: rank, offset, bytes }: Piece, shard: number): void {
    const into = new Uint8Array(this.outputs[rank]?.buffer ?? new ArrayBuffer(0));
    const own = this.work.shardOfRank[rank] === shard;
    if (!own || offset !== this.filled[rank] || offset + bytes.length > into.length) {
      throw new FramesLost(`results of rank ${rank} that are not its own`);
    }
    into.set(bytes, offset);
    this.filled[rank] += bytes.length;
  }

  private words(bytes: Buffer): void {
    const words = parsed(wordsSchema, bytes);
    if (words === null || !this.phases.has(words.shard)) return;
    if ('outcome' in words) throw failureOf(words);
    this.done(words);
  }

  private done({ shard, receivedBytes, sentBytes, refused }: Extract<Words, { sentBytes: number }>): void {
    const { firstRank } = this.work.parts[shard].spec;
    for (let rank = firstRank; rank < firstRank + this.work.parts[shard].plans.length; rank++) {
      if (this.filled[rank] !== this.outputs[rank].byteLength) {
        throw new FramesLost(`results of rank ${rank} are not there`);
      }
    }
    this.phases.delete(shard);
    this.receivedBytes += receivedBytes;
    this.sentBytes += sentBytes;
    addRefusals(this.refusedByShards, refused);
  }
}

/** Adds to `sums`, and returns it. */
export function addRefusals(sums: RefusalCounts, more: RefusalCounts): RefusalCounts {
  for (const kind of Object.keys(sums) as (keyof RefusalCounts)[]) sums[kind] += more[kind];
  return sums;
}

/** Null for what does not fit. */
function parsed<T>(schema: z.ZodType<T>, bytes: Buffer): T | null {
  try {
    return schema.parse(JSON.parse(bytes.toString()));
  } catch {
    return null;
  }
}

function failureOf({ shard, phase, outcome, reason }: Extract<Words, { outcome: string }>): Error {
  if (outcome === 'lost') return new FramesLost(`shard ${shard}, ${phase}: ${reason}`);
  if (outcome === 'full') return new ClusterFailure(reason);
  return new TransportError(shard, phase, reason);
}
