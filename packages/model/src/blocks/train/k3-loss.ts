/**
 * The forward pass of k3/k3-forward.ts once more, on a tape: one sequence from its start, and its loss.
 * A second writing of the same model, so the two check each other; this one has gradients and no state.
 */
import type { ModelShape, MoeShape } from '@epsim/spec';
import { gated, gluOp, logDecayOp, rmsNormOp, sigmoidOf, unitRowsOp } from '../autodiff/element-ops.js';
import { add, gatherRows, matmul, sliceColumns } from '../autodiff/matrix-ops.js';
import {
  combineOp,
  crossEntropyOp,
  depthMixOp,
  type ExpertRows,
  gateWeightsOp,
} from '../autodiff/model-ops.js';
import { attentionOp, deltaOp, shortConvOp } from '../autodiff/sequence-ops.js';
import type { Node, Tape } from '../autodiff/tape.js';
import type { MlaShape } from '../gated-mla.js';
import type { KdaShape } from '../kda.js';
import { chooseExperts } from '../latent-moe.js';
import { gluOf } from '../situ-glu.js';
import { type Parameters, parameterOf } from './parameters.js';

/** Router scores of one layer, [tokens x experts], as routing saw them. */
export type ScoreSink = (layer: number, scores: Float32Array) => void;

interface Pass {
  readonly tape: Tape;
  readonly shape: ModelShape;
  /** The tensor `name` below the current prefix. */
  readonly tensor: (name: string) => Node;
}

function gluNetworkNode({ tape, shape, tensor }: Pass, name: string, x: Node): Node {
  const gate = matmul(tape, x, tensor(`${name}.gate`));
  const up = matmul(tape, x, tensor(`${name}.up`));
  return matmul(tape, gluOp(tape, gluOf(shape), gate, up), tensor(`${name}.down`));
}

function kdaNode({ tape, tensor }: Pass, name: string, x: Node, shape: KdaShape): Node {
  const project = (part: string) => matmul(tape, x, tensor(`${name}.${part}`));
  const convolved = (part: string) => shortConvOp(tape, project(part), tensor(`${name}.${part}Conv`));
  const decay = matmul(tape, project('decayDown'), tensor(`${name}.decayUp`));
  const read = deltaOp(tape, {
    query: unitRowsOp(tape, convolved('query'), shape.headDim, shape.headDim ** -0.5),
    key: unitRowsOp(tape, convolved('key'), shape.headDim, 1),
    value: convolved('value'),
    logDecay: logDecayOp(
      tape,
      decay,
      tensor(`${name}.decayLog`),
      tensor(`${name}.decayShift`),
      shape.logDecayBound,
    ),
    beta: sigmoidOf(tape, project('beta')),
  });
  const normed = rmsNormOp(tape, read, tensor(`${name}.norm`));
  return matmul(tape, gated(tape, normed, project('gate')), tensor(`${name}.out`));
}

function mlaNode({ tape, tensor }: Pass, name: string, x: Node, shape: MlaShape): Node {
  const { headCount, kvLoraRank: rank, ropeHeadDim, qLoraRank, outputGate } = shape;
  const part = (own: string) => tensor(`${name}.${own}`);
  const low = qLoraRank === null ? x : rmsNormOp(tape, matmul(tape, x, part('queryDown')), part('queryNorm'));
  const both = matmul(tape, x, part('latentDown'));
  const latent = rmsNormOp(tape, sliceColumns(tape, both, 0, rank), part('latentNorm'));
  const read = attentionOp(tape, {
    headCount,
    query: matmul(tape, low, part('queryUp')),
    key: matmul(tape, latent, part('keyUp')),
    sharedKey: sliceColumns(tape, both, rank, rank + ropeHeadDim),
    value: matmul(tape, latent, part('valueUp')),
  });
  const out = outputGate ? gated(tape, read, matmul(tape, x, part('gate'))) : read;
  return matmul(tape, out, part('out'));
}

/** Choices of each chosen expert, ascending: token x top-k + place. Experts stand as they are first chosen. */
function choicesByExpert(experts: Int32Array): ReadonlyMap<number, number[]> {
  const lists = new Map<number, number[]>();
  experts.forEach((expert, choice) => {
    const list = lists.get(expert);
    if (list === undefined) lists.set(expert, [choice]);
    else list.push(choice);
  });
  return lists;
}

