/**
 * Scores, selection and quantiles: each fast form against the form to read, and known values.
 */
import {
  createExactGaps,
  createGapHistogram,
  createSelector,
  maxVioFloor,
  quantileNaive,
  type Scoring,
  scoreRowNaive,
  scoreRows,
  selectNaive,
} from '@epsim/routing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { skewedLogits } from './support.js';

const scorings: readonly Scoring[] = ['sigmoid', 'softmax', 'softmax-over-top-k', 'sqrt-softplus'];

test.each(scorings)(
  '%s by table is within its tolerance of the plain form, far tails included',
  (scoring) => {
    const value = fc.oneof(
      fc.float({ min: -8, max: 8, noNaN: true }),
      fc.float({ min: -300, max: 300, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 30 }), (row) => {
        const plain = new Float32Array(row.length);
        scoreRowNaive(scoring, Float32Array.from(row), 0, row.length, plain);
        const fast = Float32Array.from(row);
        scoreRows(scoring, fast, 1, row.length);
        const largest = Math.max(...row);
        plain.forEach((p, i) => {
          const distance = scoring.startsWith('softmax') ? largest - row[i] : 0;
          // Below 1e-37 float32 keeps fewer digits than the tolerance asks for.
          expect(Math.abs(fast[i] - p)).toBeLessThanOrEqual(2e-7 * (1 + distance) * p + 1e-37);
        });
      }),
    );
  },
);

test('known scores: sigmoid(0) = 1/2, sqrt(softplus(0)) = sqrt(ln 2), softmax of equals = 1 / E', () => {
  const scored = (scoring: Scoring, row: number[]) => {
    const values = Float32Array.from(row);
    scoreRows(scoring, values, 1, row.length);
    return [...values];
  };
  expect(scored('sigmoid', [0, Math.log(3)])).toEqual([0.5, 0.75]);
  expect(scored('sqrt-softplus', [0])[0]).toBeCloseTo(Math.sqrt(Math.LN2), 7);
  expect(scored('softmax', [3, 3, 3, 3])).toEqual([0.25, 0.25, 0.25, 0.25]);
  expect(scored('softmax-over-top-k', [Math.log(3), 0])[0]).toBeCloseTo(0.75, 7);
});

