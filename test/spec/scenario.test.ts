import { parseScenario, resolvedYaml, type ScenarioSource, scenarioJsonSchema, UserError } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { stubCatalog } from './stub-catalog.js';

const example = `name: k3-ep64-decode
seed: 7
model: kimi-k3
phase: decode
cluster: { preset: gb200-nvl72, ranks: 64 }
workload: { tokensPerRank: 128, skew: { kind: power-law, alpha: 1.2 } }
routing:  { policy: quantile, estimator: exact }
placement: { policy: eplb, slotsPerRank: 15, everySteps: 1000 }
dispatch: { kind: per-rank }
steps: 50
carry: { expertInnerSize: 32 }
`;

function read(text: string, more: Partial<ScenarioSource> = {}) {
  return parseScenario(text, { file: 'scenarios/k3.yaml', catalog: stubCatalog, ...more });
}

function refusal(text: string, more: Partial<ScenarioSource> = {}): string[] {
  try {
    read(text, more);
  } catch (error) {
    if (error instanceof UserError) return error.message.split('\n');
    throw error;
  }
  throw new Error('was accepted');
}

const least = 'model: kimi-k3\ncluster: h100-8\n';

test('the documented scenario is read with every name resolved and every default filled', () => {
  const scenario = read(example);
  expect(scenario).toMatchObject({ name: 'k3-ep64-decode', seed: 7, phase: 'decode', steps: 50, layers: 1 });
  expect(scenario.model.moe).toMatchObject({ expertCount: 896, topK: 16, expertWidth: 3584 });
  expect(scenario.cluster).toMatchObject({ name: 'gb200-nvl72', rankCount: 64 });
  expect(scenario.cluster.topology).toMatchObject({ kind: 'nvlink-domain', domainRanks: 72 });
  expect(scenario.workload).toEqual({
    kind: 'synthetic',
    tokensPerRank: 128,
    options: { skew: { kind: 'power-law', alpha: 1.2 } },
  });
  expect(scenario.routing).toEqual({
    policy: 'quantile',
    options: { estimator: 'exact', bins: 1000 },
    baseline: 'top-k',
  });
  expect(scenario.placement).toEqual({
    policy: 'eplb',
    options: { window: 100 },
    slotsPerRank: 15,
    slots: null,
    everySteps: 1000,
    windowSteps: null,
    staleSteps: 0,
    move: 'blocking',
  });
  expect(scenario.dispatch).toEqual({
    kind: 'per-rank',
    dispatchFormat: 'fp8',
    combineFormat: 'bf16',
    replica: 'round-robin',
  });
  expect(scenario.time).toEqual({ network: 'bound', overlap: 'none', exchange: 'auto' });
  expect(scenario.carry).toEqual({
    tokensPerRank: 64,
    expertInnerSize: 32,
    workers: 2,
    steps: 1,
    checkSteps: 1,
    rows: 'fp32',
    transport: 'thread',
  });
});

test('a model and a cluster are enough', () => {
  const scenario = read(least);
  expect(scenario).toMatchObject({ name: 'k3', seed: 0, phase: 'decode', steps: 1, layers: 1, carry: null });
  expect(scenario.cluster.rankCount).toBe(8);
  expect(scenario.routing).toEqual({ policy: 'top-k', options: {}, baseline: null });
  expect(scenario.placement).toMatchObject({ policy: 'contiguous', slotsPerRank: null, everySteps: 0 });
  expect(scenario.workload.tokensPerRank).toBe(128);
});

test('JSON is read as YAML is, with lines', () => {
  const text = '{\n\t"model": "kimi-k3",\n\t"cluster": "h100-8",\n\t"steps": "many"\n}\n';
  expect(refusal(text)).toEqual(['scenarios/k3.yaml:4: steps: wrong type: many; write a number']);
  expect(read(text.replace('"many"', '3')).steps).toBe(3);
});

