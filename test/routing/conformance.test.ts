/**
 * The laws that every registered routing policy keeps, whatever it balances.
 */
import {
  createRoutingArena,
  type RouterContext,
  routingPolicies,
  scoreRowNaive,
  selectNaive,
} from '@epsim/routing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCase, batchOfCase, type Case, loadsOf, routeSteps } from './support.js';

const runs = { numRuns: 40 };
const STEPS = 3;

/** Scores of all tokens by the naive form, [tokens x expertCount]. */
function scoresOf({ context, logits }: Case): Float32Array {
  const scores = new Float32Array(logits.length);
  for (let at = 0; at < logits.length; at += context.expertCount) {
    scoreRowNaive(context.scoring, logits, at, context.expertCount, scores);
  }
  return scores;
}

function rowsOf<A extends Int32Array | Float32Array>(values: A, width: number): number[][] {
  return Array.from({ length: values.length / width }, (_, row) => [
    ...values.slice(row * width, (row + 1) * width),
  ]);
}

function isPadding({ choices, context }: Case, token: number): boolean {
  return choices.slice(token * context.topK, (token + 1) * context.topK).every((e) => e === -1);
}

function renormalizes(context: RouterContext): boolean {
  return context.renormalize || context.scoring === 'softmax-over-top-k';
}

