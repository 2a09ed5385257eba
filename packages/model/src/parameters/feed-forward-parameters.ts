/**
 * Tensors of a dense feed-forward layer and of a layer of experts.
 * The one idea: experts multiply at expertWidth, everything else at the hidden width.
 * Does not know how many experts a rank holds.
 */
import type { DenseShape, MoeShape } from '@epsim/spec';
import type { TensorSize } from './tensor-entry.js';

/** Matrices of one network: gate, up and down, or up and down only. */
function networkMatrices(gated: boolean): number {
  return gated ? 3 : 2;
}

/** Elements of the matrices of one routed expert, biases apart. K3: 33,030,144. */
export function expertElements(moe: MoeShape): number {
  return networkMatrices(moe.gated) * moe.expertWidth * moe.expertInnerSize;
}

/** Elements of the biases of one routed expert; 0 for models without them. */
export function expertBiasElements(moe: MoeShape): number {
  return moe.bias ? (networkMatrices(moe.gated) - 1) * moe.expertInnerSize + moe.expertWidth : 0;
}

export function denseTensors(dense: DenseShape, hidden: number, gated: boolean): readonly TensorSize[] {
  const elements = networkMatrices(gated) * hidden * dense.innerSize;
  return [{ name: 'dense', tensorClass: 'dense', elements, split: 'tensor', plain: false }];
}

function routedTensors(moe: MoeShape): TensorSize[] {
  const each = (name: string, perExpert: number, plain: boolean): TensorSize => ({
    name,
    tensorClass: 'routed-expert',
    elements: moe.expertCount * perExpert,
    activeElements: moe.topK * perExpert,
    split: 'experts',
    plain,
  });
  const bias = expertBiasElements(moe);
  return [
    each('experts', expertElements(moe), false),
    ...(bias > 0 ? [each('experts_bias', bias, true)] : []),
  ];
}

/** Router, its biases, latent projections, routed and shared experts of one layer. */
export function moeTensors(moe: MoeShape, hidden: number): readonly TensorSize[] {
  const routerBiases = (moe.selectionBias ? moe.expertCount : 0) + (moe.bias ? moe.expertCount : 0);
  const list: TensorSize[] = [
    {
      name: 'router',
      tensorClass: 'router',
      elements: hidden * moe.expertCount,
      split: 'replicated',
      plain: true,
    },
  ];
  if (routerBiases > 0) {
    list.push({
      name: 'router_bias',
      tensorClass: 'router',
      elements: routerBiases,
      split: 'replicated',
      plain: true,
    });
  }
  list.push(...routedTensors(moe));
  if (moe.latent) {
    const elements = hidden * moe.expertWidth;
    const projection = {
      tensorClass: 'latent-projection',
      elements,
      split: 'replicated',
      plain: false,
    } as const;
    list.push({ name: 'latent_down', ...projection }, { name: 'latent_up', ...projection });
  }
  if (moe.latentNorm) {
    list.push({
      name: 'latent_norm',
      tensorClass: 'norm',
      elements: moe.expertWidth,
      split: 'replicated',
      plain: true,
    });
  }
  if (moe.sharedExpertCount > 0) {
    const elements = networkMatrices(moe.gated) * hidden * moe.sharedExpertCount * moe.sharedInnerSize;
    list.push({
      name: 'shared_experts',
      tensorClass: 'shared-expert',
      elements,
      split: 'tensor',
      plain: false,
    });
  }
  return list;
}
