import { balancedLoads, loadsOf, powerLawLoads } from '@epsim/calibration';
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

describe('loads of published benchmarks', () => {
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
  });

  test('the same seed draws the same loads and another seed others', () => {
    const shape = { tokens: 512, expertCount: 896, topK: 16, ranks: 8 };
    expect(powerLawLoads(shape, 1.01, 7)).toEqual(powerLawLoads(shape, 1.01, 7));
    expect(powerLawLoads(shape, 1.01, 7)).not.toEqual(powerLawLoads(shape, 1.01, 8));
  });
});
