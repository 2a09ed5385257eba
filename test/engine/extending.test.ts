import { catalog, Simulation } from '@epsim/engine';
import { definePolicy } from '@epsim/routing';
import { parseScenario, type StepRecord, UserError } from '@epsim/spec';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** What a new file would hold: every token takes the experts from `first` on. */
const firstExperts = definePolicy({
  summary: 'every token takes the same experts',
  options: z.strictObject({ first: z.int().min(0).default(0) }),
  create: ({ expertCount, topK }, { first }) => ({
    bias: null,
    route(batch) {
      const tokens = batch.tokenOffsets[batch.tokenOffsets.length - 1];
      return {
        paddedTokens: 0,
        stats: { droppedChoices: 0, scoreRetention: 1, changedChoices: 1, biasDrift: 0 },
        routing: {
          expertCount,
          topK,
          width: topK,
          tokenOffsets: batch.tokenOffsets,
          experts: Int32Array.from({ length: tokens * topK }, (_, i) => first + (i % topK)),
          weights: new Float32Array(tokens * topK).fill(1 / topK),
          droppedChoices: 0,
        },
      };
    },
  }),
});

/** The one line. */
const extended = { ...catalog, routing: { ...catalog.routing, 'first-experts': firstExperts } };

const text = `
name: extended
model: kimi-k3
cluster: { preset: b200-8, ranks: 8 }
workload: { tokensPerRank: 4 }
routing: { policy: first-experts, first: 112 }
`;

test('a policy of one file and one line is read, run, planned and timed like the others', async () => {
  const scenario = parseScenario(text, { file: 'extended.yaml', catalog: extended });
  expect(scenario.routing).toMatchObject({ policy: 'first-experts', options: { first: 112 } });
  const records: StepRecord[] = [];
  for await (const record of new Simulation(scenario, { catalog: extended }).records()) records.push(record);
  // Experts 112 to 127 live on rank 1, which computes all 8 x 4 x 16 choices.
  expect(records[0].rankLoad).toEqual([0, 512, 0, 0, 0, 0, 0, 0]);
  expect(records[0].activatedExperts).toEqual([0, 16, 0, 0, 0, 0, 0, 0]);
  expect(records[0].timed?.stepNs).toBeGreaterThan(0);
});

test('its options are checked with file and line like the others', () => {
  const wrong = text.replace('first: 112', 'frist: 112');
  expect(() => parseScenario(wrong, { file: 'extended.yaml', catalog: extended })).toThrow(UserError);
  expect(() => parseScenario(wrong, { file: 'extended.yaml', catalog: extended })).toThrow(
    /extended\.yaml:6: routing\.frist: .*first/,
  );
});
