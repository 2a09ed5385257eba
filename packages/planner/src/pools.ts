/**
 * What an instance of a layout serves: a pool that only decodes, one that only prefills, or one that does both.
 * One idea: a pool is a rate of requests and a latency; batches are sizes from a short list, so that layouts share
 * the loads that were timed before. Knows nothing of fleets, money or what else was tried.
 */
import type { PlanRequest } from '@epsim/spec';
import { PREFILL_KERNEL_SHARE } from './engine-share.js';
import { type Layout, stageRanks } from './layout.js';
import type { MemoryModel, MemoryUse, RankMemory } from './memory.js';
import type { OverlapName, StepModel, StepTime } from './step-time.js';

/** Sequences of one attention group that are tried: a step of about 1.4 between them. */
export const BATCHES = [
  1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
] as const;

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
  /** From a prompt's start to its first token on an idle instance. */
  readonly latencyNs: number;
  readonly requestsPerSec: number;
  /** Of one chunk. */
  readonly step: StepTime;
}

export interface MixedPool extends DecodePool {
  readonly ttftNs: number;
  readonly prefill: PrefillPool;
}

export interface Pools {
  readonly plan: PlanRequest;
  readonly memory: MemoryModel;
  readonly usableBytes: number;
  decode(layout: Layout, sequences: number, overlap: OverlapName, fidelity: Fidelity): DecodePool;
  prefill(layout: Layout, chunkTokens: number, overlap: OverlapName, fidelity: Fidelity): PrefillPool;
  mixed(layout: Layout, sequences: number, overlap: OverlapName, fidelity: Fidelity): MixedPool;
  /** Memory of the fullest rank in a pool of each kind. */
  decodeMemory(layout: Layout, sequences: number): RankMemory & { readonly stage: number };
  prefillMemory(layout: Layout, chunkTokens: number): RankMemory & { readonly stage: number };
  mixedMemory(layout: Layout, sequences: number): RankMemory & { readonly stage: number };
  /** A request's state from a prefill to a decode instance. */
  transferNs(layout: Layout): number;
}

export function createPools(step: StepModel, memory: MemoryModel, plan: PlanRequest): Pools {
  const { requests, engine } = plan;
  const { device, topology } = step.scenario.cluster;
  const { inputTokens, outputTokens } = requests;
  const newTokens = Math.max(1, Math.round(inputTokens * (1 - requests.cacheHitRate)));
  const cacheBytes = engine.cacheFormat === 'fp8' ? 1 : 2;
  const stepsPerRequest = outputTokens / engine.acceptedTokens;
  const drafted = 1 + engine.mtpLayers;
  const usableBytes = device.memoryBytes * engine.memoryFraction;

  const decode: Pools['decode'] = (layout, sequences, overlap, fidelity) => {
    const each = sequences / layout.pipeline;
    const time = step[fidelity](
      layout,
      {
        sequences: each,
        newTokens: drafted,
        contextTokens: inputTokens + Math.ceil(outputTokens / 2) + drafted,
        cacheBytes,
        logitRows: each * drafted,
      },
      overlap,
    );
    // Micro-batches follow one another through the stages; each waits for the slowest stage, or for its own way.
    const stepNs = Math.max(time.totalNs, layout.pipeline * time.stageNs) + engine.stepOverheadNs;
    const tpotNs = stepNs / engine.acceptedTokens;
    const tokensPerSec = (1e9 * sequences * layout.attentionData) / tpotNs;
    return {
      ...{ layout, overlap, sequences, tpotNs, tokensPerSec },
      requestsPerSec: tokensPerSec / outputTokens,
      step: time,
    };
  };

  const prefill: Pools['prefill'] = (layout, chunkTokens, overlap, fidelity) => {
    const sequences = chunkTokens / newTokens;
    const time = step[fidelity](
      layout,
      { sequences, newTokens, contextTokens: inputTokens, cacheBytes, logitRows: Math.max(1, sequences) },
      overlap,
    );
    const stageNs = time.stageNs / PREFILL_KERNEL_SHARE + engine.stepOverheadNs;
    const totalNs = time.totalNs / PREFILL_KERNEL_SHARE + engine.stepOverheadNs * layout.pipeline;
    const chunks = Math.ceil(newTokens / chunkTokens);
    return {
      ...{ layout, overlap, chunkTokens, step: time },
      latencyNs: totalNs + (chunks - 1) * stageNs,
      requestsPerSec: (1e9 * sequences * layout.attentionData) / stageNs,
    };
  };

  const mixed: Pools['mixed'] = (layout, sequences, overlap, fidelity) => {
    const alone = decode(layout, sequences, overlap, fidelity);
    const chunk = prefill(layout, engine.chunkTokens, overlap, fidelity);
    // While every sequence gets a token, sequences / steps-per-request of them are replaced by new prompts.
    const arriving = (sequences * layout.attentionData) / stepsPerRequest;
    const stepNs = alone.tpotNs * engine.acceptedTokens + (1e9 * arriving) / chunk.requestsPerSec;
    const tpotNs = stepNs / engine.acceptedTokens;
    const tokensPerSec = (1e9 * sequences * layout.attentionData) / tpotNs;
    const chunks = Math.ceil(newTokens / engine.chunkTokens);
    return {
      ...alone,
      tpotNs,
      tokensPerSec,
      requestsPerSec: tokensPerSec / outputTokens,
      ttftNs: chunk.latencyNs + chunks * alone.tpotNs * engine.acceptedTokens,
      prefill: chunk,
    };
  };

  const held = inputTokens + outputTokens;
  const decodeUse = (layout: Layout, sequences: number): MemoryUse => {
    const each = sequences / layout.pipeline;
    return {
      sequences,
      contextTokens: held,
      tokensPerStep: each * drafted,
      logitRows: each * drafted,
    };
  };
  const prefillUse = (chunkTokens: number): MemoryUse => {
    const prompts = Math.ceil(chunkTokens / newTokens);
    // As many wait for their transfer as are being computed.
    return {
      sequences: 2 * prompts,
      contextTokens: inputTokens,
      tokensPerStep: chunkTokens,
      logitRows: prompts,
    };
  };

  return {
    ...{ plan, memory, usableBytes, decode, prefill, mixed },
    decodeMemory: (layout, sequences) => memory.fullest(layout, decodeUse(layout, sequences)),
    prefillMemory: (layout, chunkTokens) => memory.fullest(layout, prefillUse(chunkTokens)),
    mixedMemory(layout, sequences) {
      const [a, b] = [decodeUse(layout, sequences), prefillUse(engine.chunkTokens)];
      return memory.fullest(layout, {
        sequences,
        contextTokens: held,
        tokensPerStep: Math.max(a.tokensPerStep, b.tokensPerStep),
        logitRows: Math.max(a.logitRows, b.logitRows),
      });
    },
    transferNs(layout) {
      const link = topology.scaleOut ?? topology.scaleUp;
      const whole = { ...layout, attentionTensor: 1, attentionData: stageRanks(layout), pipeline: 1 };
      const bytes = memory.sequenceBytes(whole, inputTokens) / layout.attentionTensor / layout.pipeline;
      return link.latencyNs + (1e9 * bytes) / (link.bytesPerSec * link.achieved.fraction);
    },
  };
}

/** The largest batch of the list that `fits`, or 0; `fits` is true up to some size. */
export function largestBatch(fits: (sequences: number) => boolean): number {
  let low = -1;
  let high: number = BATCHES.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(BATCHES[middle])) low = middle;
    else high = middle;
  }
  return low < 0 ? 0 : BATCHES[low];
}
