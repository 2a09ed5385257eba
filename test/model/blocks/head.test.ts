import { headLogits, mostLikely, sampleToken, tokenProbabilities } from '@epsim/model';
import { randomSource } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anySeed, normals } from './support.js';

test('logits are the products of the normed state with each word', () => {
  const logits = headLogits(Float32Array.of(3, 4), {
    norm: Float32Array.of(1, 2),
    words: Float32Array.of(1, 0, 1, 0, 1, 1),
  });
  const rms = Math.sqrt(12.5 + 1e-5);
  [3 / rms, 8 / rms, 11 / rms].forEach((expected, i) => {
    expect(logits[i]).toBeCloseTo(expected, 5);
  });
});

test('probabilities sum to one, and a lower temperature sharpens them', () => {
  fc.assert(
    fc.property(anySeed(), (seed) => {
      const logits = normals(20, seed, 3);
      const [warm, cold] = [tokenProbabilities(logits, 1), tokenProbabilities(logits, 0.5)];
      expect(warm.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
      expect(cold[mostLikely(logits)]).toBeGreaterThanOrEqual(warm[mostLikely(logits)]);
    }),
  );
});

test('the same seed draws the same tokens, and draws come as often as their probabilities say', () => {
  const logits = Float32Array.of(0, 1, 2, -1);
  const draws = (seed: number) => {
    const random = randomSource(seed, 'sampling');
    return Array.from({ length: 4000 }, () => sampleToken(logits, 1, random));
  };
  expect(draws(3)).toEqual(draws(3));
  expect(draws(3)).not.toEqual(draws(4));
  const expected = tokenProbabilities(logits, 1);
  expected.forEach((probability, token) => {
    const share = draws(5).filter((drawn) => drawn === token).length / 4000;
    expect(Math.abs(share - probability)).toBeLessThan(0.03);
  });
});

test('temperature 0 takes the largest logit, the lowest of equals', () => {
  expect(sampleToken(Float32Array.of(1, 7, 7, 2), 0, randomSource(1, 'x'))).toBe(1);
  expect(() => tokenProbabilities(Float32Array.of(1), -1)).toThrow(RangeError);
});
