/**
 * A planned pool as launch arguments of an engine: text to copy, not a promise that the engine can run the model.
 * One idea: what an engine cannot say is named instead of being dropped.
 */
import type { Layout } from '../layout.js';

/** One pool of a plan, in what engines ask for. */
export interface LaunchPool {
  readonly role: 'prefill' | 'decode' | 'both';
  readonly layout: Layout;
  /** Resident sequences of one attention group. */
  readonly sequencesPerGroup: number;
  /** Prompt tokens that one attention group computes together. */
  readonly chunkTokens: number;
  readonly twoMicroBatches: boolean;
  readonly cacheFormat: 'bf16' | 'fp8';
  readonly memoryFraction: number;
  /** Prompt and answer of the longest request that has to be let in. */
  readonly mostTokens: number;
  readonly expertCount: number;
  readonly dispatch: 'per-expert' | 'per-rank' | 'per-node';
}

export interface Launch {
  /** One argument with its value each. */
  readonly command: readonly string[];
  /** A configuration file that the command names, line by line; empty where there is none. */
  readonly config: readonly string[];
  /** What the plan has and the engine has no argument for. */
  readonly notes: readonly string[];
}

export interface Launcher {
  readonly summary: string;
  /** `model` is the checkpoint's path or name, as the user has it. */
  launch(pool: LaunchPool, model: string): Launch;
}

/** The entries that are no null. */
export function present(parts: readonly (string | null | false)[]): readonly string[] {
  return parts.filter((part): part is string => typeof part === 'string');
}
