import {
  embedTokens,
  k3Forward,
  k3Logits,
  k3Loss,
  k3Sequence,
  type Parameters,
  quantileBias,
  seededMaker,
  stepRule,
  Tape,
  Trainer,
  trainableParameters,
  trainMini,
  weightsOfParameters,
} from '@epsim/model';
import { type ModelShape, type MoeShape, modelPresets, randomSource } from '@epsim/spec';
import { topKNaive } from '@epsim/tensor';
import { describe, expect, test } from 'vitest';
import { normals, relError } from './support.js';

const mini = modelPresets['kimi-k3-mini'];
const moe: MoeShape = { ...mini.moe, expertCount: 6, expertWidth: 8, expertInnerSize: 8, sharedInnerSize: 4 };

/** Every kind of layer once, at the smallest widths: dense, experts, delta attention with its gate, a global read. */
function tinyShape(logDecayBound: number | null): ModelShape {
  const kda = {
    kind: 'kda',
    headCount: 2,
    headDim: 4,
    convSize: 3,
    gateRank: 3,
    fullRankOutputGate: true,
    logDecayBound,
  } as const;
  const mla = {
    ...mini.layers[3].attention,
    headCount: 2,
    qLoraRank: 5,
    kvLoraRank: 6,
    nopeHeadDim: 3,
    ropeHeadDim: 2,
    valueHeadDim: 4,
  };
  return {
    ...mini,
    name: 'tiny',
    hiddenSize: 12,
    vocabSize: 11,
    attnResBlockLayers: 2,
    moe,
    layers: [
      { attention: kda, ffn: { kind: 'dense', innerSize: 10 } },
      { attention: kda, ffn: moe },
      { attention: mla as ModelShape['layers'][0]['attention'], ffn: moe },
    ],
  };
}

const tiny = tinyShape(-5);

/** A start where nothing is zero, so that every gradient is felt. */
function anyStart(shape: ModelShape, seed: number): Parameters {
  const make = seededMaker(shape, seed);
  return trainableParameters(shape, (name, rows, columns, kind) => {
    const values = make(name, rows, columns, kind);
    const noise = normals(values.length, seed + values.length, kind === 'zero' ? 0.3 : 0.1);
    return kind === 'matrix' ? values : values.map((x, i) => x + noise[i]);
  });
}

const ids = Int32Array.of(3, 1, 4, 1, 5, 9, 2, 6, 5);

