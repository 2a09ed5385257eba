// Random inputs of each reference block and what the block makes of them, as one JSON file for compare.py.
//   node test/peers/export.mjs FOLDER [SEED]
// Arrays are flat and row-major; their shapes are said in compare.py, which knows nothing of the code here.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  chooseExperts,
  deltaChunkwise,
  deltaRecurrent,
  gatedMla,
  gluGateDerivative,
  gluUpDerivative,
  kda,
  kdaState,
  latentMoe,
  mixDepth,
  mlaCache,
  newtonSchulz,
  orthogonalizeBlocks,
  rmsNorm,
  routerScores,
  visionTokens,
} from '@epsim/model';
import { randomSource } from '@epsim/spec';
import { gluNaive } from '@epsim/tensor';

const [folder, seed = '1'] = process.argv.slice(2);
if (folder === undefined) throw new Error('write node test/peers/export.mjs FOLDER [SEED]');

const normals = (name, count, size = 1) => {
  const random = randomSource(Number(seed), 'peers', name);
  return Float32Array.from({ length: count }, () => size * random.normal());
};
/** A product's weights [rows x columns]. */
const matrix = (name, rows, columns) => normals(name, rows * columns, rows ** -0.5);
/** A gain near one. */
const gain = (name, count) => normals(name, count, 0.2).map((x) => 1 + x);

function activation() {
  const glu = { kind: 'situ', gateBound: 4, upBound: 25 };
  const [gate, up] = [normals('gate', 400, 4), normals('up', 400, 20)];
  const output = new Float32Array(400);
  gluNaive(glu, gate, up, output);
  const slopes = (slope) => Array.from(gate, (g, i) => slope(glu, g, up[i]));
  return {
    sizes: glu,
    inputs: { gate, up },
    outputs: { output, byGate: slopes(gluGateDerivative), byUp: slopes(gluUpDerivative) },
  };
}

function norm() {
  const [x, weight] = [normals('x', 7 * 48, 3), gain('gain', 48)];
  return { sizes: { width: 48 }, inputs: { x, weight }, outputs: { output: rmsNorm(x, weight) } };
}

function mixtureOfExperts() {
  const sizes = { tokens: 12, hidden: 32, width: 16, inner: 24, experts: 28, topK: 3, sharedInner: 40 };
  const { tokens, hidden, width, inner, experts, topK, sharedInner } = sizes;
  const network = (name, from, to) => ({
    gate: matrix(`${name}.gate`, from, to),
    up: matrix(`${name}.up`, from, to),
    down: matrix(`${name}.down`, to, from),
  });
  const weights = {
    router: matrix('router', hidden, experts),
    selectionBias: normals('bias', experts, 0.3),
    latent: {
      down: matrix('down', hidden, width),
      norm: gain('norm', width),
      up: matrix('up', width, hidden),
    },
    experts: Array.from({ length: experts }, (_, e) => network(`expert${e}`, width, inner)),
    shared: network('shared', hidden, sharedInner),
  };
  const x = normals('x', tokens * hidden);
  const scores = routerScores(x, weights.router, hidden, experts);
  const moe = { expertCount: experts, topK, renormalize: true, routedScaling: 1 };
  const choices = chooseExperts(scores, weights.selectionBias, moe);
  const glu = { kind: 'situ', gateBound: 4, upBound: 25 };
  const output = latentMoe(x, hidden, width, glu, weights, choices);
  const { latent, shared, router, selectionBias } = weights;
  const all = (part) => Float32Array.from(weights.experts.flatMap((expert) => [...expert[part]]));
  return {
    sizes,
    inputs: {
      ...{ x, router, selectionBias, down: latent.down, norm: latent.norm, up: latent.up },
      ...{ expertGate: all('gate'), expertUp: all('up'), expertDown: all('down') },
      ...{ sharedGate: shared.gate, sharedUp: shared.up, sharedDown: shared.down },
    },
    outputs: { scores, output },
  };
}

