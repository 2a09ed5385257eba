/**
 * How unevenly tokens fall on experts: the scenario's own workload and routing, sampled once and reused for
 * every layout and batch.
 * One idea: one half of the sample is what a placement may know, the other half is what it is timed on.
 * Knows nothing of ranks.
 */
import { catalog } from '@epsim/engine';
import { NO_EXPERT, type RandomSource, randomSource, type Scenario } from '@epsim/spec';

const VIRTUAL_RANKS = 16;
const TOKENS_PER_RANK = 128;
const MOST_LAYERS = 2;
/** Steps that a routing policy with a memory is given to settle; the sample is the step after them. */
const SETTLING_STEPS = 3;

export interface LoadSample {
  readonly expertCount: number;
  readonly topK: number;
  /** Tokens that are timed, in each layer. */
  readonly tokens: number;
  /** Choices of the timed half, one array [tokens x topK] for each sampled layer. */
  readonly choices: readonly Int32Array[];
  /** Choices per expert of the other half, what a placement knows, [expertCount] for each layer. */
  readonly known: readonly Float64Array[];
  /** Sentences: the workload, how many tokens, how they were routed. */
  readonly description: readonly string[];
  /** Choices per expert of batches of `batchTokens`, one array [expertCount] for each layer. */
  counts(batchTokens: number): readonly { readonly layer: number; readonly counts: Int32Array }[];
}

/** Samples the scenario's workload. `readFile` opens traces and load tables that it names. */
export function sampleLoads(scenario: Scenario, readFile?: (path: string) => Uint8Array): LoadSample {
  const { moe } = scenario.model;
  const layers = Math.min(MOST_LAYERS, scenario.model.layers.filter((l) => l.ffn?.kind === 'moe').length);
  const kind = scenario.workload.kind as keyof typeof catalog.workload;
  const workload = catalog.workload[kind].create(
    {
      seed: scenario.seed,
      rankCount: VIRTUAL_RANKS,
      tokensPerRank: TOKENS_PER_RANK,
      expertCount: moe.expertCount,
      topK: moe.topK,
      layers,
      ...(readFile ? { readFile } : {}),
    },
    scenario.workload.options,
  );
  const policy = scenario.routing.policy as keyof typeof catalog.routing;
  const settling = policy === 'top-k' ? 0 : SETTLING_STEPS;
  const choices: Int32Array[] = [];
  const known: Float64Array[] = [];
  for (let layer = 0; layer < layers; layer++) {
    const router = catalog.routing[policy].create(
      { ...moe, rankCount: VIRTUAL_RANKS, seed: scenario.seed, layer },
      scenario.routing.options,
    );
    for (let step = 0; step < settling; step++) router.route(workload.batch(step, layer));
    const { routing } = router.route(workload.batch(settling, layer));
    const half = (routing.experts.length / 2) | 0;
    const boundary = half - (half % routing.width);
    known.push(Float64Array.from(countChoices(routing.experts.subarray(0, boundary), moe.expertCount)));
    choices.push(routing.experts.slice(boundary));
  }
  const width = moe.topK;
  return loadSample(moe.expertCount, width, choices, known, scenario.seed, [
    ...workload.description,
    `loads of ${layers} layers with ${VIRTUAL_RANKS * TOKENS_PER_RANK} tokens each, routed by ${policy}` +
      (settling > 0 ? ` after ${settling} steps` : ''),
  ]);
}

/** A sample from choices that are known already, [tokens x topK] per layer, and from what a placement may know. */
export function loadSample(
  expertCount: number,
  topK: number,
  choices: readonly Int32Array[],
  known: readonly Float64Array[],
  seed: number,
  description: readonly string[],
): LoadSample {
  const tokens = Math.floor(choices[0].length / topK);
  const popularity = choices.map((list) => shrunkPopularity(countChoices(list, expertCount)));
  const kept = new Map<number, ReturnType<LoadSample['counts']>>();
  const draw = (batchTokens: number): ReturnType<LoadSample['counts']> =>
    choices.map((list, layer) => {
      if (batchTokens > tokens) {
        const random = randomSource(seed, 'plan loads', layer, batchTokens);
        return { layer, counts: largeBatch(popularity[layer], batchTokens * topK, random) };
      }
      return { layer, counts: countChoices(list.subarray(0, batchTokens * topK), expertCount) };
    });
  return {
    ...{ expertCount, topK, tokens, choices, known, description },
    counts(batchTokens) {
      const whole = Math.max(1, Math.round(batchTokens));
      const counts = kept.get(whole) ?? draw(whole);
      kept.set(whole, counts);
      return counts;
    },
  };
}

function countChoices(choices: Int32Array, expertCount: number): Int32Array {
  const counts = new Int32Array(expertCount);
  for (const expert of choices) if (expert !== NO_EXPERT) counts[expert]++;
  return counts;
}

/**
 * Shares of the choices, [expertCount], without the noise of counting: what varies beyond a Poisson law is kept,
 * so that a batch a hundred times the sample is not a hundred times as uneven as its popularity.
 */
export function shrunkPopularity(counts: Int32Array): Float64Array {
  let sum = 0;
  for (const count of counts) sum += count;
  const mean = sum / counts.length;
  let square = 0;
  for (const count of counts) square += (count - mean) ** 2;
  const variance = square / counts.length;
  const keep = variance > mean ? Math.sqrt(1 - mean / variance) : 0;
  return Float64Array.from(counts, (count) => (sum === 0 ? 0 : (mean + keep * (count - mean)) / sum));
}

/** Counts of a batch that is larger than the sample: its popularity, and the noise that such a batch has itself. */
function largeBatch(shares: Float64Array, choices: number, random: RandomSource): Int32Array {
  return Int32Array.from(shares, (share) => {
    const mean = share * choices;
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * random.normal()));
  });
}
