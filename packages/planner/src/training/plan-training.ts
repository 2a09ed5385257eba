/**
 * Layouts for training: forward, backward, pipeline bubble, gradient reduction and the optimiser's own work.
 * One idea: a step is so many micro-batches through the slowest stage, and what the whole fleet does once after them.
 * Weights and gradients are in 16 and 32 bits; nothing of the last phase is assumed to hide behind the first.
 */
import { overlaps } from '@epsim/engine';
import { activeParamCount, profileFor } from '@epsim/model';
import { type ModelShape, type PlanRequest, precisions, type Scenario } from '@epsim/spec';
import { enumerateLayouts, mostRanks } from '../candidates.js';
import { errorBarOf } from '../errors/error-bar.js';
import { createPartErrors, type FindPartErrors } from '../errors/part-errors.js';
import { dominantText } from '../errors/plan-errors.js';
import type { OverlapName } from '../layer-schedule.js';
import { type Layout, layoutName, layoutRanks } from '../layout.js';
import { type LoadSample, sampleLoads } from '../load-sample.js';
import { missText } from '../objectives.js';
import type { TrainingLayout, TrainingPhases, TrainingPlan } from '../plan-schema.js';
import { overlapsOf, requestOf } from '../plan-search.js';
import { stageSums } from '../stage-tensors.js';
import { createStepModel, type StepModel, type StepParts } from '../step-time.js';
import { muonFlops } from './muon.js';
import { elementsOnRank, trainingMemory } from './training-memory.js';

/** Plans training on all ranks of the cluster. Throws RangeError where the scenario has no `plan`. */
export function planTraining(scenario: Scenario, readFile?: (path: string) => Uint8Array): TrainingPlan {
  const request = requestOf(scenario);
  const { cluster } = scenario;
  const model = trained(scenario.model);
  const asTrained: Scenario = { ...scenario, model };
  const sample: LoadSample = sampleLoads(asTrained, readFile);
  const step = createStepModel(asTrained, sample, 0);
  const errors = createPartErrors(asTrained);
  const { layouts } = enumerateLayouts(asTrained, Math.min(mostRanks(scenario), cluster.rankCount));
  const planned = layouts
    .filter((layout) => layout.redundantExperts === 0 && cluster.rankCount % layoutRanks(layout) === 0)
    .map((layout) => trainingLayout(asTrained, request, layout, step, errors));
  const speed = (one: TrainingLayout) =>
    one.feasible ? (one.tokensPerSecPerRank ?? 0) : -one.memoryBytesPerRank;
  planned.sort((a, b) => speed(b) - speed(a));
  return {
    scenario: scenario.name,
    phase: 'train',
    model: { name: model.name, activeParamCount: activeParamCount(model) },
    cluster: { name: cluster.name, device: cluster.device.name, ranks: cluster.rankCount },
    request,
    feasible: planned.some(({ feasible }) => feasible),
    layouts: planned,
    assumptions: [
      ...sample.description,
      'weights and their products in BF16, gradients and optimiser state in 32 bits, state dealt over equal ranks',
      request.training.recompute ? 'the forward pass is computed again' : 'every activation is stored',
      'a backward pass computes twice what a forward pass does and moves the same rows',
      'gradients travel after the last micro-batch and hide behind nothing',
      'error bars are those of serving steps, doubled: nothing published was scored against a training step',
      'the vision tower and extra prediction layers are not trained',
    ],
  };
}

/** The model as it is trained: 16-bit weights, text only. */
function trained(model: ModelShape): ModelShape {
  const { bf16 } = precisions;
  return { ...model, precision: { routedExperts: bf16, rest: bf16 }, vision: null, mtpLayerCount: 0 };
}