const KDA = {
  kind: 'kda',
  headCount: 3,
  headDim: 8,
  gateRank: 6,
  convSize: 4,
  fullRankOutputGate: true,
  logDecayBound: -5,
};

function deltaAttention() {
  const sizes = { ...KDA, hidden: 20, tokens: 45 };
  const { hidden, tokens, headCount, headDim, gateRank, convSize } = sizes;
  const inner = headCount * headDim;
  const weights = {
    ...Object.fromEntries(
      ['query', 'key', 'value', 'gate'].map((name) => [name, matrix(name, hidden, inner)]),
    ),
    ...Object.fromEntries(
      ['queryConv', 'keyConv', 'valueConv'].map((name) => [name, normals(name, inner * convSize, 0.5)]),
    ),
    decayDown: matrix('decayDown', hidden, gateRank),
    decayUp: matrix('decayUp', gateRank, inner),
    decayLog: normals('decayLog', headCount, 0.7),
    decayShift: normals('decayShift', inner),
    beta: matrix('beta', hidden, headCount),
    norm: gain('norm', headDim),
    out: matrix('out', inner, hidden),
  };
  const x = normals('x', tokens * hidden);
  const state = kdaState(KDA);
  const output = kda(x, hidden, KDA, weights, state);
  const chunked = kdaState(KDA);
  // In two calls and in chunks that do not divide either: the state is carried between them.
  const first = kda(x.subarray(0, 19 * hidden), hidden, KDA, weights, chunked, 16);
  const second = kda(x.subarray(19 * hidden), hidden, KDA, weights, chunked, 16);
  return {
    sizes,
    inputs: { x, ...weights },
    outputs: {
      ...{ output, chunkwise: Float32Array.from([...first, ...second]) },
      ...{ memory: state.memory, memoryChunkwise: chunked.memory },
    },
  };
}

function deltaRule() {
  const sizes = { headCount: 2, headDim: 6, tokens: 37 };
  const { headCount, headDim, tokens } = sizes;
  const count = tokens * headCount * headDim;
  const unit = (x) =>
    x.map((value, i) => {
      const row = x.subarray(i - (i % headDim), i - (i % headDim) + headDim);
      return value / Math.hypot(...row);
    });
  const inputs = {
    query: unit(normals('query', count)),
    key: unit(normals('key', count)),
    value: normals('value', count),
    logDecay: normals('decay', count).map((z) => -5 / (1 + Math.exp(-z))),
    beta: normals('beta', tokens * headCount).map((z) => 1 / (1 + Math.exp(-z))),
  };
  const memory = normals('memory', headCount * headDim ** 2);
  const [one, two] = [memory.slice(), memory.slice()];
  return {
    sizes,
    inputs: { ...inputs, memory },
    outputs: {
      recurrent: deltaRecurrent({ headCount, headDim, ...inputs }, one),
      chunkwise: deltaChunkwise({ headCount, headDim, ...inputs }, two),
      ...{ memory: one, memoryChunkwise: two },
    },
  };
}

function latentAttention() {
  const shape = {
    ...{ kind: 'mla', headCount: 3, qLoraRank: 12, kvLoraRank: 10, outputGate: true },
    ...{ nopeHeadDim: 8, ropeHeadDim: 4, valueHeadDim: 6 },
  };
  const [hidden, tokens] = [24, 21];
  const { headCount, qLoraRank, kvLoraRank, nopeHeadDim, ropeHeadDim, valueHeadDim } = shape;
  const weights = {
    queryDown: matrix('queryDown', hidden, qLoraRank),
    queryNorm: gain('queryNorm', qLoraRank),
    queryUp: matrix('queryUp', qLoraRank, headCount * (nopeHeadDim + ropeHeadDim)),
    latentDown: matrix('latentDown', hidden, kvLoraRank + ropeHeadDim),
    latentNorm: gain('latentNorm', kvLoraRank),
    keyUp: matrix('keyUp', kvLoraRank, headCount * nopeHeadDim),
    valueUp: matrix('valueUp', kvLoraRank, headCount * valueHeadDim),
    gate: matrix('gate', hidden, headCount * valueHeadDim),
    out: matrix('out', headCount * valueHeadDim, hidden),
  };
  const x = normals('x', tokens * hidden, 2);
  const output = gatedMla(x, hidden, shape, weights, mlaCache(shape));
  return { sizes: { ...shape, hidden, tokens }, inputs: { x, ...weights }, outputs: { output } };
}

