/**
 * What a placement policy is given and what it gives back.
 * The one idea: a policy is a pure function from expected loads to slots. Policies that decide per batch
 * have a second function, `split`, from the choices of one batch to how many of them each slot takes.
 * Knows nothing of tokens, bytes or time.
 */
import type { Placement } from '@epsim/spec';
import type { z } from 'zod';

export interface PlacementInput {
  /** Choices expected per expert, [expertCount]. Only ratios matter. */
  readonly loads: Float64Array;
  readonly rankCount: number;
  /** Slots of each rank, [rankCount]; ranks may differ, and a rank may have none. */
  readonly slotsPerRank: Int32Array;
  /** Relative speed of each rank, 1 = nominal, [rankCount]. */
  readonly rankSpeed?: Float64Array;
  /** Ranks joined by the scale-up fabric; rank r is in domain floor(r / domainRanks). */
  readonly domainRanks: number;
  readonly seed: number;
  readonly layer: number;
  /** What is in place now, if anything. */
  readonly previous?: Placement;
  /** Choices of the tokens of each rank per expert, row-major [rankCount x expertCount], when known. */
  readonly rankExpertLoads?: Float64Array;
}

export interface SplitInput {
  /** What the policy's own `place` returned. */
  readonly placement: Placement;
  /** Choices of this batch by source rank, row-major [rankCount x expertCount]. */
  readonly choices: Int32Array;
  readonly domainRanks: number;
  /** Relative speed of each rank, 1 = nominal, [rankCount]. */
  readonly rankSpeed?: Float64Array;
}

/** A placement that may also say in which order its replicas were made. */
export interface PlacedReplicas extends Placement {
  /**
   * Which replica of its expert each slot holds, [slotCount], 0 for the first. Published formats list an
   * expert's slots in this order; absent where the order of the slots themselves is meant.
   */
  readonly slotReplica?: Int32Array;
}

export interface PlacementPolicy {
  readonly summary: string;
  readonly options: z.ZodType;
  /** Throws RangeError on shapes that do not fit and on too few slots, naming the least that are enough. */
  place(input: PlacementInput, options: unknown): PlacedReplicas;
  /**
   * For policies that decide per batch how many choices each slot takes, or even which experts the redundant
   * slots hold this step. The placement returned has `slotQuota`.
   */
  split?(input: SplitInput, options: unknown): Placement;
  /** Slots per rank that the policy needs to keep its promise; `leastSlotsPerRank` where absent. */
  leastSlotsPerRank?(expertCount: number, rankCount: number): number;
  /** To be awaited once before the first `split`, where a policy has something to load. */
  ready?(): Promise<void>;
}
