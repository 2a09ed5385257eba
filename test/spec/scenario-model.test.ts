import { parseScenario, resolvedYaml, UserError } from '@epsim/spec';
import { expect, test } from 'vitest';
import { configText } from './fixtures.js';
import { stubCatalog } from './stub-catalog.js';

/** A scenario whose model is a file; `files` are all that can be read. */
function read(model: string, files: Record<string, string>) {
  return parseScenario(`model: ${model}\ncluster: { preset: b200-8 }\n`, {
    file: 'scenarios/plan.yaml',
    catalog: stubCatalog,
    readFile: (path) => {
      if (path in files) return files[path];
      throw new Error(`no such file: ${path}`);
    },
  });
}

function refusal(model: string, files: Record<string, string>): string[] {
  try {
    read(model, files);
  } catch (error) {
    if (error instanceof UserError) return error.message.split('\n');
    throw error;
  }
  throw new Error('was accepted');
}

test('a model may be the path of a published configuration', () => {
  const scenario = read('models/Kimi-K3/config.json', {
    'models/Kimi-K3/config.json': configText('kimi-k3'),
  });
  expect(scenario.model).toMatchObject({ name: 'Kimi-K3', source: 'models/Kimi-K3/config.json' });
  expect(scenario.model.moe.expertCount).toBe(896);
});

test('the precision of a configuration can stand beside it or in the scenario', () => {
  const files = { 'GLM-5-NVFP4/config.json': configText('glm-5-nvfp4') };
  expect(read('GLM-5-NVFP4/config.json', files).model.assumptions[0]).toContain('the name says NVFP4');
  const beside = read('GLM-5-NVFP4/config.json', {
    ...files,
    'GLM-5-NVFP4/hf_quant_config.json': '{"quant_algo":"NVFP4","group_size":16}',
  });
  expect(beside.model.precision.routedExperts).toMatchObject({ name: 'nvfp4', groupSize: 16 });
  const said = read('{ config: GLM-5-NVFP4/config.json, precision: { routedExperts: nvfp4 } }', files);
  expect(said.model.precision.routedExperts).toEqual(beside.model.precision.routedExperts);
});

test('a resolved scenario spells its model out and needs the file no more', () => {
  const scenario = read('{ config: nemotron/config.json, topK: 8 }', {
    'nemotron/config.json': configText('nemotron-3-super-120b-a12b-fp8'),
  });
  const resolved = resolvedYaml(scenario);
  expect(parseScenario(resolved, { file: 'x.yaml', catalog: stubCatalog })).toEqual({
    ...scenario,
    name: 'plan',
  });
});

test('mistakes in a configuration are placed in its own lines', () => {
  const broken = configText('deepseek-v3').replace('"n_routed_experts": 256', '"n_routed_experts": "many"');
  const line = broken.split('\n').findIndex((text) => text.includes('n_routed_experts')) + 1;
  expect(refusal('v3.json', { 'v3.json': broken })).toEqual([
    `v3.json:${line}: n_routed_experts: wrong value: many; must be a whole number of at least 1`,
  ]);
  expect(refusal('v3.json', { 'v3.json': '{"model_type": ' })[0]).toContain('v3.json:1: invalid YAML');
  expect(refusal('v4.json', {})[0]).toContain(
    'scenarios/plan.yaml:1: model: unreadable file: v4.json; no such file',
  );
});

test('a model spelled out must be whole', () => {
  const found = refusal('{ shape: { name: mine, hiddenSize: 0, colour: red } }', {});
  expect(found.join('\n')).toContain('model.shape.hiddenSize: out of range: 0; at least 1');
  expect(found.join('\n')).toContain('model.shape.moe: missing field');
  expect(found.join('\n')).toContain('model.shape.colour: unknown field: colour');
});
