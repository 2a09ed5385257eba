import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { activeParamCount, paramCount } from '@epsim/model';
import { type JourneyTrace, journeyScenes, type MechanismRow, type Scale } from '@epsim/report';
import type { Comparison } from '@epsim/results';
import { modelPresets } from '@epsim/spec';
import { afterAll, describe, expect, test } from 'vitest';
import { epsim, root } from '../support/epsim.js';

const doc = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');
const scale = JSON.parse(epsim(['journey', '--scale', '--json']).stdout) as Scale;
const sum = (pick: (row: MechanismRow) => number) =>
  scale.mechanisms.reduce((total, row) => total + pick(row), 0);

describe('epsim journey --scale', () => {
  test('prints the tables that stand in the documents', () => {
    const { stdout, status } = epsim(['journey', '--scale']);
    expect(status).toBe(0);
    const [mechanisms, context, ledger] = stdout.trim().split('\n\n');
    expect(doc('mechanisms.md')).toContain(`\n${mechanisms}\n`);
    expect(doc('mechanisms.md')).toContain(`\n${context}\n`);
    expect(doc('k2-vs-k3.md')).toContain(`\n${ledger}\n`);
  });

  test('counts every parameter of the model and its vision tower once', () => {
    const k3 = modelPresets['kimi-k3'];
    const [vision] = scale.mechanisms;
    expect(sum(({ params }) => params) - vision.params).toBe(paramCount(k3));
    expect(paramCount(k3) / 1e12).toBeCloseTo(2.7795, 4);
  });

  test('computes two FLOPs for each active parameter, attention proper apart', () => {
    const active = activeParamCount(modelPresets['kimi-k3']);
    const short = sum(({ flops }) => flops ?? 0) - coreOfMixers();
    expect(short / (2 * active)).toBeGreaterThan(1);
    expect(short / (2 * active)).toBeLessThan(1.001);
  });

  test('names files and checks that exist', () => {
    for (const { file, check } of scale.mechanisms) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(existsSync(join(root, check)), check).toBe(true);
    }
  });

  test('draws what a context costs', () => {
    const dir = mkdtempSync(join(tmpdir(), 'epsim-scale-'));
    expect(epsim(['journey', '--scale', '--out', dir]).status).toBe(0);
    expect(readdirSync(dir).sort()).toEqual(['context-bytes.png', 'context-flops.png', 'scale.json']);
    const { context } = JSON.parse(readFileSync(join(dir, 'scale.json'), 'utf8')) as Scale;
    const [first, last] = [context[0], context[context.length - 1]];
    expect([first.tokens, last.tokens]).toEqual([1024, 2 ** 20]);
    // A state of fixed size and 27,648 B for each token more.
    expect(last.modelBytes - first.modelBytes).toBe(27_648 * (last.tokens - first.tokens));
    expect(last.softmaxPrefill / first.softmaxPrefill).toBeCloseTo(1024 ** 2, -5);
    rmSync(dir, { recursive: true });
  });
});

/** FLOPs of attention proper at the context that mechanisms are costed at. */
function coreOfMixers(): number {
  return scale.context.find(({ tokens }) => tokens === scale.contextTokens)?.modelNext ?? Number.NaN;
}

