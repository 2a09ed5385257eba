// Placement at Kimi K3's size: 896 experts; 92 layers of EPLB to 936 slots on 72 ranks, one batch at 64 ranks.
import { evenSlots, loadSolver, placementPolicies } from '@epsim/placement';
import { randomSource } from '@epsim/spec';

await loadSolver();
const [layers, experts] = [92, 896];
const draw = randomSource(1, 'placement-bench');
const popularity = () =>
  Float64Array.from({ length: experts }, () => Math.floor(Math.exp(draw.normal()) * 1000));
const tables = Array.from({ length: layers }, popularity);

const inputOf = (loads, ranks, slotsPerRank, layer) => ({
  loads,
  rankCount: ranks,
  slotsPerRank: evenSlots(slotsPerRank * ranks, ranks),
  domainRanks: ranks,
  seed: 1,
  layer,
});

/** EPLB as published, in plain arrays: a division per replica and a scan per item. */
function plainEplb(loads, slots, ranks) {
  const counts = loads.map(() => 1);
  const items = [...loads.keys()];
  while (items.length < slots) {
    const each = [...loads].map((load, expert) => load / counts[expert]);
    const most = each.indexOf(Math.max(...each));
    items.push(most);
    counts[most]++;
  }
  const packs = Array.from({ length: ranks }, () => ({ load: 0, items: [] }));
  const load = (item) => loads[item] / counts[item];
  for (const item of items.sort((a, b) => load(b) - load(a))) {
    const open = packs.filter((pack) => pack.items.length < slots / ranks);
    const pack = open.reduce((a, b) => (b.load < a.load ? b : a));
    pack.items.push(item);
    pack.load += load(item);
  }
  return packs;
}

function splitBench(name, slotsPerRank) {
  const policy = placementPolicies[name];
  const options = policy.options.parse({});
  const placement = policy.place(inputOf(tables[0], 64, slotsPerRank, 0), options);
  const choices = new Int32Array(64 * experts);
  for (let i = 0; i < choices.length; i++)
    choices[i] = Math.round((tables[0][i % experts] / 1000) * draw.uniform() * 20);
  return {
    name: `placement split ${name}`,
    subject: {
      name: 'one layer, 64 ranks',
      work: () => policy.split({ placement, choices, domainRanks: 64 }, options),
    },
    runs: 21,
  };
}

export const benchmarks = [
  {
    name: 'placement eplb 92 layers',
    baseline: { name: 'plain arrays', work: () => tables.map((loads) => plainEplb(loads, 936, 72)) },
    subject: {
      name: '896 experts to 936 slots on 72 ranks',
      work: () =>
        tables.map((loads, layer) => placementPolicies.eplb.place(inputOf(loads, 72, 13, layer), {})),
    },
  },
  ...[
    [256, 9, 32],
    [256, 4, 256],
    [896, 13, 72],
    [896, 15, 64],
    [896, 29, 32],
    [896, 5, 256],
    [896, 2, 1024],
  ].map(([count, slots, ranks]) => ({
    name: `placement eplb ${count} experts ${slots * ranks} slots ${ranks} ranks`,
    subject: {
      name: 'one layer',
      work: () => placementPolicies.eplb.place(inputOf(tables[0].subarray(0, count), ranks, slots, 0), {}),
    },
    runs: 21,
  })),
  splitBench('balanced', 28),
  splitBench('least-loaded', 16),
  splitBench('lp', 16),
];
