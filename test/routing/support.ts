/**
 * Batches for routing tests: logits given as rows, split over ranks in any way.
 */
import type { RouterContext, RoutingPolicy } from '@epsim/routing';
import { randomSource, type TokenBatch } from '@epsim/spec';
import fc from 'fast-check';

/** A batch of `logits`, [tokens x expertCount], cut into ranks at `tokenOffsets`. */
export function batchOf(
  logits: Float32Array,
  expertCount: number,
  tokenOffsets: ArrayLike<number> = [0, logits.length / expertCount],
  step = 0,
): TokenBatch {
  const offsets = Int32Array.from(tokenOffsets);
  return {
    step,
    layer: 0,
    expertCount,
    tokenOffsets: offsets,
    readLogits(rank, out) {
      out.set(logits.subarray(offsets[rank] * expertCount, offsets[rank + 1] * expertCount));
    },
  };
}

/** A batch with recorded choices, [tokens x topK], beside its logits. */
export function recordedBatch(
  choices: readonly number[],
  topK: number,
  expertCount: number,
  tokenOffsets: readonly number[],
  logits: Float32Array = new Float32Array((choices.length / topK) * expertCount),
): TokenBatch {
  const batch = batchOf(logits, expertCount, tokenOffsets);
  return {
    ...batch,
    readChoices(rank, out) {
      out.set(choices.slice(tokenOffsets[rank] * topK, tokenOffsets[rank + 1] * topK));
    },
  };
}

export function contextOf(
  expertCount: number,
  topK: number,
  more: Partial<RouterContext> = {},
): RouterContext {
  return {
    expertCount,
    topK,
    scoring: 'sigmoid',
    renormalize: true,
    routedScaling: 1,
    groupCount: 1,
    topGroupCount: 1,
    rankCount: 1,
    seed: 7,
    layer: 0,
    ...more,
  };
}

/** Logits whose experts differ in popularity with deviation `skew`, [tokens x expertCount]. */
export function skewedLogits(seed: number, tokens: number, expertCount: number, skew = 1): Float32Array {
  const source = randomSource(seed, 'test logits');
  const popularity = Float32Array.from({ length: expertCount }, () => skew * source.normal());
  return Float32Array.from(
    { length: tokens * expertCount },
    (_, i) => popularity[i % expertCount] + source.normal(),
  );
}

export interface Case {
  readonly context: RouterContext;
  readonly logits: Float32Array;
  /** Recorded choices that fit the context, [tokens x topK], for policies that replay them. */
  readonly choices: readonly number[];
  readonly tokenOffsets: number[];
}

/** Small layers of any shape: 2 to 24 experts in groups, up to 40 tokens on up to 5 ranks, empty ranks included. */
export const anyCase: fc.Arbitrary<Case> = fc
  .record({
    groupCount: fc.integer({ min: 1, max: 4 }),
    expertsPerGroup: fc.integer({ min: 2, max: 6 }),
    topGroupShare: fc.double({ min: 0, max: 1, noNaN: true }),
    topKShare: fc.double({ min: 0, max: 1, noNaN: true }),
    tokensOfRank: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 5 }),
    seed: fc.integer({ min: 0, max: 1e6 }),
    skew: fc.constantFrom(0, 1, 3),
    scoring: fc.constantFrom(
      'sigmoid' as const,
      'softmax' as const,
      'softmax-over-top-k' as const,
      'sqrt-softplus' as const,
    ),
    renormalize: fc.boolean(),
    routedScaling: fc.constantFrom(1, 2.5),
  })
  .map((shape) => {
    const expertCount = shape.groupCount * shape.expertsPerGroup;
    const topGroupCount = 1 + Math.floor(shape.topGroupShare * (shape.groupCount - 1));
    const topK = 1 + Math.floor(shape.topKShare * (topGroupCount * shape.expertsPerGroup - 1));
    const tokenOffsets = [0];
    for (const tokens of shape.tokensOfRank)
      tokenOffsets.push(tokenOffsets[tokenOffsets.length - 1] + tokens);
    const tokens = tokenOffsets[tokenOffsets.length - 1];
    const { groupCount, scoring, renormalize, routedScaling, seed } = shape;
    return {
      context: contextOf(expertCount, topK, {
        scoring,
        renormalize,
        routedScaling,
        groupCount,
        topGroupCount,
        seed,
        rankCount: shape.tokensOfRank.length,
      }),
      logits: skewedLogits(seed, tokens, expertCount, shape.skew),
      choices: recordedChoices(seed, tokens, topK, expertCount),
      tokenOffsets,
    };
  });

/** Recorded choices with gaps and rows of padding, [tokens x topK]. */
function recordedChoices(seed: number, tokens: number, topK: number, expertCount: number): number[] {
  const source = randomSource(seed, 'test choices');
  return Array.from({ length: tokens }, () => {
    const first = Math.floor(source.uniform() * expertCount);
    const padded = source.uniform() < 0.2;
    return Array.from({ length: topK }, (_, i) =>
      padded || source.uniform() < 0.1 ? -1 : (first + i) % expertCount,
    );
  }).flat();
}

/** The batch of a case, cut into ranks as the case says or at other offsets. */
export function batchOfCase(c: Case, tokenOffsets: readonly number[] = c.tokenOffsets): TokenBatch {
  return recordedBatch(c.choices, c.context.topK, c.context.expertCount, tokenOffsets, c.logits);
}

/** Copies of what a policy answers over `steps` equal batches. */
export function routeSteps(
  policy: RoutingPolicy,
  context: RouterContext,
  batch: TokenBatch,
  steps: number,
  options: unknown = {},
) {
  const router = policy.create(context, options);
  return Array.from({ length: steps }, (_, step) => {
    const { routing, stats, paddedTokens } = router.route({ ...batch, step });
    return {
      ...routing,
      experts: routing.experts.slice(),
      weights: routing.weights.slice(),
      stats,
      paddedTokens,
      bias: router.bias?.slice() ?? null,
    };
  });
}

/** Choices per expert, [expertCount]. */
export function loadsOf(experts: Int32Array, expertCount: number): number[] {
  const loads = new Array<number>(expertCount).fill(0);
  for (const expert of experts) if (expert >= 0) loads[expert]++;
  return loads;
}
