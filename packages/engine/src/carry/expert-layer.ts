/**
 * Expert layers of a model that runs elsewhere: latents and choices come from outside, travel between ranks,
 * meet their experts there and come back as weighted sums.
 * Its one idea: tokens are dealt to ranks in blocks and experts to ranks in blocks, without replicas, and a row's
 * sum is formed in rank order whatever rank it starts from; so the sums do not depend on which tokens are
 * processed together, and token-by-token decoding gives the bits of prefill.
 * Experts are the hashed weights of the seed. Routing, projections and shared experts belong to the caller.
 */
import type { Choices, ExpertLayer } from '@epsim/model';
import type { DispatchPlan, ModelShape, Placement, Routing } from '@epsim/spec';
import { rowBytes } from '@epsim/tensor';
import type { ShardPool } from '@epsim/transport';
import { planDispatch } from '../plan/dispatch-plan.js';
import { carriedModel } from './carried-model.js';
import type { ShardFabric } from './fabric.js';
import { CarrySession } from './session.js';

export interface CarriedExpertsOptions {
  readonly model: ModelShape;
  readonly seed: number;
  readonly rankCount: number;
  /** Most tokens of one call. */
  readonly maxTokens: number;
  readonly shardCount: () => number;
  /** Shards that share this process's memory, or live elsewhere. */
  readonly reach: ShardPool | ShardFabric;
  /** Sees each layer's plan and the bytes that arrived, out and back. */
  readonly watch?: (layer: number, plan: DispatchPlan, receivedBytes: number) => void;
}

export interface CarriedExperts {
  /** For `k3Forward`'s `experts`. Calls one at a time. */
  readonly run: ExpertLayer;
  close(): Promise<void>;
}

/** Experts of `model` on ranks that `reach` serves. Closes it with itself. Rows travel as FP32. */
export function carriedExperts(options: CarriedExpertsOptions): CarriedExperts {
  const { model, seed, rankCount, maxTokens, shardCount, reach, watch } = options;
  const { expertWidth, expertInnerSize, expertCount, topK } = model.moe;
  const experts = carriedModel(model, expertInnerSize, seed);
  const session = new CarrySession(
    {
      model: { ...experts, hiddenSize: expertWidth, latent: false, latentNorm: false, sharedInnerSize: 0 },
      rankCount,
      tokensPerRank: Math.ceil(maxTokens / rankCount),
      shardCount,
      dispatchFormat: 'fp32',
      combineFormat: 'fp32',
      perChoice: false,
      topK,
    },
    reach,
  );
  const placement = expertsInBlocks(expertCount, rankCount);
  const bytes = rowBytes('fp32', expertWidth);
  return {
    async run(layer, latents, choices, out) {
      const routing = blockRouting(choices, latents.length / expertWidth, expertCount, rankCount);
      const plan = planDispatch(routing, placement, {
        kind: 'per-rank',
        replica: 'round-robin',
        domainRanks: rankCount,
        dispatchRowBytes: bytes,
        combineRowBytes: bytes,
      });
      const received = await session.carryRows(plan, layer, latents, out);
      watch?.(layer, plan, received);
    },
    close: () => session.close(),
  };
}

/** `count` things shared out over ranks in blocks that differ by at most one, [rankCount + 1] first indices. */
function blockOffsets(count: number, rankCount: number): Int32Array {
  return Int32Array.from({ length: rankCount + 1 }, (_, rank) => Math.ceil((rank * count) / rankCount));
}

function expertsInBlocks(expertCount: number, rankCount: number): Placement {
  return {
    rankCount,
    expertCount,
    slotOffsets: blockOffsets(expertCount, rankCount),
    slotExpert: Int32Array.from({ length: expertCount }, (_, expert) => expert),
  };
}

function blockRouting(choices: Choices, tokens: number, expertCount: number, rankCount: number): Routing {
  const width = tokens === 0 ? 0 : choices.experts.length / tokens;
  return {
    expertCount,
    topK: width,
    width,
    tokenOffsets: blockOffsets(tokens, rankCount),
    experts: choices.experts,
    weights: choices.weights,
    droppedChoices: 0,
  };
}
