/**
 * What a routing policy is: a summary, a schema of options, and a maker of routers.
 * One router serves one layer for all steps; it holds the bias and nothing about where experts live.
 */
import type { MoeShape, Routing, RoutingStats, TokenBatch } from '@epsim/spec';
import type { z } from 'zod';
import type { RoutingArena } from './arena.js';

/** The shape of one layer of experts, as far as routing needs it. */
export interface RouterContext {
  readonly expertCount: number;
  readonly topK: number;
  readonly scoring: MoeShape['scoring'];
  readonly renormalize: boolean;
  readonly routedScaling: number;
  readonly groupCount: number;
  readonly topGroupCount: number;
  readonly rankCount: number;
  readonly seed: number;
  readonly layer: number;
  /** Selection bias that the model starts with, [expertCount]; zeros when absent. */
  readonly initialBias?: Float32Array;
  /**
   * Large arrays that the routers of several layers may share, so that memory does not grow with layers.
   * A Routing is then valid until the next call of any of them. Absent: the router has its own.
   */
  readonly arena?: RoutingArena;
}

export interface RouteResult {
  readonly routing: Routing;
  readonly stats: RoutingStats;
  /**
   * Rows that only pad the batch: those whose recorded choices are all NO_EXPERT, under any policy.
   * routing.droppedChoices counts their choices, stats.droppedChoices does not.
   */
  readonly paddedTokens: number;
}

export interface Router {
  /**
   * Routes the whole batch of one layer and step, then moves the bias for the next step.
   * The result is valid until the next call: its arrays are reused.
   * Throws RangeError when the batch does not fit the context or holds a row that cannot be ranked (NaN), and
   * UserError when the workload cannot be routed this way.
   */
  route(batch: TokenBatch): RouteResult;
  /** Selection bias that the next step will use, [expertCount], or null where the policy has none. */
  readonly bias: Float32Array | null;
}

/** A registry entry. `options` is what `create` accepts; defaults are filled in by the schema. */
export interface RoutingPolicy {
  readonly summary: string;
  readonly options: z.ZodType;
  create(context: RouterContext, options: unknown): Router;
}

/**
 * A policy whose `create` sees parsed options; the registry sees `unknown`.
 * `create` of the result throws what the schema throws, RangeError for a context that no layer can have, and UserError
 * for options that do not fit this layer.
 */
export function definePolicy<Schema extends z.ZodType>(policy: {
  readonly summary: string;
  readonly options: Schema;
  readonly create: (context: RouterContext, options: z.output<Schema>) => Router;
}): RoutingPolicy {
  return {
    summary: policy.summary,
    options: policy.options,
    create(context, options) {
      checkContext(context);
      return policy.create(context, policy.options.parse(options ?? {}));
    },
  };
}

function checkContext({ expertCount, topK, initialBias }: RouterContext): void {
  if (!Number.isInteger(expertCount) || !Number.isInteger(topK) || topK < 1 || topK > expertCount) {
    throw new RangeError(`top-k must lie between 1 and the number of experts: ${topK} of ${expertCount}`);
  }
  if (initialBias && initialBias.length !== expertCount) {
    throw new RangeError(`initial bias has ${initialBias.length} entries for ${expertCount} experts`);
  }
}