describe('the recorded pass', () => {
  test.each([tiny, mini])('gives the logits of the forward pass: $name', async (shape) => {
    const parameters = anyStart(shape, 4);
    const recorded = k3Logits(new Tape(), shape, parameters, ids);
    const model = { shape, weights: weightsOfParameters(shape, parameters) };
    const logits = await k3Forward(model, k3Sequence(shape), embedTokens(model, ids));
    expect(relError(recorded.values, logits)).toBeLessThan(2e-5);
  });

  test.each([-5, null])(
    'has the gradients of central differences, in every tensor (decay bound %s)',
    (bound) => {
      const shape = tinyShape(bound);
      const parameters = anyStart(shape, 21);
      const lossNow = () => k3Loss(new Tape(), shape, parameters, ids).values[0];
      const tape = new Tape();
      tape.backward(k3Loss(tape, shape, parameters, ids));
      const wrong: string[] = [];
      let felt = 0;
      for (const { name, values, grads } of parameters.values()) {
        if (name.endsWith('selectionBias')) continue;
        for (const at of new Set([0, values.length >> 1, values.length - 1])) {
          const before = values[at];
          const h = 1e-5;
          values[at] = before + h;
          const above = lossNow();
          values[at] = before - h;
          const slope = (above - lossNow()) / (2 * h);
          values[at] = before;
          if (Math.abs(slope) > 1e-7) felt++;
          if (Math.abs(slope - grads[at]) > 1e-7 + 1e-5 * Math.abs(slope))
            wrong.push(`${name}[${at}]: ${grads[at]}, not ${slope}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(felt).toBeGreaterThan(150);
    },
  );
});

describe('quantile balancing', () => {
  test('turns loads of 5, 2, 1, 0 into 2, 2, 2, 2', () => {
    const scores = Float32Array.of(
      ...[0.9, 0.5, 0.3, 0.2],
      ...[0.8, 0.6, 0.2, 0.3],
      ...[0.9, 0.2, 0.6, 0.4],
      ...[0.7, 0.4, 0.5, 0.6],
      ...[0.8, 0.1, 0.4, 0.65],
      ...[0.5, 0.9, 0.3, 0.2],
      ...[0.4, 0.8, 0.2, 0.1],
      ...[0.3, 0.2, 0.8, 0.1],
    );
    const loads = (bias: Float32Array) => {
      const out = [0, 0, 0, 0];
      for (let token = 0; token < 8; token++) {
        out[
          topKNaive(
            bias.map((b, e) => b + scores[token * 4 + e]),
            1,
          )[0]
        ]++;
      }
      return out;
    };
    expect(loads(new Float32Array(4))).toEqual([5, 2, 1, 0]);
    let bias: Float32Array = new Float32Array(4);
    for (let pass = 0; pass < 8; pass++) bias = quantileBias(scores, bias, 1);
    expect(loads(bias)).toEqual([2, 2, 2, 2]);
    expect(bias.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6);
  });

  test('puts each expert half-way between the gap of the last token of its share and the next', () => {
    const [tokens, experts, topK, share] = [40, 8, 2, 10];
    const scores = normals(tokens * experts, 3);
    const bias = normals(experts, 4);
    const cutoffs = Array.from({ length: tokens }, (_, t) => {
      const biased = Array.from(bias, (b, e) => scores[t * experts + e] + b);
      return biased.sort((a, b) => b - a)[topK];
    });
    const half = Array.from(bias, (_, e) => {
      const gaps = cutoffs.map((cutoff, t) => cutoff - scores[t * experts + e]).sort((a, b) => a - b);
      return (gaps[share - 1] + gaps[share]) / 2;
    });
    const mean = half.reduce((a, b) => a + b, 0) / experts;
    const expected = half.map((x) => x - mean);
    expect(relError(quantileBias(scores, bias, topK), expected)).toBeLessThan(1e-6);
  });
});

describe('training', () => {
  test('heads are stepped by themselves, other products whole, and everything else by AdamW', () => {
    const parameters = trainableParameters(mini, seededMaker(mini, 1));
    const rule = (name: string, perHead = true) => stepRule(mini, parameters.get(name)!, perHead);
    expect(rule('layers.0.kda.query')).toEqual({ kind: 'muon', blockColumns: 16 });
    expect(rule('layers.3.mla.keyUp')).toEqual({ kind: 'muon', blockColumns: 12 });
    expect(rule('layers.0.kda.query', false)).toEqual({ kind: 'muon', blockColumns: 64 });
    expect(rule('layers.0.kda.out')).toEqual({ kind: 'muon', blockColumns: 64 });
    expect(rule('layers.1.moe.experts.5.gate')).toEqual({ kind: 'muon', blockColumns: 32 });
    for (const name of [
      'layers.0.kda.beta',
      'layers.0.kda.queryConv',
      'embedding',
      'head.words',
      'outputMix.query',
    ]) {
      expect(rule(name)).toEqual({ kind: 'adamw' });
    }
  });

  test.each([true, false])(
    'on one short text the loss falls by half, step for step reproducibly (per head: %s)',
    (perHead) => {
      const run = () => {
        const options = { muonRate: 0.05, adamRate: 0.01, weightDecay: 0.01, perHead };
        const trainer = new Trainer(tiny, trainableParameters(tiny, seededMaker(tiny, 2)), options);
        return Array.from({ length: 25 }, () => trainer.step([ids, ids.toReversed()]));
      };
      const reports = run();
      expect(reports[24].loss).toBeLessThan(0.5 * reports[0].loss);
      expect(run()).toEqual(reports);
    },
  );

  test('quantile balancing keeps the busiest expert nearer to the mean than no balancing does', () => {
    const random = randomSource(6, 'tokens');
    const batch = [0, 1].map(() => Int32Array.from({ length: 49 }, () => Math.floor(random.uniform() * 11)));
    const busiest = (balance: boolean) => {
      const options = { muonRate: 0.01, adamRate: 0.005, weightDecay: 0.01, perHead: true };
      const trainer = new Trainer(tiny, trainableParameters(tiny, seededMaker(tiny, 3)), {
        ...options,
        ...(balance ? {} : { balance: (_layer, _scores, bias) => bias }),
      });
      return [0, 1, 2, 3].map(() => trainer.step(batch).maxVio);
    };
    const [balanced, free] = [busiest(true), busiest(false)];
    expect(balanced[0]).toBe(free[0]);
    expect(balanced[3]).toBeLessThan(0.5 * free[3]);
  });
});

test('a short run on the small text is the same for the same seed, and its loss falls', () => {
  const wordy = { ...tiny, vocabSize: 96 };
  const options = { muonRate: 0.05, adamRate: 0.02, weightDecay: 0.01, perHead: true };
  const run = (seed: number) => {
    const sizes = { seed, steps: 12, sequences: 2, tokensPerSequence: 24 };
    return [...trainMini(wordy, { ...options, ...sizes })].map((report) => report.loss);
  };
  const losses = run(1);
  expect(losses[11]).toBeLessThan(0.75 * losses[0]);
  expect(run(1)).toEqual(losses);
  expect(run(2)).not.toEqual(losses);
});
