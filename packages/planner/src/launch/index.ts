/** The engines that a plan can be written for. A new one is a file and a line here. */

import type { PlanRequest, Scenario } from '@epsim/spec';
import type { Evaluated } from '../search.js';
import { longestRequest, meanPromptTokens } from '../serving/requests.js';
import type { Launch, Launcher, LaunchPool } from './launcher.js';
import { sglang } from './sglang.js';
import { tensorrtLlm } from './tensorrt-llm.js';
import { vllm } from './vllm.js';

export const launchers = { vllm, sglang, 'tensorrt-llm': tensorrtLlm } as const satisfies Record<
  string,
  Launcher
>;

export type LauncherName = keyof typeof launchers;

/** The pools of a chosen layout, prefill first. */
export function launchPools(chosen: Evaluated, scenario: Scenario, plan: PlanRequest): readonly LaunchPool[] {
  const { requests, engine } = plan;
  const { decode, prefill } = chosen;
  const common = {
    cacheFormat: engine.cacheFormat,
    memoryFraction: engine.memoryFraction,
    mostTokens: Math.min(scenario.model.contextTokens, longestRequest({ ...requests, seed: scenario.seed })),
    expertCount: scenario.model.moe.expertCount,
    dispatch: scenario.dispatch.kind,
  };
  const main: LaunchPool = {
    ...common,
    role: prefill === null ? 'both' : 'decode',
    layout: decode.layout,
    sequencesPerGroup: decode.sequences,
    chunkTokens: engine.chunkTokens,
    twoMicroBatches: decode.overlap === 'two-micro-batches',
  };
  if (prefill === null) return [main];
  const feed: LaunchPool = {
    ...common,
    role: 'prefill',
    layout: prefill.layout,
    // A chunk for every stage, and one that waits for its transfer or its turn.
    sequencesPerGroup:
      Math.max(2, prefill.layout.pipeline) * Math.ceil(prefill.chunkTokens / meanPromptTokens(requests)),
    chunkTokens: prefill.chunkTokens,
    twoMicroBatches: prefill.overlap === 'two-micro-batches',
  };
  return [feed, main];
}

/** Launch arguments of one pool for every engine. */
export function launchAll(pool: LaunchPool, model: string): Readonly<Record<LauncherName, Launch>> {
  const entries = Object.entries(launchers).map(([name, { launch }]) => [name, launch(pool, model)]);
  return Object.fromEntries(entries) as Record<LauncherName, Launch>;
}

/** One pool's command on lines that continue, then its configuration file and notes. */
export function launchText(pool: LaunchPool, { command, config, notes }: Launch): string {
  const file = config.length === 0 ? [] : ['', '# config.yaml', ...config];
  return [`# ${pool.role}`, command.join(' \\\n  '), ...file, ...notes.map((note) => `# note: ${note}`)].join(
    '\n',
  );
}
