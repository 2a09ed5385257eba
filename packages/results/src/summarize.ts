/**
 * Records to summary, a pure function.
 * One idea: every measure is taken per layer of a step first; only finished measures are averaged, and the worst
 * is kept beside the mean. Steps that an interruption cut short are left out whole.
 * Knows nothing about how records were produced or where they are stored.
 */
import type { LoadMeasures, Scenario, StepRecord } from '@epsim/spec';
import { recordsBySteps } from './curves.js';
import { summarizeTimes } from './summarize-times.js';
import type { Summary } from './summary.js';

/** What a summary needs beyond the scenario and its records. */
export interface SummaryExtra {
  readonly version: string;
  readonly paramCount: number;
  readonly activeParamCount: number;
  /** What really carried the rows, and over how many workers; absent when nothing was carried. */
  readonly carriedTransport?: string;
  readonly carriedWorkers?: number;
  /** Receive buffers by the share of layers in which they suffice. */
  readonly buffers: Summary['buffers'];
  /** What is scaled, assumed or left out, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * The summary of the finished steps of a run. `records` may come in any order of layers within a step.
 * Throws RangeError when no step has all its layers.
 */
export function summarize(scenario: Scenario, records: readonly StepRecord[], extra: SummaryExtra): Summary {
  const steps = recordsBySteps(records).filter((step) => step.length === scenario.layers);
  const whole = steps.flat();
  if (whole.length === 0) {
    throw new RangeError(
      `no finished step among ${records.length} records; a step has ${scenario.layers} layers`,
    );
  }
  const { model, cluster } = scenario;
  const tokensOfSteps = steps.map((step) => Math.max(...step.map((record) => record.tokens)));
  const paddedOfSteps = steps.map((step) => Math.max(...step.map((record) => record.paddedTokens)));
  return {
    scenario: scenario.name,
    seed: scenario.seed,
    version: extra.version,
    complete: steps.length >= scenario.steps,
    steps: { asked: scenario.steps, finished: steps.length },
    layers: scenario.layers,
    model: {
      name: model.name,
      expertCount: model.moe.expertCount,
      topK: model.moe.topK,
      expertWidth: model.moe.expertWidth,
      paramCount: extra.paramCount,
      activeParamCount: extra.activeParamCount,
    },
    cluster: { name: cluster.name, device: cluster.device.name, rankCount: cluster.rankCount },
    tokens: {
      total: total(tokensOfSteps),
      padded: total(paddedOfSteps),
      perStep: mean(tokensOfSteps),
    },
    load: { ...expertLoads(whole, steps[steps.length - 1]), stepsToFloor: stepsToFloor(steps) },
    ranks: rankLoads(whole, cluster.rankCount),
    bytes: bytesOf(whole),
    routing: routingOf(whole, scenario),
    baseline: baselineOf(steps),
    moves: {
      slots: total(whole.map((record) => record.move.slots)),
      bytes: total(whole.map((record) => record.move.bytes)),
      ns: total(whole.map((record) => record.move.ns)),
      steps: steps.filter((step) => step.some((record) => record.move.slots > 0)).length,
    },
    buffers: [...extra.buffers],
    carried: carriedOf(steps, scenario, extra),
    timed: summarizeTimes(steps, cluster.rankCount),
    notes: [...extra.notes],
  };
}

/** The factor by which MaxVio may miss the floor of sampling and still count as balanced. */
const NEAR_FLOOR = 1.5;

function stepsToFloor(steps: readonly (readonly StepRecord[])[]): number | null {
  const found = steps.findIndex((step) => {
    const vio = mean(step.map((record) => record.expertLoadMeasures.maxMinusMeanOverMean));
    return vio <= NEAR_FLOOR * mean(step.map((record) => record.maxVioFloor));
  });
  return found < 0 ? null : found;
}

function expertLoads(
  records: readonly StepRecord[],
  lastStep: readonly StepRecord[],
): Omit<Summary['load'], 'stepsToFloor'> {
  const measures = records.map((record) => record.expertLoadMeasures);
  const last = lastStep.map((record) => record.expertLoadMeasures);
  const worst = largest(records, (record) => record.expertLoadMeasures.maxMinusMeanOverMean);
  return {
    tokensPerExpert: spreadOf(measures),
    ...imbalanceOf(measures),
    maxVio: mean(measures.map((m) => m.maxMinusMeanOverMean)),
    maxVioFloor: mean(records.map((record) => record.maxVioFloor)),
    starvedExperts: mean(measures.map((m) => m.zeroCount)),
    neverChosen: neverChosen(records),
    lastStep: {
      maxVio: mean(last.map((m) => m.maxMinusMeanOverMean)),
      maxOverMean: mean(last.map((m) => m.maxOverMean)),
      starvedExperts: mean(last.map((m) => m.zeroCount)),
    },
    worst: {
      step: worst.step,
      layer: worst.layer,
      maxVio: worst.expertLoadMeasures.maxMinusMeanOverMean,
      maxOverMean: worst.expertLoadMeasures.maxOverMean,
      tokens: worst.expertLoadMeasures.max,
    },
  };
}

function rankLoads(records: readonly StepRecord[], rankCount: number): Summary['ranks'] {
  const measures = records.map((record) => record.rankLoadMeasures);
  const activated = records.map((record) => record.activatedExperts);
  const worst = largest(records, (record) => record.rankLoadMeasures.maxOverMean);
  return {
    count: rankCount,
    tokensPerRank: spreadOf(measures),
    ...imbalanceOf(measures),
    activatedExperts: {
      min: mean(activated.map((ranks) => ranks.reduce((a, b) => Math.min(a, b)))),
      mean: mean(activated.map(mean)),
      max: mean(activated.map((ranks) => ranks.reduce((a, b) => Math.max(a, b)))),
    },
    worst: {
      step: worst.step,
      layer: worst.layer,
      maxOverMean: worst.rankLoadMeasures.maxOverMean,
      tokens: worst.rankLoadMeasures.max,
    },
  };
}

function bytesOf(records: readonly StepRecord[]): Summary['bytes'] {
  const sum = (pick: (bytes: StepRecord['bytes']) => number) => total(records.map((r) => pick(r.bytes)));
  const dispatch = sum((bytes) => bytes.dispatch);
  const combine = sum((bytes) => bytes.combine);
  const tokenLayers = total(records.map((record) => record.tokens));
  const choices = records.map((record) => total(record.expertLoad));
  const rows = total(records.map((record, i) => record.bytes.dedupRatio * choices[i]));
  const busiest = largest(records, (record) => record.bytes.byLinkMax.bytes);
  return {
    dispatch,
    combine,
    scaleUp: sum((bytes) => bytes.scaleUp),
    scaleOut: sum((bytes) => bytes.scaleOut),
    local: sum((bytes) => bytes.local),
    perToken: ratio(dispatch + combine, tokenLayers, 0),
    dedupRatio: ratio(rows, total(choices), 1),
    byLinkMax: { ...busiest.bytes.byLinkMax, step: busiest.step, layer: busiest.layer },
  };
}

function routingOf(records: readonly StepRecord[], scenario: Scenario): Summary['routing'] {
  const dropped = total(records.map((record) => record.routing.droppedChoices));
  const asked = total(records.map((record) => record.tokens)) * scenario.model.moe.topK;
  return {
    policy: scenario.routing.policy,
    dropped,
    droppedFraction: ratio(dropped, asked, 0),
    scoreRetention: mean(records.map((record) => record.routing.scoreRetention)),
    changedChoices: mean(records.map((record) => record.routing.changedChoices)),
    biasDrift: mean(records.map((record) => record.routing.biasDrift)),
  };
}

/** Null unless every record has a baseline. */
function baselineOf(steps: readonly (readonly StepRecord[])[]): Summary['baseline'] {
  const baselines = steps.flat().map((record) => record.baseline);
  const known = baselines.filter((baseline) => baseline !== null);
  if (known.length < baselines.length) return null;
  const experts = known.map((baseline) => baseline.expertLoadMeasures);
  const lastStep = experts.slice(experts.length - steps[steps.length - 1].length);
  const times = known.flatMap((baseline) => (baseline.stepNs === null ? [] : [baseline.stepNs]));
  return {
    policy: known[0].policy,
    load: {
      maxVio: mean(experts.map((m) => m.maxMinusMeanOverMean)),
      lastStepMaxVio: mean(lastStep.map((m) => m.maxMinusMeanOverMean)),
      ...imbalanceOf(experts),
    },
    ranks: imbalanceOf(known.map((baseline) => baseline.rankLoadMeasures)),
    stepNs: times.length < known.length ? null : total(times) / steps.length,
  };
}

function carriedOf(
  steps: readonly (readonly StepRecord[])[],
  scenario: Scenario,
  extra: SummaryExtra,
): Summary['carried'] {
  const carried = steps.flat().flatMap((record) => (record.carried === null ? [] : [record.carried]));
  const any = carried.length > 0;
  const absErrors = carried.flatMap(({ maxAbsError }) => maxAbsError ?? []);
  const relErrors = carried.flatMap(({ maxRelError }) => maxRelError ?? []);
  const largest = (errors: readonly number[]) => (errors.length === 0 ? null : Math.max(...errors));
  const fullExpertInnerSize = scenario.model.moe.expertInnerSize;
  return {
    transport: any ? (extra.carriedTransport ?? scenario.carry?.transport ?? null) : null,
    workers: any ? (extra.carriedWorkers ?? scenario.carry?.workers ?? 0) : 0,
    tokens: total(steps.map((step) => Math.max(...step.map((record) => record.carried?.tokens ?? 0)))),
    layerSteps: carried.length,
    checkedLayerSteps: relErrors.length,
    maxAbsError: largest(absErrors),
    maxRelError: largest(relErrors),
    receivedBytes: total(carried.map((c) => c.receivedBytes)),
    checked: any && relErrors.length === carried.length,
    rows: any ? (scenario.carry?.rows ?? null) : null,
    expertInnerSize: any ? (scenario.carry?.expertInnerSize ?? fullExpertInnerSize) : 0,
    fullExpertInnerSize,
  };
}

/** Pairs of layer and expert that no step gave a token. */
function neverChosen(records: readonly StepRecord[]): number {
  const chosen = new Map<number, Uint8Array>();
  for (const { layer, expertLoad } of records) {
    const seen = chosen.get(layer) ?? new Uint8Array(expertLoad.length);
    for (let e = 0; e < expertLoad.length; e++) if (expertLoad[e] > 0) seen[e] = 1;
    chosen.set(layer, seen);
  }
  let never = 0;
  for (const seen of chosen.values()) never += seen.length - total(seen);
  return never;
}

function spreadOf(measures: readonly LoadMeasures[]) {
  return {
    min: mean(measures.map((m) => m.min)),
    mean: mean(measures.map((m) => m.mean)),
    max: mean(measures.map((m) => m.max)),
  };
}

function imbalanceOf(measures: readonly LoadMeasures[]) {
  return {
    maxOverMean: mean(measures.map((m) => m.maxOverMean)),
    meanOverMax: mean(measures.map((m) => m.meanOverMax)),
    maxMinusMeanOverMean: mean(measures.map((m) => m.maxMinusMeanOverMean)),
    cv: mean(measures.map((m) => m.cv)),
    gini: mean(measures.map((m) => m.gini)),
    entropy: mean(measures.map((m) => m.entropy)),
  };
}

/** The first record with the largest value. */
function largest(records: readonly StepRecord[], value: (record: StepRecord) => number): StepRecord {
  return records.reduce((best, record) => (value(record) > value(best) ? record : best));
}

function total(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

function mean(values: ArrayLike<number>): number {
  return total(values) / values.length;
}

function ratio(part: number, whole: number, whenEmpty: number): number {
  return whole === 0 ? whenEmpty : part / whole;
}