test('a scenario cannot be changed after reading', () => {
  const scenario = read(example);
  expect(Object.isFrozen(scenario)).toBe(true);
  expect(Object.isFrozen(scenario.model.layers[3].attention)).toBe(true);
  expect(Object.isFrozen(scenario.cluster.topology.scaleUp.achieved)).toBe(true);
});

test('all problems come at once, in the order of lines, each with the way out', () => {
  const text = `model: kimi-k3
cluster:
  ranks: 72
  device: h100-sxmm
  domainRanks: 8
  scaleUp: { bandwidth: 450 GB/s, latency: 2 us }
  scaleOut:
    bandwidth: 50
    latency: 5 us
  topology: { kind: fat-tree, uplink: 3 }
workload: { tokensPerRank: 0, skew: { kind: power-lw } }
routing:
  policy: quantille
placement: { policy: eplb, windw: 4, slotsPerRank: 12 }
dispatch: per-rank
stesp: 3
carry: { expertInnerSize: 60 }
`;
  const found = refusal(text).map((line) => line.replace('scenarios/k3.yaml:', ''));
  expect(found.map((line) => line.split(';')[0])).toEqual([
    '4: cluster.device.preset: unknown device: h100-sxmm',
    '8: cluster.scaleOut.bandwidth: missing unit: 50',
    '10: cluster.topology.uplink: missing unit: 3',
    '11: workload.tokensPerRank: out of range: 0',
    '11: workload.skew.kind: unknown kind: power-lw',
    '13: routing.policy: unknown routing policy: quantille',
    '14: placement.windw: unknown field: windw',
    '14: placement.slotsPerRank: too few slots: 72 ranks x 12 = 864 < 896 experts',
    '15: dispatch: wrong type: per-rank',
    '16: stesp: unknown field: stesp',
    '17: carry.expertInnerSize: out of range: 60',
  ]);
  expect(found.map((line) => line.split('; ')[1]?.slice(0, 30))).toEqual([
    'did you mean h100-sxm? known: ',
    'write "50 GB/s" or "400 Gbps"',
    'write "50 GB/s" or "400 Gbps"',
    'at least 1',
    'did you mean power-law? known:',
    'did you mean quantile? known: ',
    'did you mean window? known: wi',
    'use 13 or more',
    'write { kind: per-rank }',
    'did you mean steps? known: nam',
    'write a multiple of 8',
  ]);
});

test('text that is no YAML names the line', () => {
  expect(refusal('model: kimi-k3\ncluster: [\n')[0]).toMatch(/^scenarios\/k3\.yaml:\d: invalid YAML: /);
  expect(refusal('model: a\nmodel: b\n')[0]).toContain('k3.yaml:2: invalid YAML: Map keys must be unique');
  expect(refusal('')).toEqual([
    'scenarios/k3.yaml:1: empty scenario; write fields, at least "model" and "cluster"',
  ]);
  expect(refusal('- 1\n')[0]).toContain('wrong scenario: [1]');
});

test('text that is built to exhaust a reader is refused', () => {
  expect(refusal('['.repeat(20_000))[0]).toContain('invalid YAML');
  expect(refusal(`a: ${'['.repeat(60)}${']'.repeat(60)}`)[0]).toContain('nested deeper than 40');
  expect(refusal('a: &a [*a]\n')[0]).toContain('invalid YAML');
  const bomb = ['a: &a [1,1,1,1,1,1,1,1,1]', ...'bcdefgh'].map((line, i) =>
    i === 0 ? line : `${line}: &${line} [${`*${String.fromCharCode(96 + i)},`.repeat(9)}]`,
  );
  expect(refusal(bomb.join('\n'))[0]).toContain('invalid YAML');
  expect(refusal('#'.repeat(4_000_001))[0]).toContain('too long file');
  expect(refusal(`${least}__proto__: { steps: 3 }\n`)[0]).toContain('unknown field: __proto__');
});

