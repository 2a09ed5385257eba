/**
 * What an instance of a layout serves: a pool that only decodes, one that only prefills, or one that does both.
 * One idea: a pool is a rate of requests and a latency; batches are sizes from a short list, so that layouts share
 * the loads that were timed before. Knows nothing of fleets, money or what else was tried.
 */
import type { PlanRequest } from '@epsim/spec';
import { KERNEL_SHARE } from './engine-share.js';
import type { OverlapName } from './layer-schedule.js';
import { type Layout, layoutName, stageRanks } from './layout.js';
import { memoBy } from './memo.js';
import type { MemoryModel, MemoryUse } from './memory.js';
import { meanPromptTokens, promptTokensAt } from './serving/requests.js';
import type { StepWork } from './step-parts.js';
import type { StepModel, StepTime } from './step-time.js';

/** Sequences of one attention group that are tried: a step of about 1.4 between them. */
export const BATCHES = [
  1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
] as const;

/** A pool that only decodes, only computes prompts (sized by the tokens of a chunk), or does both. */
export type PoolKind = 'decode' | 'prefill' | 'mixed';

export type Fidelity = 'bound' | 'refined';

export interface DecodePool {
  readonly layout: Layout;
  readonly overlap: OverlapName;
  /** Resident sequences of each attention group. */
  readonly sequences: number;
  /** Time between tokens of one request. */
  readonly tpotNs: number;
  readonly tokensPerSec: number;
  readonly requestsPerSec: number;
  readonly step: StepTime;
}

export interface PrefillPool {
  readonly layout: Layout;
  readonly overlap: OverlapName;
  /** Prompt tokens of each attention group that are computed together. */
  readonly chunkTokens: number;
  /** From a prompt's start to its first token when it is alone on an idle instance; see `promptTokens`. */
  readonly latencyNs: number;
  readonly requestsPerSec: number;
  /** Of one chunk. */
  readonly step: StepTime;
}

export interface MixedPool extends DecodePool {
  readonly ttftNs: number;
  readonly prefill: PrefillPool;
}

/** Prompt tokens on every attention group, computed together, ns. */
export interface ChunkTime {
  /** Until the next chunk may enter, and until this one leaves the last stage. */
  readonly enterNs: number;
  readonly leaveNs: number;
  readonly step: StepTime;
}

export interface Pools {
  readonly plan: PlanRequest;
  /**
   * Computed tokens of the prompt whose time to the first token objectives are held to: the mean one, or under load
   * one that is no longer than the quantile in question.
   */
  readonly promptTokens: number;
  readonly memory: MemoryModel;
  readonly usableBytes: number;
  decode(layout: Layout, sequences: number, overlap: OverlapName, fidelity: Fidelity): DecodePool;
  prefill(layout: Layout, chunkTokens: number, overlap: OverlapName, fidelity: Fidelity): PrefillPool;
  mixed(layout: Layout, sequences: number, overlap: OverlapName, fidelity: Fidelity): MixedPool;
  chunk(layout: Layout, tokens: number, overlap: OverlapName, fidelity: Fidelity): ChunkTime;
  /** What is resident in a pool of each kind; for decode and mixed ones by sequences of an attention group. */
  use(kind: PoolKind, layout: Layout, size: number): MemoryUse;
  /** A request's state from a prefill to a decode instance. */
  transferNs(layout: Layout): number;
}

export function createPools(step: StepModel, memory: MemoryModel, plan: PlanRequest): Pools {
  const { engine } = plan;
  const { device } = step.scenario.cluster;
  const demand = demandOf(plan, step.scenario.seed);
  // Chunks are asked for by prefill pools, by mixed ones of every batch, and by queues.
  const chunkOf = memoBy(
    ([layout, ...rest]: Asked) => `${layoutName(layout)} ${rest.join(' ')}`,
    (asked: Asked) => chunkTime(step, demand, ...asked),
  );
  const chunk: Pools['chunk'] = (...asked) => chunkOf(asked);
  const prefill: Pools['prefill'] = (...asked) => prefillPool(chunk, demand, ...asked);
  return {
    ...{ plan, memory, usableBytes: device.memoryBytes * engine.memoryFraction },
    promptTokens: demand.promptTokens,
    chunk,
    prefill,
    decode: (...asked) => decodePool(step, demand, ...asked),
    mixed: (...asked) => mixedPool(step, demand, prefill, ...asked),
    use(kind, layout, size) {
      if (kind === 'prefill') return prefillUse(demand, layout, size);
      const decode = decodeUse(demand, layout, size);
      if (kind === 'decode') return decode;
      const prompts = prefillUse(demand, layout, engine.chunkTokens);
      return {
        ...decode,
        tokensPerStep: Math.max(decode.tokensPerStep, prompts.tokensPerStep),
        logitRows: Math.max(decode.logitRows, prompts.logitRows),
      };
    },
    transferNs: (layout) => transferNs(step, memory, demand, layout),
  };
}

