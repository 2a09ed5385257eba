/**
 * The sizes of a mixture-of-experts language model: everything that routing, bytes, memory and time need.
 * Sizes only; no weights, and no opinion about which rank holds what.
 */

/** Storage of one tensor class: `bits` per element plus one scale of `scaleBits` per `groupSize` elements. */
export interface Precision {
  readonly name: 'bf16' | 'fp32' | 'fp8' | 'mxfp8' | 'mxfp4' | 'nvfp4' | 'int8' | 'int4';
  /** Bits of one stored element, scales apart. */
  readonly bits: number;
  /** Elements that share a scale; 0 when there is none. A two-dimensional block counts its product (128 x 128 = 16384). */
  readonly groupSize: number;
  readonly scaleBits: number;
}

export type Activation = 'swiglu' | 'situ' | 'gelu' | 'relu2';

export type AttentionShape =
  | {
      /** Multi-head latent attention: only [kvLoraRank + ropeHeadDim] elements per token are cached. */
      readonly kind: 'mla';
      readonly headCount: number;
      /** Rank of the query's low-rank path; null when queries are projected directly. */
      readonly qLoraRank: number | null;
      readonly kvLoraRank: number;
      readonly nopeHeadDim: number;
      readonly ropeHeadDim: number;
      readonly valueHeadDim: number;
      readonly outputGate: boolean;
      /** Sparse-attention indexer (DeepSeek-V3.2, GLM-5), or null. */
      readonly indexer: {
        readonly headCount: number;
        readonly headDim: number;
        readonly topK: number;
      } | null;
    }
  | {
      /** Grouped-query attention. `windowTokens` null attends to the whole prefix. */
      readonly kind: 'gqa';
      readonly headCount: number;
      readonly kvHeadCount: number;
      readonly headDim: number;
      readonly windowTokens: number | null;
      readonly outputGate: boolean;
      readonly bias: boolean;
      readonly qkNorm: boolean;
      /** One learned sink logit per head (gpt-oss). */
      readonly sinks: boolean;
    }
  | {
      /**
       * Multi-query attention whose one head is key and value at once (DeepSeek-V4): over a window of the last tokens
       * and over blocks of older ones, each pooled into one entry. Heads are projected out in groups of low rank.
       */
      readonly kind: 'shared-kv-mqa';
      readonly headCount: number;
      /** Width of a query and of the shared key-value, the rotary part included. */
      readonly headDim: number;
      readonly ropeHeadDim: number;
      readonly qLoraRank: number;
      /** Groups of heads, each projected to `outputLoraRank` before all of them are joined. */
      readonly outputGroupCount: number;
      readonly outputLoraRank: number;
      readonly windowTokens: number;
      /** Null where the window is all that is seen. */
      readonly compression: {
        /** Tokens of a block. */
        readonly ratio: number;
        /** True when a block is pooled together with the one before it (compressed sparse attention). */
        readonly overlapping: boolean;
        /** Picks `topK` blocks with blocks of its own keys; null attends to all (heavily compressed attention). */
        readonly indexer: {
          readonly headCount: number;
          readonly headDim: number;
          readonly topK: number;
        } | null;
      } | null;
    }
  | {
      /** Kimi Delta Attention: a state of [headCount, keyHeadDim, valueHeadDim] per sequence, whatever its length. */
      readonly kind: 'kda';
      readonly headCount: number;
      readonly headDim: number;
      readonly convSize: number;
      readonly gateRank: number;
      readonly fullRankOutputGate: boolean;
      /** Lower bound of the log decay (K3: -5), or null when unbounded. */
      readonly logDecayBound: number | null;
    }
  | {
      /** Gated DeltaNet (Qwen3.5). */
      readonly kind: 'gated-delta-net';
      readonly keyHeadCount: number;
      readonly valueHeadCount: number;
      readonly headDim: number;
      readonly convSize: number;
    }
  | {
      /** Mamba-2 mixer (Nemotron-3). */
      readonly kind: 'mamba2';
      readonly headCount: number;
      readonly headDim: number;
      readonly groupCount: number;
      readonly stateSize: number;
      readonly convSize: number;
    };

export interface DenseShape {
  readonly kind: 'dense';
  readonly innerSize: number;
}

/** A layer of experts. All layers of experts of a model share one shape. */
export interface MoeShape {
  readonly kind: 'moe';
  readonly expertCount: number;
  readonly topK: number;
  /** Width of the rows that travel to experts: the latent width where there is one, else the hidden size. */
  readonly expertWidth: number;
  readonly expertInnerSize: number;
  /** True when down- and up-projection surround the experts (expertWidth < hiddenSize). */
  readonly latent: boolean;
  /** RMSNorm on the combined latent before the up-projection (K3). */
  readonly latentNorm: boolean;
  readonly sharedExpertCount: number;
  /** Inner size of one shared expert; they run at full hidden width. */
  readonly sharedInnerSize: number;
  readonly scoring: 'sigmoid' | 'softmax' | 'softmax-over-top-k' | 'sqrt-softplus';
  /** Gate weights of the chosen experts are divided by their sum. */
  readonly renormalize: boolean;
  readonly routedScaling: number;
  /** A bias added for selection only. */
  readonly selectionBias: boolean;
  /** Groups of experts and how many of them a token may use; 1 and 1 when there is no limit. */
  readonly groupCount: number;
  readonly topGroupCount: number;
  /** True when expert and router matrices carry biases (gpt-oss). */
  readonly bias: boolean;
  /** False when an expert has up and down only (relu2: Nemotron), true for gate, up and down. */
  readonly gated: boolean;
}

export interface LayerShape {
  /** Null where the layer has no mixer of its own (Nemotron's expert layers). */
  readonly attention: AttentionShape | null;
  readonly ffn: DenseShape | MoeShape | null;
}

export interface VisionShape {
  readonly layerCount: number;
  readonly hiddenSize: number;
  readonly innerSize: number;
  readonly headCount: number;
  readonly headDim: number;
  readonly patchSize: number;
  readonly mergeSize: number;
  /** Learned positions: grid side and frames, [side x side] table plus frames. */
  readonly positionGrid: number;
  readonly projectorInnerSize: number;
}

export interface ModelShape {
  readonly name: string;
  /** Where the sizes come from: a configuration's address, or the file the user named. */
  readonly source: string;
  readonly hiddenSize: number;
  readonly vocabSize: number;
  readonly contextTokens: number;
  readonly tiedEmbeddings: boolean;
  readonly activation: Activation;
  /** Soft bounds of SiTU-GLU's two branches; null for the other activations. */
  readonly situ: { readonly gateBound: number; readonly upBound: number | null } | null;
  /** One entry per layer, first to last. */
  readonly layers: readonly LayerShape[];
  /** The shape that every layer of experts shares. Equal to the `ffn` of those layers. */
  readonly moe: MoeShape;
  /** Layers per block of block attention residuals (K3: 12), or null for ordinary residuals. */
  readonly attnResBlockLayers: number | null;
  /** Parallel residual streams of hyper-connections (DeepSeek-V4: 4); 1 for an ordinary residual. */
  readonly residualStreams: number;
  /** Multi-token-prediction layers appended to the model. */
  readonly mtpLayerCount: number;
  readonly vision: VisionShape | null;
  readonly precision: { readonly routedExperts: Precision; readonly rest: Precision };
  /** What the reader had to assume, one sentence each ("precision not stated: BF16 assumed"). */
  readonly assumptions: readonly string[];
}
