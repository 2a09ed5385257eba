/**
 * One token's way through a model as plain data: what a journey's page shows and journey.json holds.
 * Its one idea: every part names the run that it was measured in, or says that it was computed from sizes alone,
 * so that figures of a miniature and of a full-size model cannot be taken for one another.
 * Numbers are rounded to five significant digits when the trace is made; the page shows nothing else.
 */

/** Where a part's figures come from: a key of `JourneyTrace.sources`. */
export type SourceName =
  | 'miniature'
  | 'calibration'
  | 'gradient'
  | 'training'
  | 'fullSizePlan'
  | 'fullSizeShape';

export interface StreamPart {
  readonly source: SourceName;
  /** Null for a model that reads text alone. */
  readonly picture: {
    /** Pixels a side, and of one patch. */
    readonly side: number;
    readonly patchSize: number;
    /** Patches a side that become one token together. */
    readonly mergeSize: number;
    readonly encoderLayers: number;
    /** Grey values 0 to 1, row-major [side x side]. */
    readonly pixels: readonly number[];
  } | null;
  readonly tokens: readonly { readonly kind: 'image' | 'text'; readonly label: string }[];
  /** Position of the token that is followed, from 0. */
  readonly focus: number;
  readonly hiddenSize: number;
  /** First values of each token's row as it enters the first layer, [tokens x shown]. */
  readonly rows: readonly (readonly number[])[];
}

export interface LayerRow {
  readonly mixer: 'kda' | 'mla';
  readonly ffn: 'dense' | 'moe';
  /** Root mean square of what the mixer added for the followed token. */
  readonly mixerRms: number;
  /** Floats that the mixer keeps for the sequence at the followed token. */
  readonly keptFloats: number;
}

export interface KdaPart {
  readonly source: SourceName;
  readonly layer: number;
  readonly head: number;
  readonly headCount: number;
  readonly headDim: number;
  /** One entry per token up to the followed one; vectors are [headDim]. */
  readonly tokens: readonly {
    readonly alpha: readonly number[];
    readonly beta: number;
    readonly key: readonly number[];
    readonly value: readonly number[];
    readonly predicted: readonly number[];
    readonly missed: readonly number[];
    readonly read: readonly number[];
    /** State after the token, row-major [headDim x headDim]. */
    readonly state: readonly number[];
  }[];
  /** FP32 bytes of this head's state, and 16-bit bytes that one token adds to a softmax cache of such a head. */
  readonly stateBytes: number;
  readonly cacheBytesPerToken: number;
}

export interface MlaPart {
  readonly source: SourceName;
  readonly layer: number;
  readonly headCount: number;
  readonly latentRank: number;
  readonly sharedKeySize: number;
  /** What the layer read for the followed token, [hidden]. */
  readonly input: readonly number[];
  /** Kept rows of every visible token, [visible][latentRank + sharedKeySize]. */
  readonly kept: readonly (readonly number[])[];
  /** Softmax weights over the visible tokens, [headCount][visible], each row summing to one. */
  readonly weights: readonly (readonly number[])[];
  /** The token that head 0 weighs most, and its key and value as expanded from what is kept. */
  readonly strongest: {
    readonly token: number;
    readonly key: readonly number[];
    readonly value: readonly number[];
  };
  /** Output gate of head 0, 0 to 1, and what the layer gave, [hidden]. */
  readonly gate: readonly number[];
  readonly output: readonly number[];
  /** Largest distance between `output` recomputed from these parts and what the pass gave. */
  readonly recomputedError: number;
}

export interface DepthRow {
  readonly layer: number;
  readonly place: 'attention' | 'ffn' | 'output';
  /** Weights over the sources, summing to one: finished blocks, then the running sum of the one in hand. */
  readonly weights: readonly number[];
}

export interface WidthPart {
  readonly source: SourceName;
  readonly model: string;
  readonly layer: number;
  readonly topK: number;
  /** Of the followed token: score + bias of each expert, [experts]. */
  readonly biased: readonly number[];
  /** Smallest score + bias that was chosen, and the largest that was not. */
  readonly threshold: number;
  readonly runnerUp: number;
  readonly chosen: readonly {
    readonly expert: number;
    readonly score: number;
    readonly bias: number;
    readonly weight: number;
    readonly rank: number;
  }[];
  readonly rankCount: number;
  /** Of the fullest rank. */
  readonly expertsPerRank: number;
  readonly sourceRank: number;
  /** Elements of the row that travels, and its bytes out and back with scales. */
  readonly rowElements: number;
  readonly dispatchRowBytes: number;
  readonly combineRowBytes: number;
  /** Of the followed token: rows that travel, its own rank's included, when a rank gets a row once; and one per choice. */
  readonly rows: number;
  readonly rowsPerChoice: number;
  /** Of the whole batch: bytes out and back, own rank included. */
  readonly batchTokens: number;
  readonly batchBytes: number;
  /** Rows of the batch from each rank to each rank, row-major [ranks x ranks]. */
  readonly rowsPerPair: readonly number[];
  /** Bytes that arrived when the rows really moved; null where they were only planned. */
  readonly carriedBytes: number | null;
}

