/**
 * Ten thousand broken scenarios: each is read or refused with problems, and nothing else ever happens.
 * The seed is fixed, so that a failure can be seen again.
 */
import { parseScenario, type RandomSource, randomSource, resolvedYaml, UserError } from '@epsim/spec';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { stubCatalog } from './stub-catalog.js';

const bases = [
  `name: k3-ep64-decode
seed: 7
model: kimi-k3
phase: decode
cluster: { preset: gb200-nvl72, ranks: 64 }
workload: { tokensPerRank: 128, skew: { kind: power-law, alpha: 1.01 } }
routing:  { policy: quantile, bins: 100 }
placement: { policy: eplb, slotsPerRank: 15, everySteps: 1000 }
dispatch: { kind: per-rank, dispatchFormat: mxfp8 }
steps: 50
carry: { tokensPerRank: 64, expertInnerSize: 64, workers: 2 }
`,
  `model: { preset: deepseek-v3, topK: 4, precision: { rest: bf16 } }
cluster:
  ranks: 16
  device: { memory: 80 GiB, memoryBandwidth: 3.35 TB/s, bf16: 989 TFLOPS }
  domainRanks: 8
  scaleUp: { bandwidth: 3600 Gbps, latency: 2 us, achieved: 0.7 }
  scaleOut: { bandwidth: 400 Gbps, latency: 5 us }
  topology: { kind: fat-tree, uplink: 200 Gbps }
  overrides: [{ rank: 15, speed: 0.5 }]
workload: { trace: run.npz }
time: { network: fair, overlap: two-batch }
plan:
  requests: { inputTokens: 8000, ratePerSec: 2.5, cacheHitRate: 0.5 }
  objectives: { ttft: 2 s, tpot: 50 ms, power: 120 kW, quantile: 0.99 }
  engine: { cacheFormat: fp8, reserve: 3 GiB }
  dollarsPerHour: 2.5 $/h
`,
  '{"model": "qwen3-30b-a3b", "cluster": {"preset": "h100-8"}, "layers": 4, "carry": null}',
];

const odd = [
  ...[
    '0',
    '-1',
    '1e999',
    '.nan',
    '.inf',
    '1_000',
    '0x10',
    '9007199254740993',
    'null',
    '~',
    '""',
    "'",
    '"',
    '{',
    '}',
  ],
  ...[
    '[',
    ']',
    ': ',
    '- ',
    '#',
    '&a ',
    '*a',
    '!!binary ',
    '!!js/function ',
    '<<: ',
    '? ',
    '|\n',
    '>\n',
    '---\n',
    '...\n',
  ],
  ...[
    '%YAML 1.1\n',
    '\t',
    '\0',
    '\u{1f600}',
    '\ud800',
    '__proto__: ',
    'constructor: ',
    'toString',
    '50',
    '50 GB',
    '3 us',
  ],
];
const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e300,
    2 ** 53,
    '',
    'x',
    '50',
    '50 GB/s',
    '-3 us',
    'kimi-k2',
    'top-k',
    'config.json',
  ],
  ...[
    [],
    {},
    [1, 2],
    [[]],
    { a: 1 },
    { policy: 'quantile' },
    { kind: 'trace', file: 'f' },
    { preset: 'kimi-k3', shape: {} },
  ],
];

const pick = <T>(random: RandomSource, list: readonly T[]): T =>
  list[Math.floor(random.uniform() * list.length)];

/** Cuts, doubles, moves or replaces a few stretches of text. */
function mutateText(random: RandomSource, text: string): string {
  let result = text;
  for (let edits = 1 + Math.floor(random.uniform() * 3); edits > 0; edits--) {
    const at = Math.floor(random.uniform() * result.length);
    const length = Math.floor(random.uniform() * 12);
    const [head, cut, tail] = [result.slice(0, at), result.slice(at, at + length), result.slice(at + length)];
    const choices = [
      head + tail,
      head + cut + cut + tail,
      head,
      head + pick(random, odd) + cut + tail,
      tail + cut + head,
    ];
    result = pick(random, [...choices, head + pick(random, odd) + tail]);
  }
  return result;
}

/** Removes, renames, replaces or adds a field somewhere in the tree. */
function mutateTree(random: RandomSource, tree: unknown): string {
  const root = { root: tree } as Record<string, unknown>;
  for (let edits = 1 + Math.floor(random.uniform() * 2); edits > 0; edits--) {
    let at = root;
    while (random.uniform() < 0.6) {
      const inner = Object.values(at).filter((value) => value !== null && typeof value === 'object');
      if (inner.length === 0) break;
      at = pick(random, inner) as Record<string, unknown>;
    }
    const key = pick(random, [...Object.keys(at), 'extra']);
    const action = Math.floor(random.uniform() * 4);
    if (action === 0) delete at[key];
    else if (action === 1) at[key] = structuredClone(pick(random, values));
    else if (action === 2) at[`${key}x`] = at[key];
    else at[key] = { [key]: at[key] };
  }
  return JSON.stringify(root.root ?? null);
}

function settings(random: RandomSource): readonly string[] {
  if (random.uniform() < 0.8) return [];
  const paths = [
    'seed',
    'model.topK',
    'routing.policy',
    'carry.workers',
    'cluster',
    'cluster.overrides.0',
    'a.b.c',
    '',
  ];
  return [`${pick(random, paths)}${pick(random, ['=', ''])}${pick(random, odd)}`];
}

test('ten thousand mutated scenarios are read or refused, and nothing else', () => {
  const random = randomSource(20260730, 'fuzz');
  const trees = bases.map((text) => parse(text));
  const seen = { read: 0, refused: 0 };
  const failures: string[] = [];
  for (let i = 0; i < 10_000; i++) {
    const index = i % bases.length;
    const text =
      random.uniform() < 0.5
        ? mutateText(random, bases[index])
        : mutateTree(random, structuredClone(trees[index]));
    const set = settings(random);
    try {
      const scenario = parseScenario(text, {
        file: 'fuzz.yaml',
        catalog: stubCatalog,
        set,
        readFile: () => pick(random, ['{}', '', '{"model_type":"kimi_k2"}', '[1]']),
      });
      seen.read++;
      if (seen.read % 20 === 0) {
        const again = parseScenario(resolvedYaml(scenario), { file: 'fuzz.yaml', catalog: stubCatalog });
        expect(again).toEqual(scenario);
      }
    } catch (error) {
      if (error instanceof UserError && error.problems.length > 0) seen.refused++;
      else failures.push(`${String(error)}\n${text}\n${set}`);
    }
  }
  expect(failures).toEqual([]);
  // Mutations that change nothing, or break everything, would prove little.
  expect(seen.read).toBeGreaterThan(500);
  expect(seen.refused).toBeGreaterThan(5000);
}, 240_000);