describe('epsim compare scenarios/k2-vs-k3.yaml', () => {
  const small = [
    '--seeds',
    '1',
    '--set',
    'steps=1',
    '--set',
    'layers=1',
    '--set',
    'workload.tokensPerRank=16',
  ];
  const compare = (...args: string[]) => epsim(['compare', 'scenarios/k2-vs-k3.yaml', ...small, ...args]);
  const dir = mkdtempSync(join(tmpdir(), 'epsim-k2-k3-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const { stdout: text } = compare('--out', dir);
  const comparison = JSON.parse(readFileSync(join(dir, 'comparison.json'), 'utf8')) as Comparison;
  const ledger = Object.fromEntries(
    comparison.ledgers.flatMap(({ rows }) => rows.map(({ name, values }) => [name, values])),
  );

  test('says what is compared, and the ledger of both models', () => {
    expect(comparison.rows.map(({ values }) => values)).toEqual([{ model: 'kimi-k2' }, { model: 'kimi-k3' }]);
    expect(comparison.ledgers[0].columns).toEqual(['kimi-k2', 'kimi-k3']);
    expect(ledger).toMatchObject({
      layers: [61, 93],
      'experts in a layer': [384, 896],
      selected: [8, 16],
      'sparsity: experts to one selected': [48, 56],
      'shared experts': [1, 2],
      attention: ['61 MLA', '69 KDA + 24 MLA'],
      activation: ['SwiGLU', 'SiTU-GLU'],
      context: [131_072, 1_048_576],
      'bytes a token and layer, a row per choice': [173_824, 173_824],
    });
    const [k2, k3] = ledger.parameters as number[];
    expect([k2 / 1e12, k3 / 1e12]).toEqual([expect.closeTo(1.026, 3), expect.closeTo(2.7795, 4)]);
    const [activeK2, activeK3] = ledger['active for a token'] as number[];
    expect([activeK2 / 1e9, activeK3 / 1e9]).toEqual([expect.closeTo(31.7, 1), expect.closeTo(104.19, 2)]);
  });

  test("fills the same rank with each model's own weights, and what is left with sequences", () => {
    const memory = ledger['its memory'] as number[];
    const left = ledger['left for sequences, activations and buffers'] as number[];
    const weights = [ledger['routed experts'], ledger['all other weights']] as number[][];
    // Routed experts on 32 ranks, as published sizes give them: 28 of 896, 17.547 MB each in 92 layers.
    expect(weights[0][1] / 1e9).toBeCloseTo((28 * 92 * 17.547) / 1000, 1);
    expect(left).toEqual(memory.map((bytes, i) => bytes - weights[0][i] - weights[1][i]));
    const held = ledger['sequences of 128 K tokens that it would hold'] as number[];
    const kept = ledger['kept for a sequence of 128 K tokens'] as number[];
    expect(held).toEqual(left.map((bytes, i) => Math.floor(bytes / kept[i])));
  });

  test('carries that many bytes, fewer for Kimi K3 as soon as a rank gets a row once', () => {
    expect(comparison.rows.map(({ means }) => means['bytes.perToken'])).toEqual([173_824, 173_824]);
    const shared = JSON.parse(compare('--set', 'dispatch.kind=per-rank', '--json').stdout) as Comparison;
    const [k2, k3] = shared.rows.map(({ means }) => means['bytes.perToken']);
    expect(k3).toBeLessThan(k2);
  });

  test('says the same in text, JSON, Markdown and HTML', () => {
    const { rows } = comparison.ledgers[0];
    const whole = (value: number | string) =>
      typeof value === 'string' ? value : value.toLocaleString('en-US');
    const exact = rows.filter(({ unit }) => unit === null).map((row) => [row.name, ...row.values.map(whole)]);
    const markdown = readFileSync(join(dir, 'comparison.md'), 'utf8');
    const html = readFileSync(join(dir, 'comparison.html'), 'utf8');
    for (const [name, k2, k3] of exact) {
      expect(text.replace(/ {2,}/g, '|')).toContain(`${name}|${k2}|${k3}\n`);
      expect(markdown).toContain(`| ${name} | ${k2} | ${k3} |\n`);
      expect(html).toContain(`<th scope="row">${name}</th><td>${k2}</td><td>${k3}</td>`);
    }
    expect(exact.length).toBeGreaterThan(12);
    for (const page of [markdown, html]) expect(page).toContain('routed experts');
    expect(JSON.parse(compare('--json').stdout)).toEqual(comparison);
  });
});

test('a comparison of one model has no ledger', () => {
  const args = ['--vary', 'dispatch.kind=per-rank', '--seeds', '1', '--json', '--set', 'steps=1'];
  const { stdout } = epsim(['compare', 'scenarios/k2-vs-k3.yaml', ...args, '--set', 'layers=1']);
  expect(JSON.parse(stdout).ledgers).toEqual([]);
});

test('short training runs start alike, part ways in one step, and are drawn', () => {
  const dir = mkdtempSync(join(tmpdir(), 'epsim-train-'));
  const short = ['--train', '--steps', '2', '--sequences', '1'];
  const { status, stdout } = epsim(['journey', ...short, '--out', dir, '--quiet', '--json']);
  expect(status).toBe(0);
  const { training, nextToken, nextTokenTrained, sources } = JSON.parse(stdout) as JourneyTrace;
  if (training === null || nextTokenTrained === null) throw new Error('nothing was trained');
  // What the first run left, beside what the same tokens had before it.
  expect(nextTokenTrained.source).toBe('training');
  expect(sources.training).toContain('2 steps of 64 tokens');
  const before = new Map(nextToken.top.map(({ label, probability }) => [label, probability]));
  const both = nextTokenTrained.top.filter(({ label }) => before.has(label));
  for (const one of both) expect(one.before).toBe(before.get(one.label));
  const probabilities = nextTokenTrained.top.map(({ probability }) => probability);
  expect(probabilities.reduce((a, b) => a + b, nextTokenTrained.restProbability)).toBeCloseTo(1, 3);
  expect(probabilities).not.toEqual(nextToken.top.map(({ probability }) => probability));
  expect(training.runs.map(({ name }) => name)).toEqual([
    'quantile balancing, Muon per head',
    'quantile balancing, Muon whole',
    'no balancing, Muon per head',
  ]);
  const lossesAt = (step: number) => new Set(training.runs.map(({ loss }) => loss[step]));
  expect(lossesAt(0).size).toBe(1);
  expect(lossesAt(1).size).toBe(3);
  expect(readdirSync(dir).sort()).toEqual([
    'journey.html',
    'journey.json',
    'training-loss.png',
    'training-maxvio.png',
  ]);
  const page = readFileSync(join(dir, 'journey.html'), 'utf8');
  for (const words of ['A short training run', 'Miniature, training run']) expect(page).toContain(words);
  const scenes = journeyScenes(JSON.parse(stdout));
  const last = scenes[scenes.length - 1];
  expect(last.sources).toEqual(['miniature', 'training']);
  expect(last.beats.map(({ caption }) => caption).join(' ')).toMatch(/untrained.*after the short run/);
  rmSync(dir, { recursive: true });
}, 120_000);
