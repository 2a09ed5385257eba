import { type BenchmarkShape, balancedLoads, loadsOf, powerLawLoads } from '@epsim/calibration';
import { randomSource } from '@epsim/spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const anyShape = fc
  .record({
    tokens: fc.integer({ min: 1, max: 300 }),
    perRank: fc.integer({ min: 1, max: 12 }),
    ranks: fc.integer({ min: 1, max: 6 }),
    topK: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ tokens, perRank, ranks, topK }) => ({
    tokens,
    expertCount: perRank * ranks,
    ranks,
    topK: Math.min(topK, perRank * ranks),
  }));

const sum = (loads: Int32Array): number => loads.reduce((all, rows) => all + rows, 0);

/** The same loads with every left over unit dealt out by itself: rank after rank, to the least loaded expert. */
function naivePowerLaw(shape: BenchmarkShape, alpha: number, seed: number): Int32Array {
  const { tokens, expertCount, topK, ranks } = shape;
  const choices = tokens * topK;
  const [low, high] = choices > expertCount ? [1, 0.8 * tokens] : [0.01, 2];
  const random = randomSource(seed, 'power-law-loads', tokens, expertCount, ranks);
  const from = low ** (1 - alpha);
  const shares = Array.from(
    { length: expertCount },
    () => ((high ** (1 - alpha) - from) * random.uniform() + from) ** (1 / (1 - alpha)),
  );
  const total = shares.reduce((all, share) => all + share, 0);
  const wanted = shares.map((share) => Math.round((share / total) * choices));
  const loads = wanted.map((rows) => Math.min(rows, tokens));
  const perRank = expertCount / ranks;
  const deal = (count: number, step: 1 | -1): void => {
    for (let left = count, idle = 0, rank = 0; left > 0 && idle < ranks; rank = (rank + 1) % ranks) {
      const own = Array.from({ length: perRank }, (_, i) => rank * perRank + i);
      const open = own.filter((e) => (step === 1 ? (loads[e] as number) < tokens : (loads[e] as number) > 0));
      idle = open.length === 0 ? idle + 1 : 0;
      if (open.length === 0) continue;
      const chosen = open.reduce((best, e) =>
        step * ((loads[e] as number) - (loads[best] as number)) < 0 ? e : best,
      );
      loads[chosen] = (loads[chosen] as number) + step;
      left--;
    }
  };
  deal(
    wanted.reduce((all, rows) => all + Math.max(0, rows - tokens), 0),
    1,
  );
  const rest = choices - loads.reduce((all, rows) => all + rows, 0);
  deal(Math.abs(rest), rest > 0 ? 1 : -1);
  const groups = Array.from({ length: ranks }, (_, rank) =>
    loads.slice(rank * perRank, (rank + 1) * perRank),
  );
  const sums = groups.map((group) => group.reduce((all, rows) => all + rows, 0));
  return Int32Array.from(groups[sums.indexOf(Math.max(...sums))] as number[]);
}

describe('loads of published benchmarks', () => {
  test('dealing out whole levels at a time gives what dealing out one by one gives', () => {
    fc.assert(
      fc.property(
        anyShape,
        fc.double({ min: 1.01, max: 2, noNaN: true }),
        fc.nat(99),
        (shape, alpha, seed) => {
          expect(powerLawLoads(shape, alpha, seed)).toEqual(naivePowerLaw(shape, alpha, seed));
        },
      ),
      // Ranks of one expert that are full before the turn comes to them.
      { numRuns: 1000, examples: [[{ tokens: 182, expertCount: 5, ranks: 5, topK: 3 }, 1.01, 35]] },
    );
  });

  test('the busiest rank has at least its share, and no expert more rows than tokens', () => {
    fc.assert(
      fc.property(
        anyShape,
        fc.double({ min: 1.01, max: 2, noNaN: true }),
        fc.nat(99),
        (shape, alpha, seed) => {
          const loads = powerLawLoads(shape, alpha, seed);
          expect(loads.length).toBe(shape.expertCount / shape.ranks);
          expect(sum(loads)).toBeGreaterThanOrEqual(Math.floor((shape.tokens * shape.topK) / shape.ranks));
          expect(Math.max(...loads)).toBeLessThanOrEqual(shape.tokens);
          expect(Math.min(...loads)).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test('one rank has every choice, drawn or balanced', () => {
    fc.assert(
      fc.property(anyShape, fc.nat(99), (shape, seed) => {
        const whole = { ...shape, ranks: 1 };
        expect(sum(powerLawLoads(whole, 1.01, seed))).toBe(shape.tokens * shape.topK);
        expect(sum(balancedLoads(whole))).toBe(shape.tokens * shape.topK);
      }),
    );
  });

  test('balanced K3 loads spread small batches over as many experts as there are choices', () => {
    const loads = balancedLoads({ tokens: 4, expertCount: 896, topK: 16, ranks: 1 });
    expect(loads.filter((rows) => rows > 0).length).toBe(64);
  });

  test('a small drawn batch touches as many experts as a balanced one', () => {
    const shape = { tokens: 4, expertCount: 896, topK: 16, ranks: 8 };
    expect(powerLawLoads(shape, 1.01, 0).filter((rows) => rows > 0).length).toBe(8);
  });

  test('names of laws are understood or refused', () => {
    const shape = { tokens: 64, expertCount: 16, topK: 2, ranks: 2 };
    expect(loadsOf(shape, 'power_law_1.2', 3)?.length).toBe(3);
    expect(loadsOf(shape, 'power_law_sampled_1.9', 2)?.length).toBe(2);
    expect(loadsOf(shape, 'uniform', 2)).toBeNull();
    expect(loadsOf(shape, 'power_law_1.2.3', 2)).toBeNull();
  });

  test('an exponent of 1 is the limit of those near it', () => {
    const shape = { tokens: 512, expertCount: 64, topK: 4, ranks: 4 };
    const [low, at, high] = [1 - 1e-6, 1, 1 + 1e-6].map((alpha) => powerLawLoads(shape, alpha, 3));
    expect(at).toEqual(low);
    expect(at).toEqual(high);
  });

  test('the same seed draws the same loads and another seed others', () => {
    const shape = { tokens: 512, expertCount: 896, topK: 16, ranks: 8 };
    expect(powerLawLoads(shape, 1.01, 7)).toEqual(powerLawLoads(shape, 1.01, 7));
    expect(powerLawLoads(shape, 1.01, 7)).not.toEqual(powerLawLoads(shape, 1.01, 8));
  });
});