test('--set overrules the file and is named as the place of its mistakes', () => {
  const set = [
    'routing.policy=top-k',
    'model.topK=8',
    'carry=null',
    'cluster.scaleUp.bandwidth=300 GB/s',
    'seed=9',
  ];
  const scenario = read(example, { set });
  expect(scenario.routing).toEqual({ policy: 'top-k', options: {}, baseline: null });
  expect(scenario.model.moe.topK).toBe(8);
  expect(scenario.carry).toBeNull();
  expect(scenario.seed).toBe(9);
  expect(scenario.cluster.topology.scaleUp.bytesPerSec).toBe(300e9);
  expect(refusal(example, { set: ['routing.policy=quantille'] })[0]).toMatch(
    /^--set: routing\.policy: unknown routing policy: quantille; did you mean quantile\?/,
  );
  expect(refusal(least, { set: ['nonsense'] })[0]).toContain(
    '--set: wrong setting: nonsense; write PATH=VALUE',
  );
  expect(refusal(least, { set: ['steps.x=1', 'seed.y=2'] })).toHaveLength(2);
  expect(
    read(least, { set: ['cluster.overrides.0.rank=3', 'cluster.overrides.0.nic=0'] }).cluster.overrides,
  ).toEqual([{ rank: 3, nic: 0 }]);
});

test('another policy by --set leaves behind only what nobody knows', () => {
  const set = ['routing.policy=sign-bias'];
  expect(read(example, { set }).routing.options).toEqual({ step: 0.001 });
  expect(refusal(example, { set: [...set, 'routing.bins=10'] })[0]).toContain(
    '--set: routing.bins: unknown field',
  );
  expect(refusal(example.replace('estimator', 'estimatr'), { set })[0]).toContain('unknown field: estimatr');
});

test('trace and loads are short for a kind and its file', () => {
  const trace = read(`${least}workload: { trace: runs/a.npz, tokensPerRank: 4 }\n`);
  expect(trace.workload).toEqual({ kind: 'trace', tokensPerRank: 4, options: { file: 'runs/a.npz' } });
  const loads = read(`${least}workload: { loads: table.csv, noise: 0.5 }\n`);
  expect(loads.workload.options).toEqual({ file: 'table.csv', noise: 0.5 });
  const back = read(`${least}workload: { trace: a }\n`, { set: ['workload.kind=synthetic'] });
  expect(back.workload.kind).toBe('synthetic');
});

test('a model preset can be changed, and says so', () => {
  const plain = read(
    'model: { preset: kimi-k3, latent: false, topK: 8, precision: { rest: fp8 } }\ncluster: h100-8\n',
  );
  expect(plain.model.moe).toMatchObject({ latent: false, latentNorm: false, expertWidth: 7168, topK: 8 });
  expect(plain.model.layers[50].ffn).toBe(plain.model.moe);
  expect(plain.model.precision.rest.name).toBe('fp8');
  expect(plain.model.assumptions).toEqual(['changed by the scenario: topK, latent, precision']);
  expect(refusal('model: { preset: kimi-k3, topK: 900 }\ncluster: h100-8\n')[0]).toContain(
    'too many choices: top-900 of 896 experts; use 896 or fewer',
  );
  expect(refusal('model: { preset: kimi-k3, groupCount: 5 }\ncluster: h100-8\n')[0]).toContain(
    'uneven groups',
  );
  expect(refusal('model: { preset: kimi-k2, latent: true }\ncluster: h100-8\n')[0]).toContain(
    'expertWidth below 7168',
  );
  expect(refusal('model: kimi-k33\ncluster: h100-8\n')[0]).toContain('did you mean kimi-k3?');
  expect(refusal('model: {}\ncluster: h100-8\n')[0]).toContain('missing origin');
  expect(refusal('cluster: h100-8\n')[0]).toContain('model: missing field; write a preset');
});

