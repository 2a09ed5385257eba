import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planSchema } from '@epsim/planner';
import { validationSchema } from '@epsim/results';
import { expect, test } from 'vitest';
import { emptyFolder, epsim } from '../support/epsim.js';

const scenario = `model: qwen3-30b-a3b
cluster: { preset: h100-8, ranks: 4 }
workload: { skew: { kind: log-normal } }
plan: { requests: { inputTokens: 1000, outputTokens: 200 }, objectives: { tpot: 20 ms } }
`;

function folderWith(text: string): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'plan.yaml'), text);
  return folder;
}

test('a plan is one JSON document on standard output, and plan.json and four charts in the folder', () => {
  const folder = folderWith(scenario);
  const { status, stdout, stderr } = epsim(['plan', 'plan.yaml', '--json', '--out', 'out'], folder);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const plan = planSchema.parse(JSON.parse(stdout));
  if (!('frontier' in plan)) throw new Error('a plan to serve has a frontier');
  expect(plan.model).toMatchObject({ name: 'qwen3-30b-a3b' });
  expect(Object.keys(plan.layouts[0])).toEqual(
    expect.arrayContaining([
      ...['ranks', 'layout', 'feasible', 'ttftNs', 'tpotNs', 'tokensPerSecPerRank'],
      ...['memoryBytesPerRank', 'costPerMillionTokens', 'relErrorBar'],
    ]),
  );
  expect(plan.frontier.length).toBeGreaterThan(0);
  expect(readdirSync(join(folder, 'out')).sort()).toEqual(
    expect.arrayContaining(['frontier.png', 'plan.json']),
  );
});

test('objectives that nothing meets exit with 3 and print the closest layout and what it misses by how much', () => {
  const folder = folderWith(scenario);
  const { status, stdout } = epsim(['plan', 'plan.yaml', '--set', 'plan.objectives.tpot=1 ms'], folder);
  expect(status).toBe(3);
  expect(stdout).toMatch(/Closest: .*TPOT [\d.]+ ms > 1 ms[\s\S]*It is enough to allow: tpot: [\d.]+ ms/);
});

test('a scenario without a plan exits with 2 and says what to write', () => {
  const folder = folderWith(scenario.replace(/^plan:.*\n/m, ''));
  const { status, stdout, stderr } = epsim(['plan', 'plan.yaml'], folder);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/plan\.yaml: plan: missing field; write plan: \{/);
});

test('validate --end-to-end prints every published row with its error and what was assumed', () => {
  const { status, stdout } = epsim(['validate', '--end-to-end', '--json']);
  expect(status).toBe(0);
  const { tables, endToEnd } = validationSchema.parse(JSON.parse(stdout));
  expect(tables).toHaveLength(1);
  expect(tables[0].medianError).toBeLessThan(0.2);
  expect(endToEnd!.rows).toHaveLength(tables[0].rows);
  expect(epsim(['validate', '--end-to-end']).stdout).toMatch(
    /EP72 decode after 2000 [\s\S]*assumed: loads as uneven/,
  );
});

test('plans that nothing meets, plans under load and plans to train with are what the schema says', () => {
  const folder = folderWith(scenario);
  const parsed = (...set: readonly string[]) => {
    const args = set.flatMap((one) => ['--set', one]);
    const { status, stdout } = epsim(['plan', 'plan.yaml', '--json', ...args], folder);
    return { status, plan: planSchema.parse(JSON.parse(stdout)) };
  };
  expect(parsed('plan.objectives.tpot=1 ms')).toMatchObject({ status: 3, plan: { feasible: false } });
  const loaded = parsed('plan.requests.ratePerSec=5', 'plan.objectives.quantile=0.9');
  expect(loaded).toMatchObject({ status: 0, plan: { feasible: true } });
  expect(loaded.plan.layouts[0]).toMatchObject({ simulated: { ratePerSec: 5 } });
  expect(parsed('phase=train', 'cluster.ranks=64')).toMatchObject({ plan: { phase: 'train' } });
});