function moeNode(
  pass: Pass,
  name: string,
  x: Node,
  moe: MoeShape,
  sink: (scores: Float32Array) => void,
): Node {
  const { tape, tensor } = pass;
  const part = (own: string) => tensor(`${name}.${own}`);
  const scores = sigmoidOf(tape, matmul(tape, x, part('router')));
  const seen = Float32Array.from(scores.values);
  sink(seen);
  const { experts } = chooseExperts(seen, Float32Array.from(part('selectionBias').values), moe);
  const gates = gateWeightsOp(tape, scores, experts, moe.topK, moe.routedScaling);
  const z = moe.latent ? matmul(tape, x, part('latentDown')) : x;
  const parts: ExpertRows[] = [];
  for (const [expert, choices] of choicesByExpert(experts)) {
    const rows = gatherRows(
      tape,
      z,
      choices.map((choice) => Math.floor(choice / moe.topK)),
    );
    parts.push({ choices, output: gluNetworkNode(pass, `${name}.experts.${expert}`, rows) });
  }
  const y = combineOp(tape, parts, gates, moe.expertWidth);
  const normed = moe.latentNorm ? rmsNormOp(tape, y, part('latentNorm')) : y;
  const routed = moe.latent ? matmul(tape, normed, part('latentUp')) : normed;
  return moe.sharedExpertCount === 0 ? routed : add(tape, routed, gluNetworkNode(pass, `${name}.shared`, x));
}

function mixerNode(pass: Pass, layer: number, x: Node): Node {
  const { attention } = pass.shape.layers[layer];
  return attention?.kind === 'kda'
    ? kdaNode(pass, `layers.${layer}.kda`, x, attention)
    : mlaNode(pass, `layers.${layer}.mla`, x, attention as MlaShape);
}

function ffnNode(pass: Pass, layer: number, x: Node, sink: ScoreSink): Node {
  const { ffn } = pass.shape.layers[layer];
  return ffn?.kind === 'moe'
    ? moeNode(pass, `layers.${layer}.moe`, x, ffn, (scores) => sink(layer, scores))
    : gluNetworkNode(pass, `layers.${layer}.dense`, x);
}

/** Logits [tokens x vocabulary] of a sequence from its start. */
export function k3Logits(
  tape: Tape,
  shape: ModelShape,
  parameters: Parameters,
  ids: ArrayLike<number>,
  sink: ScoreSink = () => {},
): Node {
  const pass: Pass = { tape, shape, tensor: (name) => parameterOf(parameters, name) };
  const { tensor } = pass;
  const blocks: Node[] = [];
  let partial: Node | null = gatherRows(tape, tensor('embedding'), ids);
  const read = (name: string) =>
    depthMixOp(
      tape,
      partial === null ? blocks : [...blocks, partial],
      tensor(`${name}.query`),
      tensor(`${name}.gain`),
    );
  const write = (output: Node) => {
    partial = partial === null ? output : add(tape, partial, output);
  };
  for (let layer = 0; layer < shape.layers.length; layer++) {
    const name = `layers.${layer}`;
    const h: Node = layer === 0 && partial !== null ? partial : read(`${name}.attentionMix`);
    if (layer % (shape.attnResBlockLayers ?? shape.layers.length) === 0 && partial !== null) {
      blocks.push(partial);
      partial = null;
    }
    write(mixerNode(pass, layer, rmsNormOp(tape, h, tensor(`${name}.attentionNorm`))));
    write(ffnNode(pass, layer, rmsNormOp(tape, read(`${name}.ffnMix`), tensor(`${name}.ffnNorm`)), sink));
  }
  return matmul(tape, rmsNormOp(tape, read('outputMix'), tensor('head.norm')), tensor('head.words'));
}

/** Mean loss in nats of predicting each next token of `ids`, on the tape. */
export function k3Loss(
  tape: Tape,
  shape: ModelShape,
  parameters: Parameters,
  ids: Int32Array,
  sink?: ScoreSink,
): Node {
  if (ids.length < 2) throw new RangeError(`a loss needs at least two tokens, not ${ids.length}`);
  const logits = k3Logits(tape, shape, parameters, ids.subarray(0, -1), sink);
  return crossEntropyOp(tape, logits, ids.subarray(1));
}
