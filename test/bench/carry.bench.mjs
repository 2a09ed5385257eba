// One layer of Kimi K3's experts carried on 8 ranks, 64 tokens each, inner size 64, rows in FP32: what moving rows
// between shards costs over the same layer computed in one process, which neither sends nor packs anything.
import { CarrySession, carriedModel, createReference, createShardHandler, planDispatch } from '@epsim/engine';
import { evenSlots, placementPolicies } from '@epsim/placement';
import { routingPolicies } from '@epsim/routing';
import { modelPresets } from '@epsim/spec';
import { rowBytes } from '@epsim/tensor';
import { inlineShards, threadShards } from '@epsim/transport';
import { shardEntry } from '@epsim/workers';
import { workloadKinds } from '@epsim/workload';

const [rankCount, tokensPerRank, innerSize, seed] = [8, 64, 64, 1];
const shape = modelPresets['kimi-k3'];
const { expertCount, topK, expertWidth } = shape.moe;

const { synthetic } = workloadKinds;
const size = { rankCount, tokensPerRank, expertCount, topK, seed };
const workload = synthetic.create(
  { ...size, layers: 1, modelName: shape.name },
  synthetic.options.parse({ skew: { kind: 'log-normal', sigma: 1 } }),
);
const router = routingPolicies['top-k'].create({ ...shape.moe, rankCount, seed, layer: 0 }, {});
const { routing } = router.route(workload.batch(0, 0));
const slots = {
  loads: new Float64Array(expertCount).fill(1),
  slotsPerRank: evenSlots(expertCount, rankCount),
};
const placement = placementPolicies.contiguous.place(
  { ...slots, rankCount, domainRanks: rankCount, seed, layer: 0 },
  {},
);
const row = rowBytes('fp32', expertWidth);
const plan = planDispatch(routing, placement, {
  ...{ kind: 'per-rank', replica: 'round-robin', domainRanks: rankCount },
  ...{ dispatchRowBytes: row, combineRowBytes: row },
});

const model = carriedModel(shape, innerSize, seed);
const hidden = new Float32Array(rankCount * tokensPerRank * model.hiddenSize).fill(0.5);
const out = new Float32Array(hidden.length);
let reference;

function carried(name, shardCount, openPool) {
  const options = { model, rankCount, tokensPerRank, shardCount: () => shardCount, topK, perChoice: false };
  let session;
  async function carry() {
    session ??= new CarrySession({ ...options, dispatchFormat: 'fp32', combineFormat: 'fp32' }, openPool());
    await session.carryRows(plan, 0, hidden, out);
  }
  async function alone() {
    reference ??= createReference(model, rankCount * tokensPerRank);
    await reference.layer(routing, 0, 0);
  }
  return {
    name: `carry ${name}`,
    baseline: { name: 'one process without ranks', work: alone },
    subject: { name: `one layer, 8 ranks x 64 tokens, ${name},`, work: carry },
    runs: 5,
    close: () => session?.close(),
  };
}

export const benchmarks = [
  carried('inline', 1, () => inlineShards(createShardHandler())),
  carried('2 threads', 2, () => threadShards({ entry: shardEntry, workers: 2, timeoutMs: 300_000 })),
];
