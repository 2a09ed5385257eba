/**
 * What one of several tensor-parallel ranks keeps of a token mixer: its share of the heads.
 * One idea: a slice is a mixer of the same kind with fewer heads, so every cost and size of it is known already.
 */
import type { AttentionShape } from '@epsim/spec';

/**
 * The mixer that one of `ways` ranks runs. Key and value heads are cut until each rank has one and repeated
 * beyond that; latents, their down-projections and norms stay whole. Heads must divide (see `layoutFaults`).
 */
export function sliceOf(attention: AttentionShape, ways: number): AttentionShape {
  const cut = (heads: number): number => Math.max(1, Math.ceil(heads / ways));
  switch (attention.kind) {
    case 'mla':
    case 'kda':
      return { ...attention, headCount: cut(attention.headCount) };
    case 'gqa':
      return { ...attention, headCount: cut(attention.headCount), kvHeadCount: cut(attention.kvHeadCount) };
    case 'shared-kv-mqa':
      return {
        ...attention,
        headCount: cut(attention.headCount),
        outputGroupCount: cut(attention.outputGroupCount),
      };
    case 'gated-delta-net':
      return {
        ...attention,
        keyHeadCount: cut(attention.keyHeadCount),
        valueHeadCount: cut(attention.valueHeadCount),
      };
    case 'mamba2':
      return { ...attention, headCount: cut(attention.headCount), groupCount: cut(attention.groupCount) };
  }
}
