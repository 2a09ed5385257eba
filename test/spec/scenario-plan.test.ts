import { parseScenario, resolvedYaml, scenarioJsonSchema, UserError } from '@epsim/spec';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { stubCatalog } from './stub-catalog.js';

const least = 'model: kimi-k3\ncluster: h100-8\n';
const read = (text: string) => parseScenario(text, { file: 'plan.yaml', catalog: stubCatalog });

function refusal(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

test('a scenario without a plan plans nothing, and an empty plan has every default', () => {
  expect(read(least).plan).toBe(null);
  expect(read(`${least}plan: null\n`).plan).toBe(null);
  expect(read(`${least}plan: {}\n`).plan).toEqual({
    requests: {
      inputTokens: 4000,
      outputTokens: 1000,
      spread: 0,
      cacheHitRate: 0,
      ratePerSec: null,
      users: null,
    },
    objectives: {
      ttftNs: null,
      tpotNs: null,
      tokensPerSecPerUser: null,
      costPerMillionTokens: null,
      watts: null,
      quantile: null,
    },
    limits: { ranks: null, nodes: null, fleetRanks: null },
    engine: {
      serving: 'either',
      cacheFormat: 'bf16',
      windows: 'kept',
      memoryFraction: 0.9,
      reserveBytes: 2e9,
      chunkTokens: 16_384,
      mtpLayers: 0,
      acceptedTokens: 1,
      stepOverheadNs: 500_000,
    },
    training: {
      sequenceTokens: 4096,
      globalBatchTokens: 16_777_216,
      microBatchSequences: 1,
      optimizer: 'per-head-muon',
      recompute: true,
    },
    dollarsPerHour: null,
  });
});

const full = `${least}plan:
  requests: { inputTokens: 8000, outputTokens: 500, ratePerSec: 2.5, cacheHitRate: 0.5 }
  objectives: { ttft: 2 s, tpot: 50 ms, power: 120 kW, quantile: 0.99 }
  limits: { ranks: 64 }
  engine: { cacheFormat: fp8, reserve: 3 GiB }
  dollarsPerHour: 2.5 $/h
`;

test('objectives are read with their units, and the resolved text reads as the same plan', () => {
  const scenario = read(full);
  expect(scenario.plan?.objectives).toMatchObject({ ttftNs: 2e9, tpotNs: 50e6, watts: 120e3 });
  expect(scenario.plan?.engine).toMatchObject({ cacheFormat: 'fp8', reserveBytes: 3 * 2 ** 30 });
  expect(scenario.plan?.dollarsPerHour).toBe(2.5);
  expect(read(resolvedYaml(scenario))).toEqual(scenario);
  expect(read(resolvedYaml(read(least)))).toEqual(read(least));
});

test('what a plan gets wrong is named with its place, its value and the way out, all at once', () => {
  const text = refusal(`${least}plan:
  requests: { inputTokns: 8000, cacheHitRate: 1 }
  objectives: { tpot: 50 }
  limits: 3
`);
  expect(text).toMatch(/plan\.yaml:4: plan\.requests\.inputTokns: unknown field.*did you mean inputTokens/);
  expect(text).toMatch(/plan\.yaml:4: plan\.requests\.cacheHitRate:/);
  expect(text).toMatch(/plan\.yaml:5: plan\.objectives\.tpot: missing unit: 50; write "3 us" or "2.5 ms"/);
  expect(text).toMatch(/plan\.yaml:6: plan\.limits: wrong type/);
});

test('the published schema accepts a plan that the reader accepts, and refuses a misspelt field', () => {
  const schema = z.fromJSONSchema(scenarioJsonSchema(stubCatalog) as Parameters<typeof z.fromJSONSchema>[0]);
  expect(schema.safeParse(parse(full)).success).toBe(true);
  expect(schema.safeParse(parse(full.replace('ttft', 'tft'))).success).toBe(false);
});
