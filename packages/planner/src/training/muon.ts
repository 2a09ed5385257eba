/**
 * What orthogonalising the updates of a model costs: Newton-Schulz steps on whole matrices or on head blocks.
 * One idea: the cost is cubic in the shorter side of a block, so blocks of a head cost little beside whole matrices.
 * Per iteration of X <- aX + (bA + cA^2)X with A = XX^T: 4 r^2 c + 2 r^3 FLOPs for [r x c], r the shorter side.
 */
import type { AttentionShape, ModelShape } from '@epsim/spec';

/** Iterations of the quintic form. */
const ITERATIONS = 5;

export interface MatrixBlocks {
  readonly count: number;
  readonly rows: number;
  readonly columns: number;
}

/** FLOPs of one iteration on `count` blocks. One [12288 x 7168]: 3.26 TFLOP; its 96 head blocks: 45.5 GFLOP. */
export function iterationFlops({ count, rows, columns }: MatrixBlocks): number {
  const [short, long] = rows < columns ? [rows, columns] : [columns, rows];
  return count * (4 * short ** 2 * long + 2 * short ** 3);
}

/** FLOPs of all updates of one step. `perHead` cuts the projections of mixers into the blocks of their heads. */
export function muonFlops(model: ModelShape, perHead: boolean): number {
  return flopsOf(model, perHead, () => true);
}

/** FLOPs of one step's updates of the projections that heads share, in mixers of every kind, and of nothing else. */
export function headMuonFlops(model: ModelShape, perHead: boolean): number {
  return flopsOf(model, perHead, ({ heads }) => heads === true);
}

function flopsOf(model: ModelShape, perHead: boolean, counts: (block: Blocks) => boolean): number {
  let flops = 0;
  for (const { attention, ffn } of model.layers) {
    const blocks = [
      ...(attention === null ? [] : mixerBlocks(attention, model.hiddenSize)),
      ...(ffn === null ? [] : ffn.kind === 'dense' ? denseBlocks(model, ffn.innerSize) : expertBlocks(model)),
    ];
    for (const block of blocks.filter(counts)) flops += iterationFlops(perHead ? block : whole(block));
  }
  return ITERATIONS * flops;
}

/** A block list joined into one matrix, where its blocks are heads; experts are matrices of their own. */
function whole(block: Blocks): MatrixBlocks {
  return block.heads === true ? { count: 1, rows: block.count * block.rows, columns: block.columns } : block;
}

type Blocks = MatrixBlocks & { readonly heads?: boolean };

const perHeadBlocks = (count: number, rows: number, columns: number): Blocks => ({
  count,
  rows,
  columns,
  heads: true,
});
const matrices = (count: number, rows: number, columns: number): Blocks => ({ count, rows, columns });

function mixerBlocks(a: AttentionShape, hidden: number): readonly Blocks[] {
  switch (a.kind) {
    case 'mla': {
      const { headCount, nopeHeadDim, ropeHeadDim, valueHeadDim, kvLoraRank } = a;
      const query = a.qLoraRank ?? hidden;
      return [
        ...(a.qLoraRank === null ? [] : [matrices(1, a.qLoraRank, hidden)]),
        perHeadBlocks(headCount, nopeHeadDim + ropeHeadDim, query),
        matrices(1, kvLoraRank + ropeHeadDim, hidden),
        perHeadBlocks(headCount, nopeHeadDim + valueHeadDim, kvLoraRank),
        ...(a.outputGate ? [perHeadBlocks(headCount, valueHeadDim, hidden)] : []),
        matrices(1, hidden, headCount * valueHeadDim),
      ];
    }
    case 'gqa':
      return [
        perHeadBlocks(a.headCount, a.headDim, hidden),
        perHeadBlocks(2 * a.kvHeadCount, a.headDim, hidden),
        matrices(1, hidden, a.headCount * a.headDim),
      ];
    case 'shared-kv-mqa': {
      const { headCount, headDim, compression, outputGroupCount, outputLoraRank } = a;
      const pooled = compression === null ? 0 : (compression.overlapping ? 2 : 1) * headDim;
      return [
        matrices(1, a.qLoraRank, hidden),
        perHeadBlocks(headCount, headDim, a.qLoraRank),
        matrices(1, headDim, hidden),
        matrices(outputGroupCount, outputLoraRank, (headCount * headDim) / outputGroupCount),
        matrices(1, hidden, outputGroupCount * outputLoraRank),
        ...(pooled === 0 ? [] : [matrices(2, pooled, hidden)]),
      ];
    }
    case 'kda': {
      const { headCount, headDim, gateRank } = a;
      const each = () => perHeadBlocks(headCount, headDim, hidden);
      return [
        ...[each(), each(), each()],
        ...(a.fullRankOutputGate ? [each()] : [perHeadBlocks(headCount, headDim, gateRank)]),
        perHeadBlocks(headCount, headDim, gateRank),
        matrices(a.fullRankOutputGate ? 1 : 2, gateRank, hidden),
        matrices(1, hidden, headCount * headDim),
      ];
    }
    case 'gated-delta-net':
      return [
        perHeadBlocks(2 * a.keyHeadCount + 2 * a.valueHeadCount, a.headDim, hidden),
        matrices(1, hidden, a.valueHeadCount * a.headDim),
      ];
    case 'mamba2':
      return [
        perHeadBlocks(2 * a.headCount, a.headDim, hidden),
        matrices(1, hidden, a.headCount * a.headDim),
      ];
  }
}

function denseBlocks({ moe, hiddenSize }: ModelShape, inner: number): readonly Blocks[] {
  return [matrices(moe.gated ? 3 : 2, inner, hiddenSize)];
}

function expertBlocks({ moe, hiddenSize }: ModelShape): readonly Blocks[] {
  const each = moe.gated ? 3 : 2;
  const shared = moe.sharedExpertCount * moe.sharedInnerSize;
  return [
    matrices(each * moe.expertCount, moe.expertInnerSize, moe.expertWidth),
    matrices(1, moe.expertCount, hiddenSize),
    ...(shared > 0 ? [matrices(each, shared, hiddenSize)] : []),
    ...(moe.latent ? [matrices(2, moe.expertWidth, hiddenSize)] : []),
  ];
}