/** What a request asks of a pool. */
interface Demand {
  readonly plan: PlanRequest;
  /** Prompt tokens that are computed, on average and of the prompt that objectives are held to. */
  readonly newTokens: number;
  readonly promptTokens: number;
  /** Tokens of a sequence that a decode step computes, and the steps that an answer takes. */
  readonly drafted: number;
  readonly stepsPerRequest: number;
  readonly cacheBytes: number;
}

/** True where objectives are held to a simulated queue: a rate is asked, or a quantile. */
export function heldUnderLoad({ requests, objectives }: PlanRequest): boolean {
  return requests.ratePerSec !== null || requests.users !== null || objectives.quantile !== null;
}

function demandOf(plan: PlanRequest, seed: number): Demand {
  const { requests, engine, objectives } = plan;
  const newTokens = meanPromptTokens(requests);
  return {
    ...{ plan, newTokens },
    promptTokens: heldUnderLoad(plan)
      ? promptTokensAt({ ...requests, seed }, objectives.quantile ?? 0.5)
      : newTokens,
    drafted: 1 + engine.mtpLayers,
    stepsPerRequest: requests.outputTokens / engine.acceptedTokens,
    cacheBytes: engine.cacheFormat === 'fp8' ? 1 : 2,
  };
}

type Asked = readonly [layout: Layout, size: number, overlap: OverlapName, fidelity: Fidelity];

function decodePool(
  step: StepModel,
  demand: Demand,
  ...[layout, sequences, overlap, fidelity]: Asked
): DecodePool {
  const { plan, drafted, cacheBytes } = demand;
  const { requests, engine } = plan;
  const each = sequences / layout.pipeline;
  const work: StepWork = {
    phase: 'decode',
    sequences: each,
    newTokens: drafted,
    contextTokens: requests.inputTokens + Math.ceil(requests.outputTokens / 2) + drafted,
    cacheBytes,
    logitRows: each * drafted,
  };
  const time = step[fidelity](layout, work, overlap);
  // Micro-batches follow one another through the stages; each waits for the slowest stage, or for its own way.
  const kernelsNs = Math.max(time.totalNs, layout.pipeline * time.stageNs);
  const stepNs = kernelsNs / KERNEL_SHARE.decode + engine.stepOverheadNs;
  const tpotNs = stepNs / engine.acceptedTokens;
  return {
    ...{ layout, overlap, sequences, tpotNs, step: time },
    ...rates(demand, layout, sequences, tpotNs),
  };
}

function rates({ plan }: Demand, { attentionData }: Layout, sequences: number, tpotNs: number) {
  const tokensPerSec = (1e9 * sequences * attentionData) / tpotNs;
  return { tokensPerSec, requestsPerSec: tokensPerSec / plan.requests.outputTokens };
}

/** Chunks of `tokens` on every attention group. */
function chunkTime(
  step: StepModel,
  demand: Demand,
  ...[layout, tokens, overlap, fidelity]: Asked
): ChunkTime {
  const { plan, newTokens, cacheBytes } = demand;
  const { requests, engine } = plan;
  const sequences = tokens / newTokens;
  const work: StepWork = {
    phase: 'prefill',
    ...{ sequences, newTokens, cacheBytes },
    contextTokens: requests.inputTokens,
    logitRows: Math.max(1, sequences),
  };
  const time = step[fidelity](layout, work, overlap);
  return {
    enterNs: time.stageNs / KERNEL_SHARE.prefill + engine.stepOverheadNs,
    leaveNs: time.totalNs / KERNEL_SHARE.prefill + engine.stepOverheadNs * layout.pipeline,
    step: time,
  };
}

/** Whole chunks of a prompt, and the tokens of its last one. */
export function chunksOf(promptTokens: number, chunkTokens: number): { whole: number; rest: number } {
  const whole = Math.ceil(promptTokens / chunkTokens) - 1;
  return { whole, rest: promptTokens - whole * chunkTokens };
}