function depth() {
  const sizes = { sources: 5, tokens: 9, hidden: 32 };
  const count = sizes.tokens * sizes.hidden;
  const sources = Array.from({ length: sizes.sources }, (_, i) => normals(`source${i}`, count, 1 + i));
  const read = { query: normals('query', sizes.hidden, 0.5), gain: gain('gain', sizes.hidden) };
  const { mixed, weights } = mixDepth(sources, read);
  const inputs = { sources: Float32Array.from(sources.flatMap((source) => [...source])), ...read };
  return { sizes, inputs, outputs: { weights, mixed } };
}

/** `grid` patches are stretched positions where it is not the table's own size. */
function vision(frames, rows, columns) {
  const shape = {
    ...{ layerCount: 2, hiddenSize: 24, innerSize: 40, headCount: 2, headDim: 16, patchSize: 2 },
    ...{ mergeSize: 2, positionGrid: 4, projectorInnerSize: 30 },
  };
  const { hiddenSize: own, innerSize, headCount, headDim, positionGrid, projectorInnerSize } = shape;
  const [wide, pixels, modelWidth] = [headCount * headDim, 12, 20];
  const layers = Array.from({ length: shape.layerCount }, (_, i) => ({
    attentionNorm: gain(`${i}.attentionNorm`, own),
    ...Object.fromEntries(['query', 'key', 'value'].map((name) => [name, matrix(`${i}.${name}`, own, wide)])),
    out: matrix(`${i}.out`, wide, own),
    mlpNorm: gain(`${i}.mlpNorm`, own),
    up: matrix(`${i}.up`, own, innerSize),
    down: matrix(`${i}.down`, innerSize, own),
  }));
  const weights = {
    patch: matrix('patch', pixels, own),
    positions: normals('positions', positionGrid ** 2 * own),
    norm: gain('norm', own),
    projectorIn: matrix('projectorIn', 4 * own, projectorInnerSize),
    projectorOut: matrix('projectorOut', projectorInnerSize, modelWidth),
    projectorNorm: gain('projectorNorm', modelWidth),
  };
  const patches = normals('patches', frames * rows * columns * pixels);
  const output = visionTokens({ frames, rows, columns, patches }, shape, { ...weights, layers });
  const flat = layers.flatMap((layer, i) =>
    Object.entries(layer).map(([name, values]) => [`${i}.${name}`, values]),
  );
  return {
    sizes: { ...shape, frames, rows, columns, modelWidth },
    inputs: { patches, ...weights, ...Object.fromEntries(flat) },
    outputs: { output },
  };
}

function orthogonalised() {
  const sizes = { rows: 24, columns: 8, blockRows: 4 };
  const packed = Float64Array.from(normals('gradient', 192));
  return {
    sizes,
    inputs: { packed },
    outputs: {
      whole: newtonSchulz(packed, 24, 8),
      perHead: orthogonalizeBlocks(packed, 24, 8, 4),
    },
  };
}

const blocks = {
  'rms-norm': norm(),
  'situ-glu': activation(),
  'latent-moe': mixtureOfExperts(),
  'delta-rule': deltaRule(),
  kda: deltaAttention(),
  'gated-mla': latentAttention(),
  'attention-residual': depth(),
  'vision-image': vision(1, 4, 6),
  'vision-video': vision(3, 4, 4),
  'newton-schulz': orthogonalised(),
};
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'blocks.json'), JSON.stringify(blocks, plain));
