// The fair-share network against ranks: every rank sends to every other, evenly and unevenly, on nodes of eight H800
// below leaf switches with a spine of half their rate; then unevenly on other networks. Peak memory of the process
// grows from size to size.
import { buildTopology, networkModels, unevenExchange } from '@epsim/network';
import { clusterPresets } from '@epsim/spec';

const PAIR_BYTES = 512 * 3696;
const { cluster } = clusterPresets['h800-nodes'];

const LEAF_SPINE = { kind: 'leaf-spine', options: { oversubscription: 2 } };

function topologyOf(rankCount, shape) {
  return buildTopology({ ...cluster, rankCount, topology: { ...cluster.topology, ...shape } });
}

function evenExchange(rankCount) {
  const bytes = new Float64Array(rankCount * rankCount).fill(PAIR_BYTES);
  for (let rank = 0; rank < rankCount; rank++) bytes[rank * (rankCount + 1)] = 0;
  return bytes;
}

function exchangeBench(ranks, kind, model, shape = LEAF_SPINE, name = 'network') {
  let given;
  const work = () => {
    given ??= {
      topology: topologyOf(ranks, shape),
      bytes: kind === 'even' ? evenExchange(ranks) : unevenExchange(ranks, PAIR_BYTES),
    };
    networkModels[model].transfer(given.topology, given.bytes);
  };
  return {
    name: `${name} ${model} ${kind} ${ranks} ranks`,
    subject: { name: `${(ranks * (ranks - 1)).toLocaleString('en')} flows`, work },
    runs: ranks > 512 ? 1 : 5,
    warm: ranks <= 512,
    note: () => {
      given = undefined;
      return `peak memory ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB`;
    },
  };
}

const other = (name, ranks, kind, domainRanks, options = {}) =>
  exchangeBench(ranks, 'uneven', 'fair-share', { kind, domainRanks, options }, `${name} network`);

const atSize = (ranks) =>
  ['bound', 'fair-share'].flatMap((model) =>
    ['even', 'uneven'].map((kind) => exchangeBench(ranks, kind, model)),
  );

// Smallest first, so that the peak of the process so far is that of the size in hand.
export const benchmarks = [
  ...[8, 16, 64, 256, 1024, 2048].flatMap(atSize),
  other('one-domain', 2048, 'nvlink-domain', 2048),
  other('nodes', 2048, 'nvlink-domain', 8),
  other('torus', 256, 'torus-2d', 256, { dims: [16, 16] }),
  other('torus', 1024, 'torus-2d', 1024, { dims: [32, 32] }),
  ...atSize(4096),
];
