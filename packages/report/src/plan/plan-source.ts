/**
 * What charts of a capacity plan are drawn from: plain figures of layouts, whoever found them.
 * A part that is absent leaves its chart out.
 */
import type { Provenance } from '@epsim/spec';

export interface FrontierPoint {
  /** The layout in few words: "EP64 x DP64". */
  readonly label: string;
  readonly tokensPerSecPerRank: number;
  /** 1e9 / TPOT in ns. */
  readonly tokensPerSecPerUser: number;
  /** Half-width of the error as a fraction; null when nobody has measured it. */
  readonly relErrorBar: number | null;
  readonly onFrontier: boolean;
}

/** Memory of one rank of a layout, by tensor class. */
export interface MemoryStack {
  readonly label: string;
  readonly parts: Readonly<Record<string, number>>;
}

/** Time of one step of a layout, by phase. */
export interface StepBreakdown {
  readonly label: string;
  readonly phases: Readonly<Record<string, { readonly ns: number; readonly provenance: Provenance }>>;
}

export interface PlanSource {
  /** Model, cluster and objective, for the line under the title. */
  readonly about: string;
  readonly points: readonly FrontierPoint[];
  readonly memory?: { readonly stacks: readonly MemoryStack[]; readonly limitBytes: number };
  readonly steps?: readonly StepBreakdown[];
  /** Accelerators that the best layout needs at each rate. */
  readonly fleet?: readonly { readonly requestsPerSec: number; readonly rankCount: number }[];
}
