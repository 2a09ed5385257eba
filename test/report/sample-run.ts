// A made-up run of K3's shape for charts and pages: skewed loads that even out over steps.
import { type LinkUse, loadMeasures, type Run, summarize } from '@epsim/results';
import type { StepRecord } from '@epsim/spec';
import { estimate, moe, sampleRecord, sampleScenario } from '../results/sample.js';

export interface SampleSize {
  readonly ranks: number;
  readonly experts: number;
  readonly steps: number;
  readonly layers: number;
}

/** A small repeatable generator of numbers in [0, 1). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface SamplePolicy {
  readonly seed: number;
  readonly policy: string;
  /** How fast the skew falls from step to step; 0 for never. */
  readonly decay: number;
  readonly retained: number;
}

const quantile: SamplePolicy = { seed: 5, policy: 'quantile', decay: 1, retained: 0.97 };

export function sampleRun({ ranks, experts, steps, layers }: SampleSize, how: SamplePolicy = quantile): Run {
  const random = generator(how.seed);
  const scenario = sampleScenario({ steps, layers, seed: how.seed });
  const model = { ...scenario.model, moe: { ...moe, expertCount: experts, topK: 16 } };
  const cluster = { ...scenario.cluster, name: 'gb200-nvl72', rankCount: ranks };
  const full = {
    ...scenario,
    name: 'k3-sample',
    model,
    cluster,
    routing: { policy: how.policy, options: {}, baseline: 'top-k' },
  };
  const records: StepRecord[] = [];
  for (let step = 0; step < steps; step++) {
    for (let layer = 0; layer < layers; layer++) {
      records.push(recordAt(step, layer, { ranks, experts }, how, random));
    }
  }
  const extra = {
    version: '0.1.0',
    paramCount: 2.7795e12,
    activeParamCount: 104.19e9,
    buffers: [{ quantile: 0.99, rows: 120 }],
    notes: ['carried experts have inner size 64 of 3072; routing, loads and bytes are not affected'],
  };
  return {
    dir: '.',
    summary: summarize(full, records, extra),
    scenarioYaml: 'name: k3-sample\n',
    records,
    timings: null,
    expertLoad: null,
    rankTraffic: trafficOf(ranks, random),
    linkUse: linksOf(ranks, random),
  };
}

function recordAt(
  step: number,
  layer: number,
  { ranks, experts }: Pick<SampleSize, 'ranks' | 'experts'>,
  { decay, retained }: SamplePolicy,
  random: () => number,
): StepRecord {
  const skew = 1.4 / (1 + decay * step);
  const load = Array.from({ length: experts }, () => Math.round(64 * Math.exp(skew * (2 * random() - 1))));
  const rankLoad = Array<number>(ranks).fill(0);
  load.forEach((choices, e) => {
    rankLoad[Math.floor((e * ranks) / experts)] += choices;
  });
  const routed = estimate(41_000, { provenance: 'fitted', source: 'all-to-all tables', relErrorBar: 0.08 });
  return sampleRecord(load, rankLoad, {
    step,
    layer,
    tokens: Math.round(load.reduce((a, b) => a + b, 0) / 16),
    maxVioFloor: 0.12,
    routing: {
      droppedChoices: 0,
      scoreRetention: retained + 0.002 * random(),
      changedChoices: 0.1,
      biasDrift: 0.01,
    },
    bytes: {
      dispatch: 2e8,
      combine: 4e8,
      scaleUp: 3.8e8,
      scaleOut: 1.9e8,
      local: 0.3e8,
      dedupRatio: 0.83,
      byLinkMax: { link: 'rank 0 nic out', bytes: 2e7 },
    },
    baseline: {
      policy: 'top-k',
      expertLoadMeasures: loadMeasures(load.map((choices, e) => (e === 0 ? 4 * choices : choices))),
      rankLoadMeasures: loadMeasures(rankLoad),
      stepNs: 260_000,
    },
    activatedExperts: rankLoad.map(() => Math.ceil(experts / ranks)),
    timed: {
      stepNs: 190_000 + 30_000 * skew,
      phases: {
        router: estimate(9_000),
        dispatch: routed,
        experts: estimate(120_000 + 30_000 * skew),
        combine: { ...routed, ns: 62_000 },
        'shared experts': estimate(22_000),
      },
      stragglerIdleFraction: 0.07,
    },
  });
}

function trafficOf(rankCount: number, random: () => number) {
  const bytes = new Float64Array(rankCount * rankCount);
  for (let i = 0; i < bytes.length; i++) {
    const sameDomain = Math.floor(i / rankCount / 8) === Math.floor((i % rankCount) / 8);
    bytes[i] = 2e8 * (0.6 + 0.4 * random()) * (sameDomain ? 1.4 : 1);
  }
  return { rankCount, bytes };
}

function linksOf(rankCount: number, random: () => number): LinkUse[] {
  return Array.from({ length: 2 * rankCount }, (_, i) => ({
    link: `rank ${i >> 1} ${i & 1 ? 'nic' : 'nvlink'} out`,
    tier: i & 1 ? 'scale-out' : 'scale-up',
    bytes: 1e10 * (0.5 + random()),
    busyFraction: 0.4 * random(),
  }));
}