export interface BalancePart {
  readonly source: SourceName;
  readonly model: string;
  readonly layer: number;
  readonly tokens: number;
  readonly topK: number;
  /** First without bias, then after each round; loads [experts]. */
  readonly rounds: readonly {
    readonly maxVio: number;
    readonly starved: number;
    readonly loads: readonly number[];
  }[];
}

export interface MuonPart {
  readonly source: SourceName;
  readonly layer: number;
  readonly rows: number;
  readonly columns: number;
  readonly blockRows: number;
  /** Mean absolute gradient over squares of `pool` x `pool` elements, row-major. */
  readonly pool: number;
  readonly pooled: readonly number[];
  readonly blocks: readonly { readonly name: string; readonly perHead: number; readonly whole: number }[];
  /** Mean error over blocks before and after each of the five steps. */
  readonly steps: readonly { readonly perHead: number; readonly whole: number }[];
  /** X X^T of the first block after five steps, row-major [blockRows x blockRows]. */
  readonly gramPerHead: readonly number[];
  readonly gramWhole: readonly number[];
  /** FLOPs of the five steps either way. */
  readonly flopsPerHead: number;
  readonly flopsWhole: number;
}

export interface NextTokenPart {
  readonly source: SourceName;
  readonly vocabulary: number;
  /** Likeliest first; `before` is what the same token had with untrained weights, null where these are those. */
  readonly top: readonly {
    readonly label: string;
    readonly probability: number;
    readonly before: number | null;
  }[];
  readonly restProbability: number;
  readonly entropyBits: number;
  readonly temperature: number;
  readonly sampled: string;
}

export interface TrainingPart {
  readonly source: SourceName;
  readonly model: string;
  readonly seed: number;
  readonly tokensPerStep: number;
  readonly runs: readonly {
    readonly name: string;
    /** Mean loss of each step's batch before the step, nats a token; and MaxVio, mean over expert layers. */
    readonly loss: readonly number[];
    readonly maxVio: readonly number[];
  }[];
}

/** A model at full size, from its sizes alone. */
export interface FullSizePart {
  readonly source: SourceName;
  readonly name: string;
  readonly layers: number;
  readonly kdaLayers: number;
  readonly mlaLayers: number;
  readonly groups: number;
  readonly hiddenSize: number;
  readonly vocabulary: number;
  readonly contextTokens: number;
  readonly paramCount: number;
  readonly activeParamCount: number;
  readonly visionLayers: number;
  readonly kdaHeads: number;
  readonly kdaHeadDim: number;
  readonly kdaStateBytes: number;
  readonly mlaLatentRank: number;
  readonly mlaSharedKeySize: number;
  readonly cacheBytesPerToken: number;
  readonly blockLayers: number;
  readonly blockCount: number;
  readonly expertCount: number;
  readonly topK: number;
  readonly expertWidth: number;
  readonly muonFlopsPerHead: number;
  readonly muonFlopsWhole: number;
}

export interface JourneyTrace {
  readonly format: 'epsim-journey-1';
  readonly version: string;
  readonly model: string;
  readonly seed: number;
  /** One sentence on each run or computation that figures come from; null where it did not take place. */
  readonly sources: Readonly<Record<SourceName, string | null>>;
  readonly stream: StreamPart;
  readonly layers: readonly LayerRow[];
  readonly kda: KdaPart;
  readonly mla: MlaPart;
  readonly depth: readonly DepthRow[];
  readonly width: WidthPart;
  readonly balance: BalancePart;
  readonly muon: MuonPart;
  readonly nextToken: NextTokenPart;
  /** After the short run; null where none was made. */
  readonly nextTokenTrained: NextTokenPart | null;
  readonly training: TrainingPart | null;
  readonly fullSize: FullSizePart;
  readonly fullSizeWidth: WidthPart;
  readonly fullSizeBalance: BalancePart;
}
