// The fair-share network against ranks: every rank sends to every other, evenly and unevenly, on nodes of eight H800
// below leaf switches with a spine of half their rate. Peak memory of the process grows from size to size.
import { buildTopology, networkModels, unevenExchange } from '@epsim/network';
import { clusterPresets } from '@epsim/spec';

const PAIR_BYTES = 512 * 3696;
const { cluster } = clusterPresets['h800-nodes'];

function topologyOf(rankCount) {
  const topology = { ...cluster.topology, kind: 'leaf-spine', options: { oversubscription: 2 } };
  return buildTopology({ ...cluster, rankCount, topology });
}

function evenExchange(rankCount) {
  const bytes = new Float64Array(rankCount * rankCount).fill(PAIR_BYTES);
  for (let rank = 0; rank < rankCount; rank++) bytes[rank * (rankCount + 1)] = 0;
  return bytes;
}

function exchangeBench(ranks, kind, model) {
  let given;
  const work = () => {
    given ??= {
      topology: topologyOf(ranks),
      bytes: kind === 'even' ? evenExchange(ranks) : unevenExchange(ranks, PAIR_BYTES),
    };
    networkModels[model].transfer(given.topology, given.bytes);
  };
  return {
    name: `network ${model} ${kind} ${ranks} ranks`,
    subject: { name: `${(ranks * (ranks - 1)).toLocaleString('en')} flows`, work },
    runs: ranks > 512 ? 1 : 5,
    warm: ranks <= 512,
    note: () => {
      given = undefined;
      return `peak memory ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB`;
    },
  };
}

// Smallest first, so that the peak of the process so far is that of the size in hand.
export const benchmarks = [8, 16, 64, 256, 1024, 2048, 4096].flatMap((ranks) =>
  ['bound', 'fair-share'].flatMap((model) =>
    ['even', 'uneven'].map((kind) => exchangeBench(ranks, kind, model)),
  ),
);
