import { skews, workloadKinds } from '@epsim/workload';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { correlation, k3, loadsOf, logitsOf, maxOverMean, rankLoads, small, sum } from './support.js';

const { synthetic } = workloadKinds;

/** Abramowitz and Stegun 26.2.17, |error| < 7.5e-8: not the table that the package uses. */
function normalBelow(x: number): number {
  if (x < 0) return 1 - normalBelow(-x);
  const t = 1 / (1 + 0.2316419 * x);
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI)) * series;
}

describe('router scores', () => {
  test('without skew are standard normal: no gap to the distribution beyond sampling, tails included', () => {
    const logits = logitsOf(synthetic.create(k3, { skew: { kind: 'uniform' } }).batch(0, 0), 0).sort();
    let gap = 0;
    for (let i = 0; i < logits.length; i++)
      gap = Math.max(gap, Math.abs((i + 0.5) / logits.length - normalBelow(logits[i])));
    // Kolmogorov-Smirnov: above 1.95 / sqrt(n) with a chance of 0.001.
    expect(gap).toBeLessThan(1.95 / Math.sqrt(logits.length));
    for (const x of [-3.9, -3.654, -3]) {
      const expected = normalBelow(x) * logits.length;
      const seen = logits.findIndex((value) => value >= x);
      expect(Math.abs(seen - expected)).toBeLessThan(4 * Math.sqrt(expected));
    }
  });

  test('are the same whoever asks, in whatever order, and differ by seed, step, layer and rank', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(50), fc.nat(2), fc.nat(3), (seed, step, layer, rank) => {
        const options = { topics: {}, drift: 0.01, perRank: 0.1 };
        const one = synthetic.create({ ...small, seed }, options);
        const first = logitsOf(one.batch(step, layer), rank);
        logitsOf(one.batch(step + 1, (layer + 1) % 3), 0);
        expect(logitsOf(one.batch(step, layer), rank)).toEqual(first);
        expect(logitsOf(synthetic.create({ ...small, seed }, options).batch(step, layer), rank)).toEqual(
          first,
        );
        expect(logitsOf(one.batch(step + 1, layer), rank)).not.toEqual(first);
        expect(logitsOf(one.batch(step, (layer + 1) % 3), rank)).not.toEqual(first);
        expect(logitsOf(one.batch(step, layer), (rank + 1) % 4)).not.toEqual(first);
        expect(
          logitsOf(synthetic.create({ ...small, seed: seed + 1 }, options).batch(step, layer), rank),
        ).not.toEqual(first);
      }),
      { numRuns: 20 },
    );
  });

  test('lean the same way within a request and not between requests', () => {
    const context = { ...k3, tokensPerRank: 64 };
    const options = { skew: { kind: 'uniform' }, topics: { count: 64, strength: 1, tokensPerRequest: 32 } };
    const logits = logitsOf(synthetic.create(context, options).batch(0, 0), 0);
    const row = (token: number) => logits.subarray(token * 896, (token + 1) * 896);
    // Half of the variance is the topic's.
    expect(correlation(row(0), row(31))).toBeGreaterThan(0.4);
    expect(correlation(row(0), row(31))).toBeLessThan(0.6);
    expect(Math.abs(correlation(row(0), row(32)))).toBeLessThan(0.15);
  });

  test('of one rank differ from those of another when ranks have data of their own', () => {
    const loadsOfRank = (perRank: number, rank: number): Float64Array => {
      const logits = logitsOf(synthetic.create(k3, { skew: { kind: 'uniform' }, perRank }).batch(0, 0), rank);
      return Float64Array.from({ length: 896 }, (_, e) => {
        let total = 0;
        for (let token = 0; token < 256; token++) total += logits[token * 896 + e];
        return total;
      });
    };
    const spread = (values: Float64Array): number => Math.sqrt(sum(values.map((v) => v * v)) / 896) / 256;
    expect(spread(loadsOfRank(0.5, 0))).toBeGreaterThan(0.4);
    expect(spread(loadsOfRank(0, 0))).toBeLessThan(0.1);
    expect(Math.abs(correlation(loadsOfRank(0.5, 0), loadsOfRank(0.5, 1)))).toBeLessThan(0.15);
  });
});

