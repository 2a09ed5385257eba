/**
 * Memory of a rank that trains: weights, gradients, optimiser state and what the forward pass leaves behind.
 * One idea: elements are those of the model's own parameter list; each is held in so many bytes, and optimiser state
 * is dealt over the ranks that hold the same weights (ZeRO-1).
 */
import type { ModelShape, PlanRequest } from '@epsim/spec';
import { type Layout, stageLayers, stageRanks } from '../layout.js';
import { activationElements, copiesOf } from '../memory.js';
import type { StageSum } from '../stage-tensors.js';

const WEIGHT_BYTES = 2;
const GRADIENT_BYTES = 4;
/** A copy of the weights in 32 bits, and the momentum; AdamW has a second moment. */
const STATE_BYTES = { 'per-head-muon': 8, muon: 8, adamw: 12 } as const;
const ACTIVATION_BYTES = 2;

export interface TrainingMemory {
  readonly weights: number;
  readonly gradients: number;
  readonly optimizer: number;
  readonly activations: number;
  readonly reserve: number;
  readonly total: number;
}

/** Elements that a rank of a stage holds, routed experts and the rest: what gradients and states are counted by. */
export function elementsOnRank(
  layout: Layout,
  sums: readonly StageSum[],
): { readonly experts: number; readonly rest: number } {
  let experts = 0;
  let rest = 0;
  for (const sum of sums) {
    const elements = (sum.elements * copiesOf(sum, layout)) / stageRanks(layout);
    if (sum.split === 'experts') experts += elements;
    else rest += elements;
  }
  return { experts, rest };
}

/**
 * Memory of a rank of `stage` when `replicas` instances train together. The first stages hold the activations of as
 * many micro-batches as there are stages after them (one forward, one backward).
 */
export function trainingMemory(
  model: ModelShape,
  plan: PlanRequest,
  layout: Layout,
  sums: readonly StageSum[],
  stage: number,
  replicas: number,
): TrainingMemory {
  const { training, engine } = plan;
  const { experts, rest } = elementsOnRank(layout, sums);
  const [first, end] = stageLayers(model.layers.length, layout.pipeline, stage);
  const tokens = training.sequenceTokens * training.microBatchSequences;
  const layers = end - first;
  const { stored, live } = activationElements(model, layout.attentionTensor);
  const kept = training.recompute ? layers * stored + live : layers * live;
  const parts = {
    weights: WEIGHT_BYTES * (experts + rest),
    gradients: GRADIENT_BYTES * (experts + rest),
    optimizer:
      STATE_BYTES[training.optimizer] * (experts / replicas + rest / (replicas * layout.attentionData)),
    activations: (layout.pipeline - stage) * tokens * kept * ACTIVATION_BYTES,
    reserve: engine.reserveBytes,
  };
  const total = parts.weights + parts.gradients + parts.optimizer + parts.activations + parts.reserve;
  return { ...parts, total };
}
