/** Clusters that are no network: refused with file, line and the repair, by every command that reads a scenario. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyFolder, epsim } from '../support/epsim.js';

/** A scenario whose cluster is spelled out from line 5 on; `changes` replace or add lines of it. */
function scenarioWith(changes: Readonly<Record<string, string | null>>): string {
  const cluster: Record<string, string | null> = {
    ranks: 'ranks: 16',
    domainRanks: 'domainRanks: 8',
    device: 'device: h100-sxm',
    scaleUp: 'scaleUp: { bandwidth: 450 GB/s, latency: 2 us, achieved: 0.7 }',
    scaleOut: 'scaleOut: { bandwidth: 50 GB/s, latency: 5 us }',
    ...changes,
  };
  const lines = Object.values(cluster).filter((line) => line !== null);
  return [
    'name: bad',
    'model: kimi-k3',
    'workload: { tokensPerRank: 8 }',
    'cluster:',
    ...lines.map((l) => `  ${l}`),
    '',
  ].join('\n');
}

function checked(text: string, ...args: string[]) {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'bad.yaml'), text);
  return epsim([...args, 'bad.yaml'], folder);
}

const refused: readonly (readonly [string, Readonly<Record<string, string | null>>, RegExp])[] = [
  [
    'zero bandwidth',
    { scaleUp: 'scaleUp: { bandwidth: 0 GB/s, latency: 2 us }' },
    /^bad.yaml:8: cluster.scaleUp.bandwidth: out of range value: 0 GB\/s; must be above 0 B\/s/,
  ],
  [
    'missing bandwidth',
    { scaleOut: 'scaleOut: { latency: 5 us }' },
    /^bad.yaml:9: cluster.scaleOut.bandwidth: missing field; write \{ bandwidth: 50 GB\/s/,
  ],
  [
    'bandwidth without a unit',
    { scaleOut: 'scaleOut: { bandwidth: 50, latency: 5 us }' },
    /^bad.yaml:9: cluster.scaleOut.bandwidth: missing unit: 50; write "50 GB\/s" or "400 Gbps"/,
  ],
  [
    'negative latency',
    { scaleUp: 'scaleUp: { bandwidth: 450 GB/s, latency: -2 us }' },
    /^bad.yaml:8: cluster.scaleUp.latency: out of range value: -2 us; must be at least 0 ns/,
  ],
  [
    'a domain that does not divide the ranks',
    { domainRanks: 'domainRanks: 7' },
    /^bad.yaml:6: cluster.domainRanks: uneven domains: 16 ranks in domains of 7; use 14 or 21 ranks/,
  ],
  [
    'domains that nothing joins',
    { scaleOut: 'scaleOut: null' },
    /^bad.yaml:9: cluster.scaleOut: missing network: 16 ranks in domains of 8; write scaleOut/,
  ],
  [
    'a rank whose port and interface are down',
    { overrides: 'overrides:\n    - { rank: 1, speed: 0.5 }\n    - { rank: 3, scaleUp: 0, nic: 0 }' },
    /^bad.yaml:12: cluster.overrides.1: unreachable rank: 3, its scale-up port and its network interface are down; leave one of them above 0/,
  ],
  [
    'a rank whose port is down, without a network',
    { ranks: 'ranks: 8', scaleOut: null, overrides: 'overrides: [{ rank: 2, scaleUp: 0 }]' },
    /^bad.yaml:9: cluster.overrides.0: unreachable rank: 2, its scale-up port is down and there is no network/,
  ],
  [
    'a link at 0 with no other way',
    {
      topology:
        'topology:\n    kind: nvlink-domain\n    degraded:\n      domain0.nic0.in: 0.5\n      rank5.scale-up.out: 0',
    },
    /^bad.yaml:14: cluster.topology.degraded.rank5.scale-up.out: unreachable ranks: 5 and 0, link rank5.scale-up.out is down and there is no other way; leave it above 0/,
  ],
  [
    'the name of no link',
    { topology: 'topology:\n    kind: nvlink-domain\n    degraded:\n      rank99.port: 0.5' },
    /^bad.yaml:13: cluster.topology.degraded.rank99.port: unknown link: rank99.port; links are named like rank0.scale-up.out/,
  ],
  [
    'a share of a link above 1',
    { topology: 'topology: { kind: nvlink-domain, degraded: { rank0.scale-up.out: 2 } }' },
    /^bad.yaml:10: cluster.topology.degraded.rank0.scale-up.out: out of range: 2/,
  ],
  [
    'a torus that does not fill its domain',
    { topology: 'topology: { kind: torus-2d, dims: [3, 2] }' },
    /^bad.yaml:10: cluster.topology.dims: unfilled domain: 3 x 2 = 6 for 8 ranks/,
  ],
];

describe.each(refused)('%s', (_, changes, message) => {
  test('is refused by check and by run with the line and the repair', () => {
    for (const command of [['check'], ['run', '--time-only']]) {
      const { status, stdout, stderr } = checked(scenarioWith(changes), ...command);
      expect(stderr).toMatch(message);
      expect(status).toBe(2);
      expect(stdout).toBe('');
    }
  });
});

test('what --set breaks is placed at --set', () => {
  const { status, stderr } = checked(scenarioWith({}), 'check', '--set', 'cluster.domainRanks=7');
  expect(status).toBe(2);
  expect(stderr).toMatch(/^--set: cluster.domainRanks: uneven domains: 16 ranks in domains of 7/);
});

test('50 Gbps and 50 GB/s are both understood, and differ by 8', () => {
  const bandwidthOf = (written: string) => {
    const text = scenarioWith({ scaleOut: `scaleOut: { bandwidth: ${written}, latency: 5 us }` });
    const { status, stdout } = checked(text, 'check', '--json');
    expect(status).toBe(0);
    return JSON.parse(stdout).cluster.topology.scaleOut.bytesPerSec;
  };
  expect(bandwidthOf('50 GB/s')).toBe(50e9);
  expect(bandwidthOf('50 Gbps')).toBe(50e9 / 8);
});
