// The planner: candidate layouts of Kimi K3 in thousands and in a hundred, and output tokens that its queue of requests
// simulates for each second of work. Sensitivity and the command's start are left out.
import { catalog } from '@epsim/engine';
import { planCapacity, requestStream, sampleLoads, simulateQueue, tableOf } from '@epsim/planner';
import { parseScenario } from '@epsim/spec';

const scenarioOf = (name, cluster, limits) =>
  parseScenario(
    `model: kimi-k3
cluster: ${cluster}
workload: { preset: kimi-k3-16 }
placement: { policy: eplb }
plan: { objectives: { tpot: 40 ms }, limits: ${limits} }`,
    { file: name, catalog },
  );

function planBench(name, cluster, limits) {
  const scenario = scenarioOf(name, cluster, limits);
  const sample = sampleLoads(scenario);
  let plan;
  const work = () => {
    plan = planCapacity(scenario, { sample, sensitivity: false });
  };
  return {
    name: `planner ${name}`,
    subject: { name: 'search and refinement', work },
    runs: 3,
    note: () => {
      const { candidates, timed, refined } = plan.searched;
      return `${candidates} candidates, ${timed} steps timed by the bound, ${refined} layouts refined`;
    },
  };
}

/** An instance like the best one of scenarios/k3-plan.yaml. */
const times = {
  ...{ slots: 1288, groups: 7, tokensPerStep: 1, chunkTokens: 16_384 },
  decodeNs: tableOf([1, 64, 184], [10e6, 20e6, 39e6]),
  chunkNs: (tokens) => 1e8 + 5e4 * tokens,
  nextChunkNs: (tokens) => 1e8 + 4e4 * tokens,
};

function queueBench(name, prefill) {
  const stream = requestStream({
    ...{ seed: 7, count: 15_456, ratePerSec: 20, inputTokens: 8000, outputTokens: 1000 },
    ...{ cacheHitRate: 0.5, spread: 1 },
  });
  const fleet = { decode: times, decodeInstances: 1, prefill, prefillInstances: 1, transferNs: 1e6 };
  let tokens = 0;
  let spentMs = 0;
  const work = () => {
    const before = process.cpuUsage();
    tokens = simulateQueue(stream, fleet).outputTokens;
    const { user, system } = process.cpuUsage(before);
    spentMs = (user + system) / 1000;
  };
  return {
    name: `planner queue ${name}`,
    subject: { name: `${stream.count} requests`, work },
    runs: 9,
    note: () =>
      `${(tokens / 1e6).toFixed(1)} M output tokens, ${(tokens / spentMs / 1000).toFixed(0)} M a second of the last run`,
  };
}

const racks = '{ preset: gb200-nvl72, ranks: 144 }';
export const benchmarks = [
  planBench('of thousands', racks, '{ ranks: 144 }'),
  planBench('of hundreds', '{ preset: b200-8, ranks: 16 }', '{ ranks: 16 }'),
  queueBench('split', times),
  queueBench('together', null),
];