test('selection equals a full sort over any sequence of rows, ties included', () => {
  // Scores on a grid of eight values tie all the time.
  const grid = fc.integer({ min: 0, max: 8 }).map((n) => n / 8);
  const shape = fc.record({
    expertCount: fc.integer({ min: 1, max: 40 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(shape, fc.infiniteStream(grid), ({ expertCount, share }, stream) => {
      const next = () => stream.next().value as number;
      const k = 1 + Math.floor(share * (expertCount - 1));
      const selector = createSelector(expertCount, k);
      const bias = Float32Array.from({ length: expertCount }, () => next() - 0.5);
      for (let row = 0; row < 8; row++) {
        // Rows move up and down together, so that the guess of a threshold is often wrong.
        const level = Math.round(next() * 3);
        const scores = Float32Array.from({ length: expertCount }, () => level + next());
        const expected = selectNaive(scores, 0, expertCount, bias, k);
        selector.select(scores, 0, bias);
        expect([...selector.ids]).toEqual(expected);
      }
    }),
  );
});

test('equal scores go to the lower id', () => {
  const selector = createSelector(5, 3);
  selector.select(Float32Array.of(1, 2, 1, 2, 1), 0, new Float32Array(5));
  expect([...selector.ids]).toEqual([1, 3, 0]);
});

test('a row of numbers that cannot be ranked is refused', () => {
  const selector = createSelector(3, 2);
  expect(() => selector.select(Float32Array.of(Number.NaN, 1, Number.NaN), 0, new Float32Array(3))).toThrow(
    RangeError,
  );
});

/** Gaps of each expert, [expertCount][tokens], as float32. */
function gapsOf(scores: Float32Array, cutoffs: Float32Array, expertCount: number): number[][] {
  return Array.from({ length: expertCount }, (_, expert) =>
    [...cutoffs].map((cutoff, token) => Math.fround(cutoff - scores[token * expertCount + expert])),
  );
}

const gapCase = fc.record({
  expertCount: fc.integer({ min: 1, max: 6 }),
  tokens: fc.integer({ min: 1, max: 60 }),
  fraction: fc.double({ min: 0.01, max: 1, noNaN: true }),
  seed: fc.nat(1e6),
  /** Coarse scores make equal gaps. */
  coarse: fc.boolean(),
});

function scoresFor({
  expertCount,
  tokens,
  seed,
  coarse,
}: {
  expertCount: number;
  tokens: number;
  seed: number;
  coarse: boolean;
}) {
  const scores = skewedLogits(seed, tokens, expertCount);
  scoreRows('sigmoid', scores, tokens, expertCount);
  if (coarse) for (let i = 0; i < scores.length; i++) scores[i] = Math.round(scores[i] * 4) / 4;
  const cutoffs = Float32Array.from({ length: tokens }, (_, t) => (coarse ? 0.5 : 0.3 + (0.4 * t) / tokens));
  return { scores, cutoffs };
}

test('the radix search finds the quantile that sorting finds, bit for bit', () => {
  fc.assert(
    fc.property(gapCase, (c) => {
      const { scores, cutoffs } = scoresFor(c);
      const exact = createExactGaps(c.expertCount, c.fraction);
      const out = new Float64Array(c.expertCount);
      exact.begin(new Float32Array(c.expertCount), 1);
      let passes = 0;
      do {
        cutoffs.forEach((cutoff, t) => {
          exact.add(scores, t * c.expertCount, cutoff);
        });
        passes++;
      } while (!exact.endPass(out));
      expect(passes).toBe(3);
      const expected = gapsOf(scores, cutoffs, c.expertCount).map((gaps) => quantileNaive(gaps, c.fraction));
      expect([...out]).toEqual(expected);
    }),
  );
});

test('the histogram admits the wanted number of tokens to within the tokens of one bin', () => {
  fc.assert(
    fc.property(gapCase, (c) => {
      const { scores, cutoffs } = scoresFor(c);
      const histogram = createGapHistogram(c.expertCount, c.fraction, undefined, 50);
      const out = new Float64Array(c.expertCount);
      histogram.begin(new Float32Array(c.expertCount), 1);
      cutoffs.forEach((cutoff, t) => {
        histogram.add(scores, t * c.expertCount, cutoff);
      });
      expect(histogram.endPass(out)).toBe(true);
      const binWidth = 2 / 50;
      gapsOf(scores, cutoffs, c.expertCount).forEach((gaps, expert) => {
        const below = gaps.filter((gap) => gap < out[expert] - binWidth - 1e-6).length;
        const within = gaps.filter((gap) => gap <= out[expert] + binWidth + 1e-6).length;
        expect(below).toBeLessThanOrEqual(c.tokens * c.fraction + 1e-9);
        expect(within).toBeGreaterThanOrEqual(c.tokens * c.fraction - 1e-9);
      });
    }),
  );
});

test('the histogram interpolates inside a bin', () => {
  // Four bins of width 0.5 from -1; gaps -0.9, 0.1, 0.2, 0.3 and 0.7, one expert that should admit 40 % of five.
  const histogram = createGapHistogram(1, 0.4, undefined, 4);
  const out = new Float64Array(1);
  histogram.begin(new Float32Array(1), 1);
  for (const gap of [-0.9, 0.1, 0.2, 0.3, 0.7]) histogram.add(Float32Array.of(0.5), 0, 0.5 + gap);
  histogram.endPass(out);
  expect([...histogram.counts]).toEqual([1, 0, 3, 1]);
  // One token below the third bin; the second is a third of the way through its three.
  expect(out[0]).toBeCloseTo(0.5 / 3, 12);
});

test('histograms of two halves of a batch add up to the histogram of the whole', () => {
  fc.assert(
    fc.property(gapCase, fc.nat(60), (c, cut) => {
      const { scores, cutoffs } = scoresFor(c);
      const parts = [0, 1, 2].map(() => createGapHistogram(c.expertCount, c.fraction));
      const [whole, first, second] = parts;
      for (const part of parts) part.begin(new Float32Array(c.expertCount), 1);
      cutoffs.forEach((cutoff, t) => {
        whole.add(scores, t * c.expertCount, cutoff);
        (t < cut ? first : second).add(scores, t * c.expertCount, cutoff);
      });
      first.merge(second.counts);
      const [expected, merged] = [whole, first].map((h) => {
        const out = new Float64Array(c.expertCount);
        h.endPass(out);
        return out;
      });
      expect(first.counts).toEqual(whole.counts);
      expect(merged).toEqual(expected);
    }),
  );
});

test('the sampling floor of Kimi K3 with 32,768 tokens is 0.15', () => {
  expect(maxVioFloor(896, (32768 * 16) / 896)).toBeCloseTo(0.1524, 4);
  expect(() => maxVioFloor(896, 0)).toThrow(RangeError);
});
