/**
 * A scenario after reading: every name resolved, every value in base units, nothing left to default.
 */
import type { ClusterSpec } from './cluster-spec.js';
import type { ModelShape } from './model-shape.js';
import type { Vary } from './scenario-vary.js';

/** A choice from a registry with the options that its own schema accepted. */
export interface Choice {
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export type WireFormat = 'bf16' | 'fp32' | 'fp8' | 'mxfp8' | 'mxfp4';

/** What a fleet has to serve, how well, and with how much: the `plan` section. Null means: no such demand. */
export interface PlanRequest {
  readonly requests: {
    /** Means over requests. */
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Standard deviation over mean of both lengths. */
    readonly spread: number;
    /** Share of prompt tokens whose cache is found, and which are not computed. */
    readonly cacheHitRate: number;
    readonly ratePerSec: number | null;
    readonly users: number | null;
  };
  readonly objectives: {
    readonly ttftNs: number | null;
    readonly tpotNs: number | null;
    readonly tokensPerSecPerUser: number | null;
    /** US dollars for a million output tokens. */
    readonly costPerMillionTokens: number | null;
    readonly watts: number | null;
    /** Quantile that TTFT and TPOT are held to under load. */
    readonly quantile: number | null;
  };
  readonly limits: {
    /** Of one instance. */
    readonly ranks: number | null;
    readonly nodes: number | null;
    readonly fleetRanks: number | null;
  };
  readonly engine: {
    readonly serving: 'split' | 'together' | 'either';
    readonly cacheFormat: 'bf16' | 'fp8';
    readonly windows: 'kept' | 'unified';
    readonly memoryFraction: number;
    readonly reserveBytes: number;
    readonly chunkTokens: number;
    readonly mtpLayers: number;
    readonly acceptedTokens: number;
    readonly stepOverheadNs: number;
  };
  /** What a training step is, where the scenario's phase is `train`. */
  readonly training: {
    readonly sequenceTokens: number;
    readonly globalBatchTokens: number;
    /** Sequences of one attention group that pass a stage together. */
    readonly microBatchSequences: number;
    readonly optimizer: 'per-head-muon' | 'muon' | 'adamw';
    /** Whether the forward pass is computed again during the backward pass instead of being stored. */
    readonly recompute: boolean;
  };
  /** Of one accelerator; null takes the cluster's. */
  readonly dollarsPerHour: number | null;
}

export interface Scenario {
  readonly name: string;
  readonly seed: number;
  readonly model: ModelShape;
  readonly phase: 'prefill' | 'decode' | 'train';
  readonly cluster: ClusterSpec;
  readonly workload: {
    /** A name in workload's registry: `synthetic`, `trace`, `loads`, ... */
    readonly kind: string;
    readonly tokensPerRank: number;
    /** Where tokens come from and how they lean; validated by workload's own schema. */
    readonly options: Readonly<Record<string, unknown>>;
  };
  readonly routing: Choice & {
    /** A second policy that routes the same tokens for comparison ('top-k' unless said, null for none or itself). */
    readonly baseline: string | null;
  };
  readonly placement: Choice & {
    /** Slots of every rank, or of each, [rankCount]; null lets the policy take the smallest legal number. */
    readonly slotsPerRank: number | readonly number[] | null;
    /** Slots of all ranks, a remainder to the first ones; null where slotsPerRank says it. */
    readonly slots: number | null;
    /** Steps between placements; 0 places once. */
    readonly everySteps: number;
    /** Steps whose loads a placement is made from; null takes everySteps. */
    readonly windowSteps: number | null;
    /** Steps between the end of that window and the first step on the new placement. */
    readonly staleSteps: number;
    /** A blocking move stops the steps; one in the background holds up the exchanges that it meets. */
    readonly move: 'blocking' | 'background';
  };
  readonly dispatch: {
    readonly kind: 'per-expert' | 'per-rank' | 'per-node';
    readonly dispatchFormat: WireFormat;
    readonly combineFormat: WireFormat;
    /** Which replica a choice goes to when there are several. */
    readonly replica: 'round-robin' | 'nearest';
  };
  readonly steps: number;
  /** Layers of experts that are simulated, at most the model's own. */
  readonly layers: number;
  /** The network model that turns bytes into time: a name in network's registry. */
  readonly time: {
    readonly network: string;
    /** A name in the engine's registry of overlaps; null where a plan may take the best, and a run takes none. */
    readonly overlap: string | null;
    /** The kernels that move rows: a name in the engine's registry of exchanges. */
    readonly exchange: string;
  };
  /** The real run beside it; null for time only. */
  readonly carry: {
    readonly tokensPerRank: number;
    readonly expertInnerSize: number;
    readonly workers: number;
    /** How many of the last steps are carried. */
    readonly steps: number;
    /** How many of the last steps are compared with the single-process reference. */
    readonly checkSteps: number;
    /** Rows in the wire formats of `dispatch`, or in FP32, which leaves only the order of sums to differ. */
    readonly rows: 'fp32' | 'wire';
    readonly transport: 'inline' | 'thread' | 'redis';
  } | null;
  /** What capacity planning is asked; null where nothing is to be planned. */
  readonly plan: PlanRequest | null;
  /** The points of a comparison or sweep of this scenario; null where nothing varies. */
  readonly vary: Vary | null;
}