function prefillPool(
  chunk: Pools['chunk'],
  demand: Demand,
  ...[layout, chunkTokens, overlap, fidelity]: Asked
): PrefillPool {
  const full = chunk(layout, chunkTokens, overlap, fidelity);
  const { whole, rest } = chunksOf(demand.promptTokens, chunkTokens);
  const last = chunk(layout, rest, overlap, fidelity);
  const sequences = (chunkTokens / demand.newTokens) * layout.attentionData;
  return {
    ...{ layout, overlap, chunkTokens, step: full.step },
    latencyNs: whole * full.enterNs + last.leaveNs,
    requestsPerSec: (1e9 * sequences) / full.enterNs,
  };
}

function mixedPool(
  step: StepModel,
  demand: Demand,
  prefill: Pools['prefill'],
  ...[layout, sequences, overlap, fidelity]: Asked
): MixedPool {
  const { engine } = demand.plan;
  const alone = decodePool(step, demand, layout, sequences, overlap, fidelity);
  const chunk = prefill(layout, engine.chunkTokens, overlap, fidelity);
  // While every sequence gets a token, sequences / steps-per-request of them are replaced by new prompts.
  const arriving = (sequences * layout.attentionData) / demand.stepsPerRequest;
  const aloneNs = alone.tpotNs * engine.acceptedTokens;
  const tpotNs = (aloneNs + (1e9 * arriving) / chunk.requestsPerSec) / engine.acceptedTokens;
  // Under load a queue says how many steps a prompt waits for; without, one for each of its chunks.
  const { whole } = chunksOf(demand.promptTokens, engine.chunkTokens);
  const steps = heldUnderLoad(demand.plan) ? 0 : whole + 1;
  return {
    ...{ ...alone, tpotNs, ...rates(demand, layout, sequences, tpotNs) },
    ttftNs: chunk.latencyNs + steps * aloneNs,
    prefill: chunk,
  };
}

/** Whole requests are held, though most are not at their end: an engine must be able to finish them all. */
function decodeUse({ plan, drafted }: Demand, layout: Layout, sequences: number): MemoryUse {
  const { inputTokens, outputTokens } = plan.requests;
  const rows = (sequences / layout.pipeline) * drafted;
  return { sequences, contextTokens: inputTokens + outputTokens, tokensPerStep: rows, logitRows: rows };
}

/** A chunk of prompts is computed in every stage, and one more waits for its transfer. */
function prefillUse({ plan, newTokens }: Demand, { pipeline }: Layout, chunkTokens: number): MemoryUse {
  const prompts = Math.ceil(chunkTokens / newTokens);
  return {
    sequences: (pipeline + 1) * prompts,
    contextTokens: plan.requests.inputTokens,
    tokensPerStep: chunkTokens,
    logitRows: prompts,
  };
}

/** Every rank of a group sends its share of what a prompt left behind. */
function transferNs(step: StepModel, memory: MemoryModel, { plan }: Demand, layout: Layout): number {
  const { topology } = step.scenario.cluster;
  const link = topology.scaleOut ?? topology.scaleUp;
  const whole = { ...layout, attentionTensor: 1, attentionData: stageRanks(layout), pipeline: 1 };
  const state = memory.sequenceBytes(whole, plan.requests.inputTokens);
  const bytes = state / layout.attentionTensor / layout.pipeline;
  return link.latencyNs + (1e9 * bytes) / (link.bytesPerSec * link.achieved.fraction);
}

/**
 * The largest batch that `fits`, or 0; `fits` is true up to some size. Sought in the list, and then between two of
 * its sizes by eighths of their distance: a list alone would make small changes of an input look large.
 */
export function largestBatch(fits: (sequences: number) => boolean): number {
  let low = -1;
  let high: number = BATCHES.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(BATCHES[middle])) low = middle;
    else high = middle;
  }
  if (low < 0) return 0;
  if (high === BATCHES.length) return BATCHES[low];
  const unit = Math.max(1, (BATCHES[high] - BATCHES[low]) / 8);
  let found = 0;
  for (const eighths of [4, 2, 1]) {
    const next = BATCHES[low] + (found + eighths) * unit;
    if (next < BATCHES[high] && fits(next)) found += eighths;
  }
  return BATCHES[low] + found * unit;
}
