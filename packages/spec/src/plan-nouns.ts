/**
 * What flows through a step: scores, choices, slots and the plan that joins them.
 * A token is a row index, never an object. Rows of all ranks lie one after another in rank order.
 */

/** Expert id of a choice that was dropped or is padding. */
export const NO_EXPERT = -1;

/**
 * The router's view of one layer of one step: logits for the tokens of every source rank.
 * Read in chunks of one rank, so that memory does not grow with the number of ranks.
 * The same batch may be read any number of times and gives the same values.
 */
export interface TokenBatch {
  readonly step: number;
  readonly layer: number;
  readonly expertCount: number;
  /** Rows of rank r are tokenOffsets[r] .. tokenOffsets[r + 1], [rankCount + 1]. */
  readonly tokenOffsets: Int32Array;
  /** Writes the router logits of one rank's tokens, row-major [tokens of the rank x expertCount], into `out`. */
  readLogits(rank: number, out: Float32Array): void;
  /**
   * Writes choices recorded from a real model, [tokens of the rank x topK], NO_EXPERT where padded.
   * Absent for synthetic batches.
   */
  readonly readChoices?: (rank: number, out: Int32Array) => void;
}

/** Which experts each token uses, and with what weight. */
export interface Routing {
  readonly expertCount: number;
  /** Choices that the model asks of each token. */
  readonly topK: number;
  /** Choices that a row has room for: topK, or more where a policy lets experts choose tokens. */
  readonly width: number;
  /** [rankCount + 1] */
  readonly tokenOffsets: Int32Array;
  /** Expert of each choice, [tokens x width], NO_EXPERT where there is none. */
  readonly experts: Int32Array;
  /** Gate weight of each choice, [tokens x width], 0 where there is none. */
  readonly weights: Float32Array;
  /** Choices dropped: tokens x topK - choices made. */
  readonly droppedChoices: number;
}

/** Which expert each slot holds, for one layer. Ranks may have different numbers of slots. */
export interface Placement {
  readonly rankCount: number;
  readonly expertCount: number;
  /** Slots of rank r are slotOffsets[r] .. slotOffsets[r + 1], [rankCount + 1]. */
  readonly slotOffsets: Int32Array;
  /** Expert of each slot, [slotCount]; NO_EXPERT for a slot left empty. */
  readonly slotExpert: Int32Array;
  /**
   * Choices that each slot is to take this step, [slotCount], where a policy decides that per batch;
   * absent when replicas share evenly. Sums per expert to that expert's choices.
   */
  readonly slotQuota?: Int32Array;
}

/** One layer of one step: where every choice goes, and what that moves. */
export interface DispatchPlan {
  readonly rankCount: number;
  readonly routing: Routing;
  readonly placement: Placement;
  /** Slot of each choice, [tokens x width], NO_EXPERT where the choice is none. */
  readonly slotOfChoice: Int32Array;
  /** Choices computed in each slot, [slotCount]. */
  readonly tokensPerSlot: Int32Array;
  /** Choices of tokens of rank s computed on rank d, row-major [rankCount x rankCount], s then d. */
  readonly choicesPerPair: Int32Array;
  /** Rows that travel from s to d, [rankCount x rankCount]; fewer than choices when a row travels once per rank. */
  readonly rowsPerPair: Int32Array;
  /** Bytes from s to d on the way out, and from d to s on the way back at index [s, d], [rankCount x rankCount]. */
  readonly dispatchBytes: Float64Array;
  readonly combineBytes: Float64Array;
}
