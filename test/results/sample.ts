// A scenario and records with given loads, for the tests of this folder and of report.
import { loadMeasures } from '@epsim/results';
import type { AttentionShape, Estimate, MoeShape, Scenario, StepRecord } from '@epsim/spec';

export const moe: MoeShape = {
  kind: 'moe',
  expertCount: 4,
  topK: 2,
  expertWidth: 3584,
  expertInnerSize: 3072,
  latent: true,
  latentNorm: true,
  sharedExpertCount: 2,
  sharedInnerSize: 3072,
  scoring: 'sigmoid',
  renormalize: true,
  routedScaling: 1,
  selectionBias: true,
  groupCount: 1,
  topGroupCount: 1,
  bias: false,
  gated: true,
};

const attention: AttentionShape = {
  kind: 'gqa',
  headCount: 1,
  kvHeadCount: 1,
  headDim: 64,
  windowTokens: null,
  outputGate: false,
  bias: false,
  qkNorm: false,
  sinks: false,
};

const link = {
  bytesPerSec: 4e11,
  latencyNs: 1000,
  achieved: { fraction: 0.8, source: 'a test', provenance: 'derived' as const },
  source: 'a test',
};

const bf16 = { name: 'bf16' as const, bits: 16, groupSize: 0, scaleBits: 0 };

export function sampleScenario(changes: Partial<Scenario> = {}): Scenario {
  return {
    name: 'sample',
    seed: 7,
    model: {
      name: 'kimi-k3',
      source: 'a test',
      hiddenSize: 7168,
      vocabSize: 1000,
      contextTokens: 1024,
      tiedEmbeddings: false,
      activation: 'situ',
      situ: { gateBound: 4, upBound: 25 },
      layers: [{ attention, ffn: moe }],
      moe,
      attnResBlockLayers: null,
      residualStreams: 1,
      mtpLayerCount: 0,
      vision: null,
      precision: { routedExperts: bf16, rest: bf16 },
      assumptions: [],
    },
    phase: 'decode',
    cluster: {
      name: 'h100-8',
      source: 'a test',
      rankCount: 2,
      device: {
        name: 'H100',
        memoryBytes: 8e10,
        memoryBytesPerSec: 3.3e12,
        flopsPerSec: { bf16: 9.9e14 },
        source: 'a test',
      },
      topology: { kind: 'nvlink-domain', domainRanks: 8, scaleUp: link, scaleOut: null, options: {} },
      overrides: [],
    },
    workload: { kind: 'synthetic', tokensPerRank: 4, options: {} },
    routing: { policy: 'top-k', options: {}, baseline: null },
    placement: {
      policy: 'contiguous',
      options: {},
      slotsPerRank: null,
      slots: null,
      everySteps: 0,
      windowSteps: null,
      staleSteps: 0,
      move: 'blocking',
    },
    dispatch: { kind: 'per-rank', dispatchFormat: 'fp8', combineFormat: 'bf16', replica: 'round-robin' },
    steps: 1,
    layers: 1,
    time: { network: 'bound', overlap: 'none', exchange: 'auto' },
    plan: null,
    vary: null,
    carry: {
      tokensPerRank: 4,
      expertInnerSize: 64,
      workers: 2,
      steps: 1,
      checkSteps: 1,
      rows: 'fp32',
      transport: 'thread',
    },
    ...changes,
  };
}

export function estimate(ns: number, changes: Partial<Estimate> = {}): Estimate {
  return { ns, provenance: 'derived', source: 'vendor figures', relErrorBar: null, ...changes };
}

/** A record whose measures follow from its loads; nothing else in it does. */
export function sampleRecord(
  expertLoad: readonly number[],
  rankLoad: readonly number[],
  changes: Partial<StepRecord> = {},
): StepRecord {
  const choices = expertLoad.reduce((a, b) => a + b, 0);
  return {
    step: 0,
    layer: 0,
    tokens: choices / 2,
    paddedTokens: 0,
    routing: { droppedChoices: 0, scoreRetention: 1, changedChoices: 0, biasDrift: 0 },
    expertLoad,
    expertLoadMeasures: loadMeasures(expertLoad),
    maxVioFloor: 0.5,
    rankLoad,
    rankLoadMeasures: loadMeasures(rankLoad),
    activatedExperts: rankLoad.map(() => 2),
    bytes: {
      dispatch: 300,
      combine: 700,
      scaleUp: 600,
      scaleOut: 0,
      local: 400,
      dedupRatio: 0.75,
      byLinkMax: { link: 'rank 0 up', bytes: 350 },
    },
    move: { slots: 0, bytes: 0, ns: 0 },
    timed: {
      stepNs: 1000,
      phases: { dispatch: estimate(200), experts: estimate(700), combine: estimate(300) },
      stragglerIdleFraction: 0.1,
    },
    baseline: null,
    carried: {
      tokens: Math.ceil(choices / 2),
      maxAbsError: 1e-6,
      maxRelError: 1e-5,
      receivedBytes: 1000,
      outputHash: 'abc',
    },
    ...changes,
  };
}
