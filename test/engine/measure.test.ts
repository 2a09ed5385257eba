import { catalog, measure, readMeasured } from '@epsim/engine';
import { parseScenario } from '@epsim/spec';
import { expect, test } from 'vitest';

test('what was measured comes back from its JSON, and what is none is refused', async () => {
  const yaml =
    'name: few\nmodel: kimi-k3\ncluster: { preset: b200-8, ranks: 8 }\nworkload: { tokensPerRank: 4 }\nsteps: 2\nlayers: 1\n';
  const readFile = () => new Uint8Array();
  const scenario = parseScenario(yaml, { file: 'few', catalog, set: [], readFile: () => '' });
  const measured = await measure(scenario, { readFile, version: '1' });
  const json = JSON.stringify(measured);
  expect(readMeasured(json)).toEqual(measured);
  const wrong = [
    { ...measured, records: [{}] },
    { ...measured, summary: null },
    { ...measured, more: 1 },
  ];
  for (const text of [json.slice(1), '[]', ...wrong.map((one) => JSON.stringify(one))]) {
    expect(() => readMeasured(text)).toThrow();
  }
});