describe.each(Object.entries(routingPolicies))('%s', (_name, policy) => {
  const eachStep = (check: (c: Case, step: ReturnType<typeof routeSteps>[number]) => void) =>
    fc.assert(
      fc.property(anyCase, (c) => {
        for (const step of routeSteps(policy, c.context, batchOfCase(c), STEPS)) check(c, step);
      }),
      runs,
    );

  test('choices by rows equal choices by experts, and routed plus dropped is tokens times top-k', () => {
    eachStep(({ context, tokenOffsets }, step) => {
      const tokens = tokenOffsets[tokenOffsets.length - 1];
      const byRow = rowsOf(step.experts, step.width).map((row) => row.filter((e) => e >= 0).length);
      const byExpert = loadsOf(step.experts, context.expertCount);
      const made = byRow.reduce((a, b) => a + b, 0);
      expect(step.experts).toHaveLength(tokens * step.width);
      expect(made).toBe(byExpert.reduce((a, b) => a + b, 0));
      expect(made + step.droppedChoices).toBe(tokens * context.topK);
      expect(step.stats.droppedChoices + step.paddedTokens * context.topK).toBe(step.droppedChoices);
    });
  });

  test('a row that only pads the batch gets no expert and is counted as padding', () => {
    eachStep((c, step) => {
      const rows = rowsOf(step.experts, step.width);
      const padding = rows.filter((_, token) => isPadding(c, token));
      expect(padding.flat().every((e) => e === -1)).toBe(true);
      expect(step.paddedTokens).toBe(padding.length);
    });
  });

  test('every id is an expert or none, and no token has an expert twice', () => {
    eachStep(({ context }, step) => {
      for (const row of rowsOf(step.experts, step.width)) {
        const chosen = row.filter((e) => e !== -1);
        expect(chosen.every((e) => Number.isInteger(e) && e >= 0 && e < context.expertCount)).toBe(true);
        expect(new Set(chosen).size).toBe(chosen.length);
      }
    });
  });

  test('gates are in proportion to unbiased scores, and add up to the scaling when renormalised', () => {
    eachStep((c, step) => {
      const { context } = c;
      const scores = scoresOf(c);
      const weights = rowsOf(step.weights, step.width);
      rowsOf(step.experts, step.width).forEach((row, token) => {
        const gates = weights[token];
        const chosen = row.filter((e) => e >= 0);
        const scoreOf = (e: number) => scores[token * context.expertCount + e];
        const mass = chosen.reduce((sum, e) => sum + scoreOf(e), 0);
        const total = gates.reduce((a, b) => a + b, 0);
        row.forEach((e, i) => {
          const share = e >= 0 ? scoreOf(e) / mass : 0;
          expect(gates[i]).toBeCloseTo(share * total, 5);
        });
        if (chosen.length === 0) return;
        if (!renormalizes(context)) expect(total).toBeCloseTo(mass * context.routedScaling, 4);
        else if (chosen.length >= context.topK) expect(total).toBeCloseTo(context.routedScaling, 5);
        else expect(total).toBeLessThan(context.routedScaling + 1e-5);
      });
    });
  });

  test('retention and changed choices are what a comparison with plain top-k by hand gives', () => {
    eachStep((c, step) => {
      const { expertCount, topK } = c.context;
      const scores = scoresOf(c);
      const noBias = new Float32Array(expertCount);
      let chosenMass = 0;
      let plainMass = 0;
      let changed = 0;
      let made = 0;
      rowsOf(step.experts, step.width).forEach((row, token) => {
        const at = token * expertCount;
        const plain = selectNaive(scores, at, expertCount, noBias, topK);
        const massOf = (ids: number[]) => ids.reduce((sum, e) => sum + scores[at + e], 0);
        const chosen = row.filter((e) => e >= 0);
        if (isPadding(c, token)) return;
        plainMass += massOf(plain);
        chosenMass += Math.min(massOf(chosen), massOf(plain));
        changed += chosen.filter((e) => !plain.includes(e)).length;
        made += chosen.length;
      });
      expect(step.stats.scoreRetention).toBeCloseTo(plainMass > 0 ? chosenMass / plainMass : 1, 5);
      expect(step.stats.changedChoices).toBeCloseTo(made > 0 ? changed / made : 0, 10);
      expect(step.stats.scoreRetention).toBeLessThan(1 + 1e-6);
    });
  });

  test('the same seed gives the same bytes however the tokens are split over ranks', () => {
    fc.assert(
      fc.property(anyCase, (c) => {
        const tokens = c.tokenOffsets[c.tokenOffsets.length - 1];
        const together = { ...c.context, rankCount: 1 };
        const bytes = (steps: ReturnType<typeof routeSteps>) =>
          steps.map(({ tokenOffsets: _, ...step }) => step);
        const split = routeSteps(policy, c.context, batchOfCase(c), STEPS);
        expect(bytes(routeSteps(policy, c.context, batchOfCase(c), STEPS))).toEqual(bytes(split));
        expect(bytes(routeSteps(policy, together, batchOfCase(c, [0, tokens]), STEPS))).toEqual(bytes(split));
      }),
      runs,
    );
  });

  test('routers of several layers may share their large arrays', () => {
    fc.assert(
      fc.property(anyCase, (c) => {
        const layers = [0, 1, 2].map((layer) => ({ ...c.context, layer }));
        const alone = layers.map((context) => routeSteps(policy, context, batchOfCase(c), STEPS));
        const arena = createRoutingArena();
        const routers = layers.map((context) => policy.create({ ...context, arena }, {}));
        for (let step = 0; step < STEPS; step++) {
          routers.forEach((router, layer) => {
            const { routing, stats } = router.route({ ...batchOfCase(c), step });
            expect(routing.experts).toEqual(alone[layer][step].experts);
            expect(routing.weights).toEqual(alone[layer][step].weights);
            expect(stats).toEqual(alone[layer][step].stats);
          });
        }
      }),
      { numRuns: 10 },
    );
  });

  test('bias drift is the largest change of the bias that the next step uses', () => {
    fc.assert(
      fc.property(anyCase, (c) => {
        const steps = routeSteps(policy, c.context, batchOfCase(c), STEPS);
        steps.forEach((step, i) => {
          const before = i > 0 ? steps[i - 1].bias : (step.bias?.map(() => 0) ?? null);
          const moves = [...(step.bias ?? [])].map((b, e) => Math.abs(b - before![e]));
          expect(step.stats.biasDrift).toBeCloseTo(Math.max(0, ...moves), 6);
        });
      }),
      runs,
    );
  });

  test('a batch with other experts or ranks than the context is refused with both shapes', () => {
    fc.assert(
      fc.property(anyCase, (c) => {
        const batch = batchOfCase(c);
        const { expertCount, rankCount } = c.context;
        const more = policy.create(
          { ...c.context, expertCount: expertCount + 4, groupCount: 1, topGroupCount: 1 },
          {},
        );
        const other = policy.create({ ...c.context, rankCount: rankCount + 1 }, {});
        expect(() => more.route(batch)).toThrow(
          new RegExp(`${expertCount} experts.*${expertCount + 4} experts`),
        );
        expect(() => other.route(batch)).toThrow(new RegExp(`${rankCount} ranks.*${rankCount + 1} ranks`));
      }),
      { numRuns: 5 },
    );
  });

  test('it says what it is, fills in every option, and refuses unknown ones', () => {
    expect(policy.summary).toMatch(/^\S.{15,120}\S$/);
    expect(policy.options.safeParse({}).success).toBe(true);
    expect(policy.options.safeParse({ nonsense: 1 }).success).toBe(false);
  });
});