describe('the order of popularity', () => {
  const loadsAt = (options: object, step: number, layer: number): Float64Array =>
    loadsOf(
      synthetic.create(k3, { skew: { kind: 'log-normal', sigma: 0.5 }, ...options }).batch(step, layer),
      16,
    );

  test('is unrelated between layers, or the same, or in between as asked', () => {
    const between = (layerCorrelation: number) =>
      correlation(loadsAt({ layerCorrelation }, 0, 0), loadsAt({ layerCorrelation }, 0, 1));
    expect(Math.abs(between(0))).toBeLessThan(0.15);
    expect(between(1)).toBeGreaterThan(0.6);
    expect(between(0.7)).toBeGreaterThan(0.2);
    expect(between(0.7)).toBeLessThan(between(1));
  });

  test('drifts away over the steps while its spread stays', () => {
    const start = loadsAt({ drift: 0.02 }, 0, 0);
    const near = correlation(start, loadsAt({ drift: 0.02 }, 5, 0));
    const far = correlation(start, loadsAt({ drift: 0.02 }, 60, 0));
    expect(near).toBeGreaterThan(0.6);
    expect(Math.abs(far)).toBeLessThan(0.2);
    expect(correlation(start, loadsAt({ drift: 0 }, 60, 0))).toBeGreaterThan(0.9);
    expect(maxOverMean(loadsAt({ drift: 0.02 }, 60, 0)) / maxOverMean(start)).toBeGreaterThan(0.8);
  });
});

describe.each(Object.entries(skews))('skew %s', (name, skew) => {
  const options = name === 'outcome' ? { kind: name, expertMaxOverMean: 3 } : { kind: name };

  test('names itself in its options and describes itself with them', () => {
    expect(skew.options.parse(options)).toMatchObject({ kind: name });
    expect(skew.describe(skew.options.parse(options))).not.toBe('');
    expect(skew.options.safeParse({ ...options, nonsense: 1 }).success).toBe(false);
  });

  test('gives finite scores whose top-k loads sum to tokens x top-k', () => {
    const batch = synthetic.create(small, { skew: options }).batch(2, 1);
    expect(logitsOf(batch, 3).every(Number.isFinite)).toBe(true);
    expect(sum(loadsOf(batch, 4))).toBe(4 * 64 * 4);
  });
});

