/**
 * One line of `records.jsonl`: what one layer of one step did.
 * Times are nanoseconds, bytes are bytes, loads are choices.
 */
import type { Estimate } from './provenance.js';

/** How unevenly a load falls, in every definition that other tools print. All over the same loads. */
export interface LoadMeasures {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  /** Megatron: max / mean. */
  readonly maxOverMean: number;
  /** vLLM, SGLang, EPLB "balancedness": mean / max. */
  readonly meanOverMax: number;
  /** TensorRT-LLM "imbalance ratio": (max - mean) / mean. Also MaxVio. */
  readonly maxMinusMeanOverMean: number;
  /** Coefficient of variation: standard deviation (of the population) / mean. */
  readonly cv: number;
  readonly gini: number;
  /** Shannon entropy of the shares, divided by ln(count): 1 = even. */
  readonly entropy: number;
  /** Entries with no load at all. */
  readonly zeroCount: number;
}

/** What a routing policy reports about the batch it has just routed. */
export interface RoutingStats {
  readonly droppedChoices: number;
  /** Chosen unbiased score mass over that of plain top-k on the same scores. */
  readonly scoreRetention: number;
  /** Fraction of choices that plain top-k would not have made. */
  readonly changedChoices: number;
  /** Largest |bias now - bias before this step's update|. */
  readonly biasDrift: number;
}

export interface StepRecord {
  readonly step: number;
  readonly layer: number;
  /** Rows that are real, and rows that only pad the batch. */
  readonly tokens: number;
  readonly paddedTokens: number;
  readonly routing: RoutingStats;
  /** Choices per expert, [expertCount]. */
  readonly expertLoad: readonly number[];
  readonly expertLoadMeasures: LoadMeasures;
  /** MaxVio that perfectly balanced random assignment of the same tokens would show: sqrt(2 ln E / tokens per expert). */
  readonly maxVioFloor: number;
  /** Choices per rank, [rankCount]. */
  readonly rankLoad: readonly number[];
  readonly rankLoadMeasures: LoadMeasures;
  /** Experts with at least one token, per rank, [rankCount]. */
  readonly activatedExperts: readonly number[];
  readonly bytes: {
    readonly dispatch: number;
    readonly combine: number;
    /** Of dispatch + combine: within a domain, between domains, and never leaving a rank. */
    readonly scaleUp: number;
    readonly scaleOut: number;
    readonly local: number;
    /** Rows sent per choice: 1 = nothing saved by sending a row once per rank. */
    readonly dedupRatio: number;
    readonly byLinkMax: { readonly link: string; readonly bytes: number };
  };
  /** Experts' weights that a placement change moved before this layer ran. */
  readonly move: { readonly slots: number; readonly bytes: number; readonly ns: number };
  readonly timed: {
    readonly stepNs: number;
    readonly phases: Readonly<Record<string, Estimate>>;
    /** Mean over ranks of the fraction of the layer that a rank waits for the slowest. */
    readonly stragglerIdleFraction: number;
  } | null;
  /** The same tokens under the scenario's baseline policy on the same placement, or null. */
  readonly baseline: {
    readonly policy: string;
    readonly expertLoadMeasures: LoadMeasures;
    readonly rankLoadMeasures: LoadMeasures;
    /** Null where nothing is timed. */
    readonly stepNs: number | null;
  } | null;
  readonly carried: {
    readonly tokens: number;
    /** Largest |result - reference| and that over the largest |reference|; null where they were not compared. */
    readonly maxAbsError: number | null;
    readonly maxRelError: number | null;
    /** Bytes counted where rows arrived; equal to the carried plan's. */
    readonly receivedBytes: number;
    /** Hash of the bits of the result, the same whatever carried it. */
    readonly outputHash: string;
  } | null;
}
