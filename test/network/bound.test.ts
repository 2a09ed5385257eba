import { buildTopology, networkModels } from '@epsim/network';
import { expect, test } from 'vitest';
import { cluster, linkSpec, matrix } from './clusters.js';

const { bound } = networkModels;

test('one flow takes its latency and its bytes over its slowest link', () => {
  const topology = buildTopology(cluster({ ranks: 2, scaleUp: linkSpec(100e9, 700) }));
  const transfer = bound.transfer(
    topology,
    matrix(2, (from) => (from === 0 ? 1e6 : 0)),
  );
  expect(transfer.ns).toBeCloseTo(700 + 10_000, 6);
  expect([...transfer.sentNs]).toEqual([10_000, 0]);
  expect([...transfer.receivedNs]).toEqual([0, 10_700]);
});

test('an even exchange through one switch takes what one port takes', () => {
  const topology = buildTopology(cluster({ ranks: 8, scaleUp: linkSpec(100e9, 700) }));
  const transfer = bound.transfer(
    topology,
    matrix(8, () => 1e6),
  );
  expect(transfer.ns).toBeCloseTo(700 + 70_000, 6);
  expect(transfer.linkBytes).toEqual(new Float64Array(16).fill(7e6));
});

test('a hot receiver is limited by its own port, and its port is the busiest link', () => {
  const topology = buildTopology(cluster({ ranks: 5 }));
  const transfer = bound.transfer(
    topology,
    matrix(5, (_, to) => (to === 3 ? 1e6 : 0)),
  );
  expect(transfer.ns).toBeCloseTo(40_000, 6);
  expect(topology.links[transfer.busiestLink].name).toBe('rank3.scale-up.in');
});

test('bytes between domains cross the network interfaces, shared or one per rank', () => {
  const between = matrix(8, (from, to) => (from < 4 && to >= 4 ? 1e6 : 0));
  const own = buildTopology(cluster({ ranks: 8, domainRanks: 4 }));
  expect(bound.transfer(own, between).ns).toBeCloseTo(400_000, 6);
  const shared = buildTopology(cluster({ ranks: 8, domainRanks: 4, options: { nicsPerDomain: 2 } }));
  expect(bound.transfer(shared, between).ns).toBeCloseTo(800_000, 6);
  const bonded = buildTopology(cluster({ ranks: 8, domainRanks: 4, options: { nicsPerDomain: 8 } }));
  expect(bound.transfer(bonded, between).ns).toBeCloseTo(200_000, 6);
});

test('message costs come before the bytes, the notice after them', () => {
  const topology = buildTopology(cluster({ ranks: 3, scaleUp: linkSpec(100e9, 700) }));
  const bytes = matrix(3, (from) => (from === 0 ? 1e6 : 0));
  const transfer = bound.transfer(topology, bytes, { startNs: 1000, perMessageNs: 50, notifyNs: 300 });
  expect(transfer.sentNs[0]).toBeCloseTo(1000 + 2 * 50 + 20_000, 6);
  expect(transfer.ns).toBeCloseTo(1000 + 2 * 50 + 20_000 + 700 + 300, 6);
  const messagesPerPair = Int32Array.from([0, 3, 4, 0, 0, 0, 0, 0, 0]);
  const costs = { startNs: 1000, perMessageNs: 50, notifyNs: 300, messagesPerPair };
  expect(bound.transfer(topology, bytes, costs).ns).toBeCloseTo(1000 + 7 * 50 + 20_000 + 700 + 300, 6);
});

test('nothing to send takes only the fixed costs and has no busiest link', () => {
  const topology = buildTopology(cluster({ ranks: 4 }));
  const nothing = new Float64Array(16);
  expect(bound.transfer(topology, nothing).ns).toBe(0);
  expect(bound.transfer(topology, nothing).busiestLink).toBe(-1);
  expect(bound.transfer(topology, nothing, { startNs: 9, perMessageNs: 5, notifyNs: 2 }).ns).toBe(11);
});

test('the wrong number of pairs and bytes that are no count are refused with both shapes or the pair', () => {
  const topology = buildTopology(cluster({ ranks: 4 }));
  expect(() => bound.transfer(topology, new Float64Array(9))).toThrow(/9 entries.*4 x 4/);
  expect(() =>
    bound.transfer(
      topology,
      matrix(4, (from, to) => (from === 1 && to === 2 ? -1 : 0)),
    ),
  ).toThrow(/\[1, 2\] is -1/);
});
