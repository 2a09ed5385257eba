/**
 * The balanced optimum: even to one choice, never above its own bound, and around the true optimum of small cases.
 */
import { assignBalanced, routingPolicies, scoreRows } from '@epsim/routing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchOf, contextOf, loadsOf, routeSteps, skewedLogits } from './support.js';

function scoresFor(seed: number, tokens: number, expertCount: number, skew = 1): Float32Array {
  const scores = skewedLogits(seed, tokens, expertCount, skew);
  scoreRows('sigmoid', scores, tokens, expertCount);
  return scores;
}

/** The most score mass of any assignment with k distinct experts a token and loads even to one, by trying all. */
function optimumByTrying(scores: Float32Array, expertCount: number, topK: number): number {
  const tokens = scores.length / expertCount;
  const mean = (tokens * topK) / expertCount;
  const loads = new Array<number>(expertCount).fill(0);
  let best = -Infinity;
  function place(token: number, from: number, left: number, mass: number): void {
    if (left === 0) {
      if (token + 1 < tokens) place(token + 1, 0, topK, mass);
      else if (Math.min(...loads) >= Math.floor(mean)) best = Math.max(best, mass);
      return;
    }
    for (let e = from; e <= expertCount - left; e++) {
      if (loads[e] >= Math.ceil(mean)) continue;
      loads[e]++;
      place(token, e + 1, left - 1, mass + scores[token * expertCount + e]);
      loads[e]--;
    }
  }
  place(0, 0, topK, 0);
  return best;
}

test('on cases small enough to try everything, the optimum lies between the assignment and its bound', () => {
  const shape = fc.record({
    tokens: fc.integer({ min: 1, max: 6 }),
    expertCount: fc.integer({ min: 2, max: 4 }),
    topK: fc.integer({ min: 1, max: 2 }),
    seed: fc.nat(1e6),
  });
  fc.assert(
    fc.property(shape, ({ tokens, expertCount, topK, seed }) => {
      const scores = scoresFor(seed, tokens, expertCount);
      const { mass, massBound } = assignBalanced(scores, expertCount, topK);
      const optimum = optimumByTrying(scores, expertCount, topK);
      expect(mass).toBeLessThanOrEqual(optimum + 1e-6);
      expect(massBound).toBeGreaterThanOrEqual(optimum - 1e-6);
    }),
    { numRuns: 100 },
  );
});

test('of six tokens over four experts it keeps 99 % of the optimum on average', () => {
  let mass = 0;
  let optimum = 0;
  for (let seed = 0; seed < 200; seed++) {
    const scores = scoresFor(seed, 6, 4);
    mass += assignBalanced(scores, 4, 2).mass;
    optimum += optimumByTrying(scores, 4, 2);
  }
  expect(mass / optimum).toBeGreaterThan(0.99);
});

test('loads are even to one choice, whatever the skew, and the gap to the bound is small on real batches', () => {
  for (const [tokens, expertCount, topK, skew] of [
    [500, 24, 4, 1],
    [512, 16, 2, 3],
    [300, 64, 8, 0],
  ]) {
    const { experts, mass, massBound } = assignBalanced(
      scoresFor(3, tokens, expertCount, skew),
      expertCount,
      topK,
    );
    const loads = loadsOf(experts, expertCount);
    expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
    expect((massBound - mass) / massBound).toBeLessThan(1e-3);
  }
});

test('equal scores everywhere still end in balance', () => {
  const { experts } = assignBalanced(new Float32Array(40 * 8).fill(0.5), 8, 3);
  expect(loadsOf(experts, 8)).toEqual(new Array(8).fill(15));
});

test('no balanced assignment drawn at random has more mass than the bound', () => {
  fc.assert(
    fc.property(fc.nat(1e6), fc.integer({ min: 1, max: 8 }), (seed, perExpert) => {
      const expertCount = 6;
      const scores = scoresFor(seed, perExpert * expertCount, expertCount);
      const { massBound } = assignBalanced(scores, expertCount, 1);
      let mass = 0;
      for (let token = 0; token < perExpert * expertCount; token++) {
        mass += scores[token * expertCount + ((token + seed) % expertCount)];
      }
      expect(mass).toBeLessThanOrEqual(massBound + 1e-6);
    }),
    { numRuns: 50 },
  );
});

test('as a policy it stands between random and top-k in score, at perfect balance', () => {
  const batch = batchOf(skewedLogits(6, 1024, 32), 32);
  const route = (name: 'lp-assignment' | 'random-uniform') =>
    routeSteps(routingPolicies[name], contextOf(32, 4), batch, 1)[0];
  const bound = route('lp-assignment');
  expect(loadsOf(bound.experts, 32)).toEqual(new Array(32).fill(128));
  expect(bound.stats.scoreRetention).toBeLessThan(1);
  expect(bound.stats.scoreRetention).toBeGreaterThan(route('random-uniform').stats.scoreRetention + 0.1);
});
