import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { activeParamCount, paramCount } from '@epsim/model';
import type { MechanismRow, Scale } from '@epsim/report';
import { modelPresets } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
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
    expect(doc('mechanisms.md')).toContain(`\n\n${mechanisms}\n\n`);
    expect(doc('mechanisms.md')).toContain(`\n\n${context}\n\n`);
    expect(doc('k2-vs-k3.md')).toContain(`\n\n${ledger}\n\n`);
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

test('Kimi K2 and Kimi K3 send the same bytes for a token and layer when each choice travels by itself', () => {
  const args = ['scenarios/k2-vs-k3.yaml', '--vary', 'model=kimi-k2,kimi-k3', '--seeds', '1'];
  const small = ['--set', 'steps=1', '--set', 'layers=1', '--set', 'workload.tokensPerRank=16', '--json'];
  const { rows } = JSON.parse(epsim(['compare', ...args, ...small]).stdout) as {
    rows: { means: Record<string, number> }[];
  };
  expect(rows.map(({ means }) => means['bytes.perToken'])).toEqual([173_824, 173_824]);
  const shared = epsim(['compare', ...args, ...small, '--set', 'dispatch.kind=per-rank']);
  const [k2, k3] = (JSON.parse(shared.stdout) as { rows: typeof rows }).rows;
  expect(k3.means['bytes.perToken']).toBeLessThan(k2.means['bytes.perToken']);
});

test('short training runs start alike, part ways in one step, and are drawn', () => {
  const dir = mkdtempSync(join(tmpdir(), 'epsim-train-'));
  const short = ['--train', '--steps', '2', '--sequences', '1'];
  const { status, stdout } = epsim(['journey', ...short, '--out', dir, '--quiet', '--json']);
  expect(status).toBe(0);
  const { training } = JSON.parse(stdout);
  expect(training.runs.map(({ name }: { name: string }) => name)).toEqual([
    'quantile balancing, Muon per head',
    'quantile balancing, Muon whole',
    'no balancing, Muon per head',
  ]);
  const lossesAt = (step: number) => new Set(training.runs.map(({ loss }: { loss: number[] }) => loss[step]));
  expect(lossesAt(0).size).toBe(1);
  expect(lossesAt(1).size).toBe(3);
  expect(readdirSync(dir).sort()).toEqual([
    'journey.html',
    'journey.json',
    'training-loss.png',
    'training-maxvio.png',
  ]);
  expect(readFileSync(join(dir, 'journey.html'), 'utf8')).toContain('A short training run');
  rmSync(dir, { recursive: true });
}, 120_000);