test('a cluster can be spelled out with units', () => {
  const scenario = read(`model: kimi-k2
cluster:
  ranks: 16
  device: { memory: 80 GiB, memoryBandwidth: 3.35 TB/s, bf16: 989 TFLOPS, power: 700 W }
  domainRanks: 8
  scaleUp: { bandwidth: 3600 Gbps, latency: 2 us, achieved: 0.7 }
  scaleOut: { bandwidth: 400 Gbps, latency: 5 us }
  topology: { kind: fat-tree, uplink: 200 Gbps, hop: 0.5 us }
  overrides: [{ rank: 15, speed: 0.5 }]
  dollarsPerHour: $2.50/h
`);
  expect(scenario.cluster).toMatchObject({ rankCount: 16, dollarsPerHour: 2.5 });
  expect(scenario.cluster.device.memoryBytes).toBe(80 * 2 ** 30);
  expect(scenario.cluster.topology.scaleUp).toMatchObject({
    bytesPerSec: 450e9,
    achieved: { fraction: 0.7 },
  });
  expect(scenario.cluster.topology.scaleOut).toMatchObject({ bytesPerSec: 50e9, achieved: { fraction: 1 } });
  // Options stay in the form that their schema reads.
  expect(scenario.cluster.topology.options).toEqual({
    uplink: '25 GB/s',
    hop: '500 ns',
    oversubscription: 1,
  });
});

test('a cluster that lacks something says what to write', () => {
  expect(refusal('model: kimi-k2\ncluster: { ranks: 8 }\n').map((line) => line.split(': ')[1])).toEqual([
    'cluster.device',
    'cluster.domainRanks',
    'cluster.scaleUp',
  ]);
  expect(refusal('model: kimi-k2\ncluster: { preset: h100-8, ranks: 16, scaleOut: null }\n')[0]).toContain(
    'missing network: 16 ranks in domains of 8',
  );
  expect(
    refusal('model: kimi-k2\ncluster: { preset: h100-8, overrides: [{ rank: 8 }, { rank: 8 }] }\n'),
  ).toHaveLength(3);
  expect(refusal('model: kimi-k2\ncluster: h100\n')[0]).toContain('did you mean h100-8?');
});

test('numbers that do not fit together or fit no machine are refused', () => {
  const one = (line: string) => refusal(`${least}${line}\n`)[0].replace('scenarios/k3.yaml:3: ', '');
  expect(one('layers: 93')).toBe('layers: too many layers: 93 of 92 layers of experts; use 92 or fewer');
  expect(one('carry: { steps: 2 }')).toContain('too many steps: 2 of 1');
  expect(one('carry: { checkSteps: 2 }')).toContain('too many steps: 2 of 1 that are carried');
  expect(one('carry: { expertInnerSize: 65536 }')).toContain('too large experts');
  expect(one('workload: { tokensPerRank: 1000000 }')).toContain('too large batch');
  expect(one('steps: 1000000000')).toContain('at most 1000000');
  expect(one('layers: 0')).toContain('at least 1');
  expect(refusal(`${least}steps: 1000000\nlayers: 92\n`)[0]).toContain('too large run');
  expect(refusal('model: kimi-k3\ncluster: { preset: h100-8, ranks: 0 }\n')[0]).toContain('at least 1');
});

test('the resolved scenario reads back as the same scenario', () => {
  const clusters = ['h100-8', '{ preset: gb200-nvl72, ranks: 200, domainRanks: 8, dollarsPerHour: 3 }'];
  const models = [
    'kimi-k3',
    'deepseek-v3',
    '{ preset: kimi-k3, latent: false, topK: 8, precision: { rest: int8 } }',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      fc.constantFrom(...clusters),
      fc.constantFrom('{ kind: nvlink-domain }', '{ kind: fat-tree, uplink: 12.5 Gbps, hop: 1.25 us }'),
      fc.constantFrom('null', '{ workers: 1 }', '{ rows: wire, transport: redis }'),
      fc.record({ seed: fc.nat(), steps: fc.integer({ min: 1, max: 50 }) }),
      (model, cluster, topology, carry, numbers) => {
        const text = `model: ${model}\ncluster: ${cluster}\ncarry: ${carry}\n`;
        const set = [`cluster.topology=${topology}`, ...Object.entries(numbers).map(([k, v]) => `${k}=${v}`)];
        const scenario = read(text, { set });
        const resolved = resolvedYaml(scenario);
        expect(read(resolved, { file: 'elsewhere.yaml' })).toEqual(scenario);
        expect(resolvedYaml(read(resolved))).toBe(resolved);
      },
    ),
    { numRuns: 40 },
  );
});

