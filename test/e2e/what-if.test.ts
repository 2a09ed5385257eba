import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyFolder, epsim, root } from '../support/epsim.js';

/** The commands of docs/what-if.md as argument lists. The tests run them on fewer tokens, steps and seeds. */
const documented = [...readFileSync(join(root, 'docs/what-if.md'), 'utf8').matchAll(/^epsim (.+)$/gm)].map(
  ([, line]) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare),
);

type Means = Readonly<Record<string, number>>;

/** The rows of the documented comparison that has `text` in its line, with further settings. */
function compared(text: string, ...settings: string[]): Means[] {
  const found = documented.filter((args) => args[0] === 'compare' && args.join(' ').includes(text));
  expect(found, `commands with "${text}" in docs/what-if.md`).toHaveLength(1);
  const small = ['steps=1', 'layers=1', 'workload.tokensPerRank=8', ...settings];
  const { status, stdout, stderr } = epsim([
    ...found[0],
    ...small.flatMap((set) => ['--set', set]),
    ...['--seeds', '1', '--json', '--quiet'],
  ]);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return JSON.parse(stdout).rows.map((row: { means: Means }) => row.means);
}

const stepNs = (rows: readonly Means[]) => rows.map((means) => means['timed.stepNs']);
const perToken = (rows: readonly Means[]) => rows.map((means) => means['bytes.perToken']);

/** Not faster, where sums in another order may differ in the last digits. */
function expectNotFaster(ns: number, than: number): void {
  expect(ns).toBeGreaterThanOrEqual(than * (1 - 1e-9));
}

describe('the fabric', () => {
  test('a domain of 8 moves the bytes of one of 72, most of them over slower links, and is slower', () => {
    const [large, small] = compared('domainRanks=72,8 --set time.exchange=nominal');
    expect(large['bytes.scaleOut']).toBe(0);
    expect(small['bytes.scaleOut']).toBeGreaterThan(small['bytes.scaleUp']);
    expect(small['bytes.perToken']).toBeCloseTo(large['bytes.perToken'], 6);
    expect(small['timed.stepNs']).toBeGreaterThan(large['timed.stepNs']);
  });

  test.each(['bound', 'fair-share'])(
    'a thinner spine moves the same bytes and is never faster: %s',
    (model) => {
      const rows = compared('oversubscription=1,2,4', `time.network=${model}`);
      const [full, half, quarter] = stepNs(rows);
      expectNotFaster(half, full);
      expect(quarter).toBeGreaterThan(half);
      expect(new Set(rows.map((means) => means['bytes.scaleOut'])).size).toBe(1);
    },
  );

  test('with rows forwarded inside the node, rails are as fast as a spine that is never full', () => {
    const [, leafPerNode, , railPerNode] = stepNs(compared('rail-optimized'));
    const [neverFull] = stepNs(compared('oversubscription=1,2,4', 'dispatch.kind=per-node'));
    expect(railPerNode / neverFull).toBeCloseTo(1, 9);
    expectNotFaster(leafPerNode, railPerNode);
  });
});

describe('faults', () => {
  test('an interface that is down, or a rank at 80 % of its speed, changes no byte and is never faster', () => {
    const rows = compared('{ rank: 3, nic: 0 }', 'placement.policy=contiguous');
    const [sound, noInterface, slowRank] = stepNs(rows);
    expect(noInterface).toBeGreaterThan(sound);
    expectNotFaster(slowRank, sound);
    expect(new Set(perToken(rows)).size).toBe(1);
  });

  test('a balanced split gives a slow rank less to do, and loses less time to it', () => {
    const rows = compared('placement.policy=eplb,balanced', 'workload.tokensPerRank=64');
    const [eplb, balanced, slowEplb, slowBalanced] = stepNs(rows);
    expectNotFaster(slowEplb, eplb);
    expectNotFaster(slowBalanced, balanced);
    expect(slowBalanced - balanced).toBeLessThan(slowEplb - eplb);
  });
});

test('weights that are fetched for a batch were never measured, and widen the error bar', () => {
  const small = ['layers=1', 'steps=1', 'workload.tokensPerRank=8', 'placement.slotsPerRank=28'];
  const { stdout } = epsim([
    ...['run', 'scenarios/what-if-faults.yaml', '--time-only', '--json', '--quiet'],
    ...['--out', join(emptyFolder(), 'run')],
    ...['placement.policy=balanced', ...small].flatMap((set) => ['--set', set]),
  ]);
  const { prefetch, dispatch } = JSON.parse(stdout).timed.sources;
  expect(prefetch).toMatchObject({ provenance: 'derived', relErrorBar: 2 * dispatch.relErrorBar });
});

describe('the wire', () => {
  test('rows cross between nodes least often when they go once per node, most often one per choice', () => {
    const [perExpert, perRank, perNode] = compared('dispatch.kind=per-expert,per-rank,per-node');
    expect(perExpert['bytes.dedupRatio']).toBe(1);
    expect(perRank['bytes.dedupRatio']).toBeLessThan(1);
    expect(perRank['bytes.scaleOut']).toBeLessThan(perExpert['bytes.scaleOut']);
    expect(perNode['bytes.scaleOut']).toBeLessThan(perRank['bytes.scaleOut']);
    expectNotFaster(perExpert['timed.stepNs'], perRank['timed.stepNs']);
  });

  test('MXFP4 saves what the formats say, byte for byte, and is never slower', () => {
    const rows = compared('dispatchFormat=fp8,mxfp4', 'dispatch.kind=per-expert');
    const back = 16 * 3584 * 2;
    expect(perToken(rows)).toEqual([16 * (3584 + 28 * 4) + back, 16 * (3584 / 2 + 3584 / 32) + back]);
    const [fp8, mxfp4] = stepNs(rows);
    expectNotFaster(fp8, mxfp4);
  });
});

describe('models', () => {
  test('latents halve the bytes exactly, 347,648 to 173,824 per token and layer', () => {
    const rows = compared('model.latent');
    expect(perToken(rows)).toEqual([173_824, 347_648]);
    expectNotFaster(stepNs(rows)[1], stepNs(rows)[0]);
  });

  test('8 rows of Kimi K2 or DeepSeek-V3 are as many bytes as 16 latents of Kimi K3, on fewer experts a rank', () => {
    const rows = compared('model=kimi-k2', 'workload.tokensPerRank=32');
    expect(perToken(rows)).toEqual([173_824, 173_824, 173_824]);
    const [k2, v3, k3] = rows.map((means) => means['ranks.activatedExperts.mean']);
    expect(v3).toBeLessThanOrEqual(8);
    expect(k2).toBeLessThanOrEqual(12);
    expect(k3).toBeGreaterThan(k2);
  });
});
