/**
 * What a plan says: layouts with their figures, the frontier, the chosen one in full, what was assumed.
 */
import type { PlanRequest } from '@epsim/spec';
import type { ComparedLayout, FleetAtRate } from './comparison.js';
import type { Fleet } from './economics.js';
import type { FigureBars, PlanErrors } from './errors/plan-errors.js';
import type { LauncherName } from './launch/index.js';
import type { Launch, LaunchPool } from './launch/launcher.js';
import type { OverlapName } from './layer-schedule.js';
import type { Layout } from './layout.js';
import type { RankMemory } from './memory.js';
import type { Miss } from './objectives.js';
import type { Serving } from './search.js';
import type { Sensitivity } from './sensitivity.js';
import type { UnderLoad } from './serving/under-load.js';
import type { StepParts } from './step-time.js';

export interface PlannedPool {
  readonly layout: string;
  readonly degrees: Layout;
  readonly ranks: number;
}

/** One layout with the largest batch that meets the objectives, or the one that misses them least. */
export interface PlannedLayout extends PlannedPool {
  readonly feasible: boolean;
  /** What is missed, or why nothing can be loaded. */
  readonly why?: string;
  /** The nearest layout that is feasible. */
  readonly change?: string;
  /** Prefill and decode in pools of their own, or together. */
  readonly serving: Serving;
  readonly prefill:
    | (PlannedPool & { readonly chunkTokens: number; readonly instancesPerDecode: number })
    | null;
  /** Micro-batch overlap: a name in the engine's registry. */
  readonly overlap: OverlapName | null;
  /** Resident sequences of each attention group. */
  readonly sequencesPerGroup: number | null;
  /** The asked quantile where `simulated`, else that of a prompt alone on an idle instance: a lower bound. */
  readonly ttftNs: number | null;
  /** Of an instance that is full. */
  readonly tpotNs: number | null;
  readonly tokensPerSecPerRank: number | null;
  readonly tokensPerSecPerUser: number | null;
  readonly memoryBytesPerRank: number | null;
  readonly costPerMillionTokens: number | null;
  readonly rankHoursPerMillionTokens: number | null;
  readonly watts: number | null;
  readonly fleet: Fleet | null;
  /** Of tokens per second and rank: nine of ten published figures would lie within such a fraction. */
  readonly relErrorBar: number | null;
  /** The same of each figure, by its name here; and which part of a step adds most to it. */
  readonly relErrorBars: FigureBars | null;
  readonly errorFrom: string | null;
  /** False where only the lower bound of its time was computed. */
  readonly refined: boolean;
  /** Quantiles under the asked load; null where only bounds speak for the layout. */
  readonly simulated: Pick<UnderLoad, 'ratePerSec' | 'ttftNs' | 'tpotNs' | 'slotFraction'> | null;
}

export interface FrontierLayout {
  readonly layout: string;
  readonly serving: Serving;
  readonly sequencesPerGroup: number;
  readonly tokensPerSecPerRank: number;
  readonly tokensPerSecPerUser: number;
  readonly relErrorBar: number | null;
}

/** The chosen layout in full. */
export interface PlanDetail {
  readonly memory: RankMemory & { readonly usableBytes: number };
  /** Of one decode step: ns by what they go into; overlapped parts count in full. */
  readonly stepNs: number;
  readonly step: StepParts;
  readonly prefillStep: StepParts | null;
  /** Under its load, requests waiting for one another. */
  readonly underLoad: UnderLoad;
  /** How certain the time to the first token, that between tokens, and what both make are. */
  readonly errors: Pick<PlanErrors, 'decode' | 'prefill' | 'both'>;
  readonly notes: readonly string[];
  readonly sensitivity: readonly Sensitivity[];
  /** Launch arguments by engine, for each pool, prefill first. */
  readonly launch: readonly {
    readonly pool: LaunchPool;
    readonly engines: Readonly<Record<LauncherName, Launch>>;
  }[];
}

export interface CapacityPlan {
  readonly scenario: string;
  readonly model: {
    readonly name: string;
    readonly paramCount: number;
    readonly activeParamCount: number;
    readonly checkpointBytes: number;
  };
  readonly cluster: { readonly name: string; readonly device: string; readonly mostRanks: number };
  readonly request: PlanRequest;
  readonly feasible: boolean;
  /** Best first; where nothing is feasible, the closest first. */
  readonly layouts: readonly PlannedLayout[];
  /** Feasible points of speed and throughput that nothing beats in both, slow ones first. */
  readonly frontier: readonly FrontierLayout[];
  /** Some of the other feasible points. */
  readonly points: readonly FrontierLayout[];
  readonly best: PlanDetail | null;
  /** The best layouts side by side; empty where nothing is feasible. */
  readonly compared: readonly ComparedLayout[];
  /** Ranks of the best layout's fleet at other rates; empty where nothing is feasible. */
  readonly fleetByRate: readonly FleetAtRate[];
  /** Where nothing is feasible: what the closest layout misses, and what would have to be allowed. */
  readonly closest: {
    readonly layout: string;
    readonly misses: readonly Miss[];
    readonly allow: readonly string[];
  } | null;
  readonly searched: {
    readonly candidates: number;
    readonly refused: number;
    readonly timed: number;
    readonly refined: number;
  };
  readonly assumptions: readonly string[];
  readonly sources: Readonly<Record<string, string>>;
}
