// Routing at Kimi K3's shape, 896 experts and top-16: a whole layer of 64 ranks x 1,024 tokens, and the naive form
// (score a row with Math.exp, sort all of it) on a sample of 1,024 tokens with the same choices.
import { routingPolicies, scoreRowNaive, selectNaive } from '@epsim/routing';
import { workloadKinds } from '@epsim/workload';

const shape = { expertCount: 896, topK: 16 };
const tokensPerRank = 1024;

function batchOf(rankCount) {
  const kind = workloadKinds.synthetic;
  const context = { seed: 1, rankCount, tokensPerRank, ...shape, layers: 1, modelName: 'kimi-k3' };
  return kind.create(context, kind.options.parse({ skew: { kind: 'log-normal', sigma: 0.6 } })).batch(0, 0);
}

function routerOf(name, rankCount, options = {}) {
  const gates = { scoring: 'sigmoid', renormalize: true, routedScaling: 1, groupCount: 1, topGroupCount: 1 };
  return routingPolicies[name].create({ ...shape, ...gates, rankCount, seed: 1, layer: 0 }, options);
}

/** A batch whose logits lie in memory, so that only routing is timed. */
function held(batch) {
  const logits = new Float32Array(tokensPerRank * shape.expertCount);
  batch.readLogits(0, logits);
  return { logits, batch: { ...batch, readLogits: (_rank, out) => out.set(logits) } };
}

const sample = held(batchOf(1));
const bias = new Float32Array(shape.expertCount);

function routeNaive() {
  const scores = new Float32Array(sample.logits.length);
  const choices = [];
  for (let row = 0; row < tokensPerRank; row++) {
    const at = row * shape.expertCount;
    scoreRowNaive('sigmoid', sample.logits, at, shape.expertCount, scores);
    const experts = selectNaive(scores, at, shape.expertCount, bias, shape.topK);
    const sum = experts.reduce((total, expert) => total + scores[at + expert], 0);
    choices.push({ experts, weights: experts.map((expert) => scores[at + expert] / sum) });
  }
  return choices;
}

const topK = routerOf('top-k', 1);
const same = topK.route(sample.batch).routing.experts;
routeNaive().forEach(({ experts }, row) => {
  experts.forEach((expert, i) => {
    if (same[row * shape.topK + i] !== expert) throw new Error(`row ${row}: the two forms differ`);
  });
});

const layer = batchOf(64);
const layerBench = (name, options) => {
  const router = routerOf(name, 64, options);
  return {
    name: `routing ${name}${options ? ` ${options.estimator}` : ''} 64 x 1024`,
    subject: { name: 'one layer, scores made as well', work: () => void router.route(layer) },
    runs: 3,
  };
};

export const benchmarks = [
  {
    name: 'routing 1024 tokens',
    baseline: { name: 'sorting every row', work: () => void routeNaive() },
    subject: { name: 'top-k', work: () => void topK.route(sample.batch) },
  },
  layerBench('top-k'),
  layerBench('quantile'),
  layerBench('quantile', { estimator: 'exact' }),
];
