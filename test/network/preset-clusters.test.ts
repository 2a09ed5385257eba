/** Each cluster preset as a network: it builds, and one even all-to-all takes what its closed form says. */
import { buildTopology, networkModels } from '@epsim/network';
import { clusterPresets } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { matrix } from './clusters.js';

const BYTES = 1e6;
const MODELS = ['bound', 'fair-share'] as const;

function allToAllNs(
  name: keyof typeof clusterPresets,
  model: (typeof MODELS)[number],
  ranks?: number,
): number {
  const { cluster } = clusterPresets[name];
  const rankCount = ranks ?? cluster.rankCount;
  return networkModels[model].transfer(
    buildTopology({ ...cluster, rankCount }),
    matrix(rankCount, () => BYTES),
  ).ns;
}

/** Nanoseconds of `bytes` over `parts` of the usable scale-up rate of a rank. */
function wireNs(name: keyof typeof clusterPresets, bytes: number, parts: number): number {
  const { bytesPerSec, achieved } = clusterPresets[name].cluster.topology.scaleUp;
  return (1e9 * bytes) / (bytesPerSec * achieved.fraction * parts);
}

test.each(Object.keys(clusterPresets) as (keyof typeof clusterPresets)[])(
  '%s builds, alone and doubled',
  (name) => {
    const { cluster } = clusterPresets[name];
    for (const rankCount of [cluster.rankCount, 2 * cluster.rankCount]) {
      const { links } = buildTopology({ ...cluster, rankCount });
      for (const link of links) expect(link.bytesPerSec, link.name).toBeGreaterThan(0);
    }
  },
);

describe.each(MODELS)('one all-to-all, %s', (model) => {
  test.each(['mi300x-8', 'mi325x-8'] as const)('%s: a pair has a seventh of the rate of a rank', (name) => {
    const { latencyNs } = clusterPresets[name].cluster.topology.scaleUp;
    expect(allToAllNs(name, model)).toBeCloseTo(latencyNs + wireNs(name, BYTES, 1 / 7), 6);
    const cluster = clusterPresets[name].cluster;
    const pair = networkModels[model].transfer(
      buildTopology(cluster),
      matrix(8, (from, to) => (from === 0 && to === 1 ? BYTES : 0)),
    );
    expect(pair.ns).toBeCloseTo(latencyNs + wireNs(name, BYTES, 1 / 7), 6);
  });

  test('a switched domain gives a pair alone the whole rate that it gives seven peers', () => {
    const { latencyNs } = clusterPresets['h100-8'].cluster.topology.scaleUp;
    expect(allToAllNs('h100-8', model)).toBeCloseTo(latencyNs + wireNs('h100-8', 7 * BYTES, 1), 6);
  });
});

test('tpu-v5p-64: each link of the torus carries 32 pairs, and the bound is their bytes over a sixth of the rate', () => {
  const { cluster } = clusterPresets['tpu-v5p-64'];
  const topology = buildTopology(cluster);
  const transfer = networkModels.bound.transfer(
    topology,
    matrix(64, () => BYTES),
  );
  // A link of a ring of 4 carries the pair at distance 1 and, ways taking turns, one of distance 2; each stands for
  // the 16 ranks that the other two rings lead to.
  expect(topology.links.length).toBe(64 * 6);
  const { latencyNs } = cluster.topology.scaleUp;
  const slowest = latencyNs + wireNs('tpu-v5p-64', 32 * BYTES, 1 / 6);
  expect(transfer.ns).toBeCloseTo(slowest, 3);
});