function trainingLayout(
  scenario: Scenario,
  request: PlanRequest,
  layout: Layout,
  step: StepModel,
  errors: FindPartErrors,
): TrainingLayout {
  const { model, cluster } = scenario;
  const replicas = cluster.rankCount / layoutRanks(layout);
  const stages = stageSums(model, layout.pipeline, 0);
  const memories = stages.map((sums, stage) => trainingMemory(model, request, layout, sums, stage, replicas));
  const memory = memories.reduce((most, next) => (next.total > most.total ? next : most));
  const limit = cluster.device.memoryBytes * request.engine.memoryFraction;
  const named = {
    ...{ ranks: layoutRanks(layout), layout: layoutName(layout), degrees: layout, replicas },
    ...{ memoryBytesPerRank: memory.total, memory },
  };
  const fallen = (why: string): TrainingLayout => ({
    ...{ ...named, feasible: false, why, overlap: null, microBatches: null, stepNs: null, phases: null },
    ...{ bubbleFraction: null, tokensPerSecPerRank: null, modelFlopsFraction: null },
    ...{ relErrorBar: null, errorFrom: null },
  });
  if (memory.total > limit) {
    return fallen(missText({ objective: 'memory', value: memory.total, limit, ratio: memory.total / limit }));
  }
  const { training } = request;
  const tokens = training.sequenceTokens * training.microBatchSequences;
  const microBatches = training.globalBatchTokens / (tokens * layout.attentionData * replicas);
  if (microBatches < 1) {
    return fallen(
      `${layout.attentionData * replicas} groups of ${tokens} tokens are more than the global batch`,
    );
  }
  try {
    const once = onceAStep(scenario, request, layout, stages[0], replicas);
    const timed = overlapsOf(scenario).map((overlap) => ({
      overlap,
      ...pipelineTime(step, request, layout, microBatches, overlap),
    }));
    const [best] = timed.sort((a, b) => a.forward + a.backward - b.forward - b.backward);
    const { forward, backward, bubble, parts } = best;
    const batchTokens = (tokens * layout.attentionData) / overlaps[best.overlap].microBatches;
    const bar = errorBarOf(parts, errors(layout, batchTokens, 'train'), false);
    const phases: TrainingPhases = { forward, backward, bubble, ...once };
    const stepNs = forward + backward + bubble + once.gradients + once.optimizer;
    const tokensPerSec = (1e9 * training.globalBatchTokens) / stepNs / cluster.rankCount;
    return {
      ...{ ...named, feasible: true, overlap: best.overlap, microBatches, stepNs, phases },
      bubbleFraction: bubble / (forward + backward + bubble),
      tokensPerSecPerRank: tokensPerSec,
      modelFlopsFraction: (6 * activeParamCount(model) * tokensPerSec) / cluster.device.flopsPerSec.bf16,
      ...{ relErrorBar: bar.nineTenths, errorFrom: dominantText(bar) },
    };
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return fallen(thrown.message);
  }
}

/** Micro-batches through the slowest stage, and the time to fill and drain the others. */
function pipelineTime(
  step: StepModel,
  { training }: PlanRequest,
  layout: Layout,
  microBatches: number,
  overlap: OverlapName,
): Pick<TrainingPhases, 'forward' | 'backward' | 'bubble'> & { readonly parts: StepParts } {
  const tokens = training.sequenceTokens * training.microBatchSequences;
  const time = step.bound(
    layout,
    {
      phase: 'train',
      sequences: training.microBatchSequences,
      newTokens: training.sequenceTokens,
      contextTokens: training.sequenceTokens,
      cacheBytes: 2,
      logitRows: tokens,
    },
    overlap,
  );
  const once = time.stageNs;
  const twice = once * backwardRatio(time.parts, overlap) + (training.recompute ? once : 0);
  return {
    forward: microBatches * once,
    backward: microBatches * twice,
    bubble: (layout.pipeline - 1) * (once + twice),
    parts: time.parts,
  };
}

/** A backward pass over a forward pass: twice the computing, the same rows out and back. */
export function backwardRatio(parts: StepParts, overlap: OverlapName): number {
  const { attention, dense, shared, experts, head, dispatch, combine, tensorGroups, handover } = parts;
  const compute = attention + dense + shared + experts + head;
  const travel = dispatch + combine + tensorGroups + handover;
  const join = (a: number, b: number) => (overlaps[overlap].microBatches > 1 ? Math.max(a, b) : a + b);
  return join(2 * compute, travel) / join(compute, travel);
}

/** What happens once after the last micro-batch: gradients are summed and updated weights sent back; the update. */
function onceAStep(
  { model, cluster }: Scenario,
  { training }: PlanRequest,
  layout: Layout,
  firstStage: ReturnType<typeof stageSums>[number],
  replicas: number,
): Pick<TrainingPhases, 'gradients' | 'optimizer'> {
  const { topology, device } = cluster;
  const { experts, rest } = elementsOnRank(layout, firstStage);
  const inside = cluster.rankCount <= topology.domainRanks || topology.scaleOut === null;
  const link = inside ? topology.scaleUp : (topology.scaleOut ?? topology.scaleUp);
  const part = (n: number) => (n - 1) / n;
  // Gradients in 32 bits out, weights in 16 bits back, each over the ranks that hold the same.
  const bytes = 6 * (experts * part(replicas) + rest * part(replicas * layout.attentionData));
  const profile = profileFor(device, model.precision.routedExperts);
  const flops = training.optimizer === 'adamw' ? 0 : muonFlops(model, training.optimizer === 'per-head-muon');
  const computeNs =
    (1e9 * flops) / cluster.rankCount / (device.flopsPerSec.bf16 * profile.dense.computeFraction);
  const stateBytes = 16 * (experts / replicas + rest / (replicas * layout.attentionData));
  return {
    gradients: (1e9 * bytes) / (link.bytesPerSec * link.achieved.fraction),
    optimizer: computeNs + (1e9 * stateBytes) / (device.memoryBytesPerSec * profile.dense.memoryFraction),
  };
}