describe('skews', () => {
  const loadsWith = (skew: object): Float64Array => {
    const context = { ...k3, rankCount: 4 };
    return loadsOf(synthetic.create(context, { skew }).batch(0, 0), 16);
  };

  test('uniform loads differ by sampling alone', () => {
    const loads = loadsWith({ kind: 'uniform' });
    const mean = (4 * 256 * 16) / 896;
    const variance = sum(loads.map((load) => (load - mean) ** 2)) / 896;
    // A token's choices are distinct: the variance of each count is tokens x p (1 - p).
    expect(variance / (mean * (1 - 16 / 896))).toBeGreaterThan(0.8);
    expect(variance / (mean * (1 - 16 / 896))).toBeLessThan(1.2);
  });

  test('a wider log-normal is more uneven', () => {
    const widths = [0, 0.25, 0.5, 1].map((sigma) => maxOverMean(loadsWith({ kind: 'log-normal', sigma })));
    expect([...widths].sort((a, b) => a - b)).toEqual(widths);
    expect(widths[0]).toBeLessThan(2);
    expect(widths[3]).toBeGreaterThan(15);
  });

  test('power-law counts have the published distribution: log-uniform near exponent 1', () => {
    // x^-1.01 on [1, 1638.4]: half of the counts lie below 37.8, and their mean is 215.3, by integration.
    const { values } = skews['power-law'].popularity(
      { ...k3, rankCount: 8, random: evenlySpaced(896), placesOf: () => new Int32Array(896) },
      { kind: 'power-law', alpha: 1.01 },
    );
    expect(Math.abs(values[448] / 37.8 - 1)).toBeLessThan(0.01);
    expect(Math.abs(sum(values) / 896 / 215.3 - 1)).toBeLessThan(0.01);
    expect(values[0]).toBeLessThanOrEqual(0.8 * 2048);
    expect(values[895]).toBeGreaterThanOrEqual(1);
  });

  test('Zipf gives place 1 twice the load of place 2 and three times that of place 3', () => {
    const context = { ...small, tokensPerRank: 1024, topK: 1 };
    const loads = loadsOf(synthetic.create(context, { skew: { kind: 'zipf', exponent: 1 } }).batch(0, 0), 1);
    const [first, second, third] = [...loads].sort((a, b) => b - a);
    expect(first / second / 2).toBeCloseTo(1, 0.9);
    expect(first / third / 3).toBeCloseTo(1, 0.8);
  });

  test.each([
    [{ expertMaxOverMean: 6 }, 6, undefined],
    [{ rankMaxOverMean: 1.3 }, undefined, 1.3],
    [{ kind: 'outcome', expertMaxOverMean: 9, rankMaxOverMean: 2.2 }, 9, 2.2],
  ])('asked for by outcome %o come out within 8 %% in every layer', (skew, expert, rank) => {
    const context = { ...k3, expertCount: 128, topK: 8, rankCount: 16 };
    const workload = synthetic.create(context, { skew });
    for (const layer of [0, 1, 2]) {
      const loads = loadsOf(workload.batch(0, layer), 8);
      if (expert !== undefined) expect(Math.abs(maxOverMean(loads) / expert - 1)).toBeLessThan(0.08);
      if (rank !== undefined)
        expect(Math.abs(maxOverMean(rankLoads(loads, 16)) / rank - 1)).toBeLessThan(0.08);
    }
  });

  test('that cannot be reached say what can', () => {
    expect(() => synthetic.create(k3, { skew: { expertMaxOverMean: 60 } })).toThrow(
      /skew.expertMaxOverMean: out of reach: 60; 896 experts, top-16, on 4 ranks x 256 tokens give at most 5\d/,
    );
    expect(() => synthetic.create({ ...k3, tokensPerRank: 4 }, { skew: { rankMaxOverMean: 1.01 } })).toThrow(
      /skew.rankMaxOverMean: out of reach: 1.01; .* give at least 1.1/,
    );
    expect(() => synthetic.create(k3, { skew: { kind: 'outcome' } })).toThrow(/nothing asked/);
  });
});

describe('contexts and options', () => {
  test('that make no sense are refused with the values', () => {
    expect(() => synthetic.create({ ...small, topK: 33 }, {})).toThrow(/top-33 of 32 experts/);
    expect(() => synthetic.create({ ...small, tokensPerRank: 0 }, {})).toThrow(/tokensPerRank .* not 0/);
    expect(() => synthetic.create(small, { skew: { kind: 'zipff' } })).toThrow();
    const batch = synthetic.create(small, {}).batch(0, 0);
    expect(() => batch.readLogits(0, new Float32Array(10))).toThrow(
      'out has 10 elements, rank 0 needs [64 x 32]',
    );
    expect(() => batch.readLogits(4, new Float32Array(64 * 32))).toThrow('rank 4 of a batch with 4 ranks');
    expect(() => synthetic.create(small, {}).batch(0, 3)).toThrow('layer 3 of a workload with layers 0 to 2');
    expect(() => synthetic.create(small, {}).batch(-1, 0)).toThrow('step -1');
  });

  test('are told in sentences', () => {
    const { description } = synthetic.create(small, {
      skew: { kind: 'power-law' },
      drift: 0.1,
      topics: {},
      perRank: 0.1,
    });
    expect(description.join('. ')).toMatch(
      /power-law popularity with exponent 1.01.*topics.*rank.*after 10 steps/,
    );
  });
});

/** A source whose uniforms are evenly spaced, so that a skew's draws are its quantiles. */
function evenlySpaced(count: number) {
  let next = 0;
  return {
    uint32: () => 0,
    uniform: () => (next++ + 0.5) / count,
    normal: () => 0,
  };
}
