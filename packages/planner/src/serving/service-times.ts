/**
 * How long the steps of an instance take, by how much they carry: tables of the time model, read in between.
 * One idea: a queue asks for thousands of steps, the time model answers a dozen sizes.
 */

import type { OverlapName } from '../layer-schedule.js';
import type { Layout } from '../layout.js';
import { BATCHES, chunksOf, type Fidelity, type Pools } from '../pools.js';

/** Times of one instance as a queue sees it. */
export interface ServiceTimes {
  /** Sequences that the instance holds, over all its attention groups. */
  readonly slots: number;
  /** Attention groups: a step is as long as that of its fullest group. */
  readonly groups: number;
  /** Tokens of a request that one decode step yields. */
  readonly tokensPerStep: number;
  /** Nanoseconds of a decode step with so many sequences in the fullest group. */
  decodeNs(sequences: number): number;
  /** Nanoseconds until a chunk of so many prompt tokens in the fullest group leaves the last stage. */
  chunkNs(tokens: number): number;
  /** Nanoseconds until the next chunk may enter. */
  nextChunkNs(tokens: number): number;
  /** Prompt tokens of one group that are computed together at most. */
  readonly chunkTokens: number;
}

/** A table that is exact at its sizes, linear between them, in proportion below the first and beyond the last. */
export function tableOf(sizes: readonly number[], values: readonly number[]): (size: number) => number {
  if (sizes.length === 0 || sizes.length !== values.length) {
    throw new RangeError(`tableOf: ${sizes.length} sizes and ${values.length} values`);
  }
  const last = sizes.length - 1;
  return (size) => {
    if (size <= sizes[0]) return values[0];
    if (size >= sizes[last]) return (values[last] * size) / sizes[last];
    let at = 1;
    while (sizes[at] < size) at++;
    const share = (size - sizes[at - 1]) / (sizes[at] - sizes[at - 1]);
    return values[at - 1] + share * (values[at] - values[at - 1]);
  };
}

/** Tables of the decode steps and chunks of a layout that holds `sequences` in each attention group. */
export function serviceTimes(
  pools: Pools,
  layout: Layout,
  overlap: OverlapName,
  sequences: number,
  chunkTokens: number,
  fidelity: Fidelity,
): ServiceTimes {
  const { engine } = pools.plan;
  const batches = [...new Set([...BATCHES.filter((n) => n < sequences), sequences])];
  const decode = batches.map(
    (n) => pools.decode(layout, n, overlap, fidelity).tpotNs * engine.acceptedTokens,
  );
  // The prompt that objectives are held to is a size of its own, so that its bound is what the queue gives it.
  const { rest } = chunksOf(pools.promptTokens, chunkTokens);
  const sizes = new Set([chunkTokens / 8, chunkTokens / 4, chunkTokens / 2, rest, chunkTokens]);
  const chunks = [...sizes].sort((a, b) => a - b);
  const timed = chunks.map((n) => pools.chunk(layout, n, overlap, fidelity));
  const enter = timed.map(({ enterNs }) => enterNs);
  const leave = timed.map(({ leaveNs }) => leaveNs);
  return {
    slots: sequences * layout.attentionData,
    groups: layout.attentionData,
    tokensPerStep: engine.acceptedTokens,
    decodeNs: tableOf(batches, decode),
    chunkNs: tableOf(chunks, leave),
    nextChunkNs: tableOf(chunks, enter),
    chunkTokens,
  };
}
