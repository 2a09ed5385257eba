/** What the tests of workloads share: plain top-k by sorting, and measures of loads. */
import type { TokenBatch } from '@epsim/spec';
import type { WorkloadContext } from '@epsim/workload';

export const k3: WorkloadContext = {
  seed: 7,
  rankCount: 4,
  tokensPerRank: 256,
  expertCount: 896,
  topK: 16,
  layers: 4,
};

export const small: WorkloadContext = {
  seed: 3,
  rankCount: 4,
  tokensPerRank: 64,
  expertCount: 32,
  topK: 4,
  layers: 3,
};

export function logitsOf(batch: TokenBatch, rank: number): Float32Array {
  const tokens = batch.tokenOffsets[rank + 1] - batch.tokenOffsets[rank];
  const out = new Float32Array(tokens * batch.expertCount);
  batch.readLogits(rank, out);
  return out;
}

/** The k best of each row by sorting, ties to the lower expert, row-major [tokens x k]. */
export function topK(logits: Float32Array, expertCount: number, k: number): Int32Array {
  const tokens = logits.length / expertCount;
  const out = new Int32Array(tokens * k);
  const order = Int32Array.from({ length: expertCount }, (_, e) => e);
  for (let token = 0; token < tokens; token++) {
    const row = logits.subarray(token * expertCount, (token + 1) * expertCount);
    const sorted = order.slice().sort((a, b) => row[b] - row[a] || a - b);
    out.set(sorted.subarray(0, k), token * k);
  }
  return out;
}

/** Choices per expert of a whole batch under plain top-k, [expertCount]. */
export function loadsOf(batch: TokenBatch, k: number): Float64Array {
  const loads = new Float64Array(batch.expertCount);
  for (let rank = 0; rank + 1 < batch.tokenOffsets.length; rank++) {
    for (const expert of fastTopK(logitsOf(batch, rank), batch.expertCount, k)) loads[expert]++;
  }
  return loads;
}

/** As topK, by insertion; for large batches. */
function fastTopK(logits: Float32Array, expertCount: number, k: number): Int32Array {
  const tokens = logits.length / expertCount;
  const out = new Int32Array(tokens * k);
  for (let token = 0; token < tokens; token++) {
    const row = logits.subarray(token * expertCount, (token + 1) * expertCount);
    const best = out.subarray(token * k, (token + 1) * k);
    for (let e = 0; e < expertCount; e++) {
      if (e >= k && !(row[e] > row[best[k - 1]])) continue;
      let place = Math.min(e, k - 1);
      for (; place > 0 && row[best[place - 1]] < row[e]; place--) best[place] = best[place - 1];
      best[place] = e;
    }
  }
  return out;
}

export function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

export function maxOverMean(values: ArrayLike<number>): number {
  return (Math.max(...Array.from(values)) * values.length) / sum(values);
}

/** Loads of ranks that hold equal runs of experts. */
export function rankLoads(loads: Float64Array, rankCount: number): Float64Array {
  const each = loads.length / rankCount;
  return Float64Array.from({ length: rankCount }, (_, r) => sum(loads.subarray(r * each, (r + 1) * each)));
}

export function correlation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const meanA = sum(a) / a.length;
  const meanB = sum(b) / b.length;
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - meanA) * (b[i] - meanB);
    aa += (a[i] - meanA) ** 2;
    bb += (b[i] - meanB) ** 2;
  }
  return ab / Math.sqrt(aa * bb);
}
