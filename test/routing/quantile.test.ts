/**
 * Quantile balancing: the published miniature, its options, and its speed of convergence in steps.
 */
import { maxVioFloor, maxVioOf, routingPolicies } from '@epsim/routing';
import { describe, expect, test } from 'vitest';
import { batchOf, contextOf, loadsOf, routeSteps, skewedLogits } from './support.js';

const { quantile } = routingPolicies;

/** Eight tokens over four experts whose favourites are 0, 0, 0, 0, 0, 1, 1, 2. */
const EIGHT = Float32Array.from(
  [
    [2.1, 0.7, 0.1, -1.1],
    [2.7, 1.1, 0.7, -1.3],
    [1.7, -0.4, 0.9, -0.4],
    [1.2, 0.8, -0.4, 0.7],
    [1.4, -0.6, -0.3, 0.5],
    [0.7, 0.9, -0.9, -0.5],
    [-0.3, 0.7, 0.1, -0.7],
    [0.5, 0.1, 0.6, -0.9],
  ].flat(),
);

describe.each(['histogram', 'exact'])('with the %s estimator', (estimator) => {
  test('eight tokens over four experts go from 5, 2, 1, 0 to 2, 2, 2, 2 in one step and stay there', () => {
    const steps = routeSteps(quantile, contextOf(4, 1), batchOf(EIGHT, 4), 5, { estimator });
    expect(steps.map((step) => loadsOf(step.experts, 4))).toEqual([
      [5, 2, 1, 0],
      [2, 2, 2, 2],
      [2, 2, 2, 2],
      [2, 2, 2, 2],
      [2, 2, 2, 2],
    ]);
    expect([...steps[0].experts]).toEqual([0, 0, 0, 0, 0, 1, 1, 2]);
  });

  test('the bias is mean-centred, and moves only between steps', () => {
    const router = quantile.create(contextOf(4, 1), { estimator });
    expect([...router.bias!]).toEqual([0, 0, 0, 0]);
    router.route(batchOf(EIGHT, 4));
    const bias = [...router.bias!];
    expect(bias.reduce((a, b) => a + b)).toBeCloseTo(0, 6);
    // The favourite is held back most, the one that nobody chose is helped most.
    expect(Math.min(...bias)).toBe(bias[0]);
    expect(Math.max(...bias)).toBe(bias[3]);
  });

  test('a frozen bias routes by what was stored, and an ema of 0.5 goes half of the way', () => {
    const once = routeSteps(quantile, contextOf(4, 1), batchOf(EIGHT, 4), 3, {
      estimator,
      freezeAfterSteps: 1,
    });
    expect(once[2].bias).toEqual(once[0].bias);
    expect(once[2].stats.biasDrift).toBe(0);
    const stored = quantile.create(contextOf(4, 1, { initialBias: once[0].bias! }), { freezeAfterSteps: 0 });
    expect(loadsOf(stored.route(batchOf(EIGHT, 4)).routing.experts, 4)).toEqual([2, 2, 2, 2]);
    expect(stored.bias).toEqual(once[0].bias);
    const [half] = routeSteps(quantile, contextOf(4, 1), batchOf(EIGHT, 4), 1, { estimator, ema: 0.5 });
    half.bias!.forEach((b, expert) => {
      expect(b).toBeCloseTo(once[0].bias![expert] / 2, 6);
    });
  });

  test('more iterations on one batch balance the next step better', () => {
    const logits = skewedLogits(5, 1024, 32);
    const vioAfter = (iterations: number) => {
      const steps = routeSteps(quantile, contextOf(32, 4), batchOf(logits, 32), 2, { estimator, iterations });
      return maxVioOf(loadsOf(steps[1].experts, 32));
    };
    expect(vioAfter(6)).toBeLessThan(vioAfter(1) / 3);
  });

  test('when every expert takes every token the bias has nothing to learn', () => {
    const [step] = routeSteps(quantile, contextOf(4, 4), batchOf(EIGHT, 4), 1, { estimator });
    expect([...step.bias!]).toEqual([0, 0, 0, 0]);
  });
});

test('fresh tokens of a skewed layer come within 1.5 x of the sampling floor in at most 6 steps', () => {
  const [expertCount, topK, tokens] = [64, 4, 4096];
  const router = quantile.create(contextOf(expertCount, topK), {});
  const popularity = skewedLogits(1, 1, expertCount);
  const vio = [0, 1, 2, 3, 4, 5, 6].map((step) => {
    const logits = skewedLogits(100 + step, tokens, expertCount, 0);
    for (let i = 0; i < logits.length; i++) logits[i] += popularity[i % expertCount];
    return maxVioOf(loadsOf(router.route(batchOf(logits, expertCount)).routing.experts, expertCount));
  });
  const floor = maxVioFloor(expertCount, (tokens * topK) / expertCount);
  expect(vio[0]).toBeGreaterThan(2);
  expect(Math.min(...vio)).toBeLessThanOrEqual(1.5 * floor);
});
