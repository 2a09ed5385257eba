/**
 * The rhythm of Kimi K3: three delta-attention layers, then one global read, again and again, and one more
 * global read at the end. The first layer's feed-forward network is dense, every other one has experts.
 */
import type { ModelShape } from '@epsim/spec';

export type MixerKind = 'kda' | 'mla';

/** Mixers of `groups` groups of four and the last layer, first to last; 23 groups are K3's 93 layers. */
export function mixerPattern(groups: number): readonly MixerKind[] {
  const group: readonly MixerKind[] = ['kda', 'kda', 'kda', 'mla'];
  return [...Array.from({ length: groups }, () => group).flat(), 'mla'];
}

/** Groups of the pattern that a model follows, or null when it follows another. */
export function patternGroups(model: Pick<ModelShape, 'layers'>): number | null {
  const groups = (model.layers.length - 1) / 4;
  if (!Number.isInteger(groups)) return null;
  const follows = mixerPattern(groups).every((kind, layer) => {
    const { attention, ffn } = model.layers[layer];
    return attention?.kind === kind && ffn?.kind === (layer === 0 ? 'dense' : 'moe');
  });
  return follows ? groups : null;
}