test('the JSON schema accepts what the reader accepts, and knows every policy with its options', () => {
  const schema = z.fromJSONSchema(scenarioJsonSchema(stubCatalog) as z.core.JSONSchema.JSONSchema);
  const accepts = (text: string) => schema.safeParse(parse(text)).success;
  expect(accepts(example)).toBe(true);
  expect(accepts(least)).toBe(true);
  expect(accepts(`${least}workload: { trace: a.npz }\ntime: { network: fair }\n`)).toBe(true);
  expect(
    accepts('model: kimi-k3\ncluster: { preset: h100-8, topology: { kind: fat-tree, uplink: 3 GB/s } }\n'),
  ).toBe(true);
  expect(accepts('cluster: h100-8\n')).toBe(false);
  expect(accepts(`${least}stesp: 3\n`)).toBe(false);
  expect(accepts(`${least}routing: { policy: quantille }\n`)).toBe(false);
  expect(accepts(`${least}routing: { policy: top-k, estimator: exact }\n`)).toBe(false);
  expect(accepts('model: kimi-k3\ncluster: { preset: h100-8, scaleUp: { bandwidth: 50 } }\n')).toBe(false);
});

test('slots may be given in all, for every rank alike, or rank by rank', () => {
  const read = (placement: string) =>
    parseScenario(
      `model: { preset: kimi-k3, expertCount: 16, topK: 2 }\ncluster: { preset: h100-8, ranks: 4 }\nplacement: ${placement}\n`,
      {
        file: 'slots.yaml',
        catalog: stubCatalog,
      },
    ).placement;
  expect(read('{ slots: 17 }')).toMatchObject({ slots: 17, slotsPerRank: null });
  expect(read('{ slotsPerRank: [8, 4, 4, 1] }').slotsPerRank).toEqual([8, 4, 4, 1]);
  expect(() => read('{ slotsPerRank: [8, 8] }')).toThrow(
    /2 numbers for 4 ranks; write one number for each rank/,
  );
  expect(() => read('{ slotsPerRank: [4, 4, 4, 3] }')).toThrow(/15 in all < 16 experts; use 16 or more/);
  expect(() => read('{ slots: 15 }')).toThrow(/15 < 16 experts; use 16 or more/);
  expect(() => read('{ slots: 17, slotsPerRank: 4 }')).toThrow(/write one of them/);
});

test('a name cannot lead out of the folder that runs are kept in', () => {
  for (const name of ['..', '.', 'a/b', '../x', '/etc/x', 'a\\\\b']) {
    const text = `name: "${name}"\nmodel: kimi-k3\ncluster: { preset: h100-8, ranks: 8 }\n`;
    expect(() => parseScenario(text, { file: 'n.yaml', catalog: stubCatalog }), name).toThrow(
      /n\.yaml:1: name: /,
    );
  }
});

test('two documents in one file are refused, not half read', () => {
  const one = 'model: kimi-k3\ncluster: { preset: h100-8, ranks: 8 }\n';
  expect(() => parseScenario(`${one}---\n${one}`, { file: 'two.yaml', catalog: stubCatalog })).toThrow(
    /too many documents: 2; write one scenario in a file/,
  );
  expect(parseScenario(`---\n${one}`, { file: 'one.yaml', catalog: stubCatalog }).name).toBe('one');
});

test('too large a top-k is told once, without a word on groups', () => {
  const text = 'model: { preset: kimi-k3, expertCount: 8, topK: 9 }\ncluster: { preset: h100-8, ranks: 8 }\n';
  expect(() => parseScenario(text, { file: 'k.yaml', catalog: stubCatalog })).toThrow(/top-9 of 8 experts/);
  expect(() => parseScenario(text, { file: 'k.yaml', catalog: stubCatalog })).not.toThrow(/groups/);
});
