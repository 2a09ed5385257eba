/**
 * A layout: how one instance of a model is spread over ranks.
 * One idea: five degrees say everything. Attention is cut over `attentionTensor` ranks and repeated
 * `attentionData` times; the same ranks share the experts of a layer; layers are cut over `pipeline` stages.
 * Knows nothing of memory or time; says what no engine could load, and why.
 */

import { shardByBlocks } from '@epsim/model';
import { dividingRankCounts, evenSlots, leastRedundantExperts } from '@epsim/placement';
import type { AttentionShape, ModelShape, Precision } from '@epsim/spec';

export interface Layout {
  /** Ranks that share the heads of one sequence. */
  readonly attentionTensor: number;
  /** Groups of such ranks, each with sequences of its own. */
  readonly attentionData: number;
  /** Ranks, or groups of `expertTensor` ranks, over which the experts of a layer are dealt. */
  readonly expertRanks: number;
  /** Ranks over which the inner size of each expert is cut; 1 with pure expert parallelism. */
  readonly expertTensor: number;
  /** Stages that the layers are cut into. */
  readonly pipeline: number;
  /** Slots of a layer beyond one for each expert, over all expert ranks; they hold replicas. */
  readonly redundantExperts: number;
}

/** Ranks of one pipeline stage. */
export function stageRanks(layout: Layout): number {
  return layout.attentionTensor * layout.attentionData;
}

/** Ranks of one instance. */
export function layoutRanks(layout: Layout): number {
  return stageRanks(layout) * layout.pipeline;
}

/** "TP2 DP32 EP64 PP2 +32": degrees by the names that engines give them, and redundant experts. */
export function layoutName(layout: Layout): string {
  const { attentionTensor, attentionData, expertRanks, expertTensor, pipeline, redundantExperts } = layout;
  const parts = [`TP${attentionTensor}`, `DP${attentionData}`, `EP${expertRanks}`];
  if (expertTensor > 1) parts.push(`ETP${expertTensor}`);
  if (pipeline > 1) parts.push(`PP${pipeline}`);
  if (redundantExperts > 0) parts.push(`+${redundantExperts}`);
  return parts.join(' ');
}

/** Slots of each expert rank, [expertRanks]; an uneven rest is spread over the first ranks, one each. */
export function slotsOfLayout(expertCount: number, layout: Layout): Int32Array {
  const { expertRanks, redundantExperts } = layout;
  return evenSlots(expertCount + redundantExperts, expertRanks);
}

/** [first, after last) layer of a stage; a rest goes to the first stages, one each. */
export function stageLayers(layerCount: number, pipeline: number, stage: number): readonly [number, number] {
  const each = Math.floor(layerCount / pipeline);
  const more = layerCount % pipeline;
  const first = stage * each + Math.min(stage, more);
  return [first, first + each + (stage < more ? 1 : 0)];
}

/** Columns that share a scale along the inner size: 128 for 128 x 128 blocks, the group itself otherwise, 1 for none. */
export function scaleBlock(precision: Precision): { readonly columns: number; readonly square: boolean } {
  if (precision.groupSize === 0) return { columns: 1, square: false };
  const side = Math.sqrt(precision.groupSize);
  const square = precision.groupSize > 1024 && Number.isInteger(side);
  return { columns: square ? side : precision.groupSize, square };
}

/** How wide an expert's cut inner size is computed and stored, over its real width: 1.0222 for 736 of 720. */
export function expertPadding(model: ModelShape, layout: Layout): number {
  const { columns } = scaleBlock(model.precision.routedExperts);
  return 1 + shardByBlocks(model.moe.expertInnerSize, layout.expertTensor, columns).overhead;
}

/**
 * Why no engine can load the layout, one sentence each; empty when it can.
 * Square blocks of scales (128 x 128) cannot be cut, groups along a row can be padded.
 */
export function layoutFaults(model: ModelShape, layout: Layout): readonly string[] {
  const faults: string[] = [];
  const { moe, precision } = model;
  const { attentionTensor: ways, expertTensor, expertRanks, pipeline } = layout;
  for (const [name, degree] of Object.entries(layout)) {
    const least = name === 'redundantExperts' ? 0 : 1;
    if (!Number.isInteger(degree) || degree < least) {
      faults.push(`${name} is ${degree}; a whole number of at least ${least} is needed`);
    }
  }
  if (faults.length > 0) return faults;
  if (stageRanks(layout) !== expertRanks * expertTensor) {
    faults.push(
      `${stageRanks(layout)} attention ranks (TP ${ways} x DP ${layout.attentionData}) are not the ` +
        `${expertRanks * expertTensor} expert ranks (EP ${expertRanks} x ETP ${expertTensor})`,
    );
  }
  if (pipeline > model.layers.length) faults.push(`${pipeline} stages for ${model.layers.length} layers`);
  if (expertRanks > moe.expertCount + layout.redundantExperts) {
    faults.push(`${expertRanks} expert ranks for ${moe.expertCount} experts leave ranks without any`);
  }
  faults.push(...headFaults(model, ways));
  faults.push(
    ...widthFaults(`experts' inner size`, moe.expertInnerSize, expertTensor, precision.routedExperts),
  );
  for (const [name, width] of denseWidths(model))
    faults.push(...widthFaults(name, width, ways, precision.rest));
  return faults;
}

/** What is worth knowing about a layout that can be loaded: uneven slots, padding. */
export function layoutNotes(model: ModelShape, layout: Layout): readonly string[] {
  const { expertCount } = model.moe;
  const { expertRanks, redundantExperts, expertTensor } = layout;
  const notes: string[] = [];
  const least = leastRedundantExperts(expertCount, expertRanks);
  if (least > 0 && redundantExperts === 0) {
    const slots = slotsOfLayout(expertCount, layout);
    const few = slots[slots.length - 1];
    notes.push(
      `${expertCount} experts do not divide over ${expertRanks} ranks: ${expertCount % expertRanks} ranks hold ` +
        `${few + 1}, the others ${few}; engines that want equal slots need ${least} redundant experts, ` +
        `or one of EP ${nearbyDivisors(expertCount, expertRanks).join(', ')}`,
    );
  }
  const padding = expertPadding(model, layout);
  if (padding > 1) {
    const { expertInnerSize } = model.moe;
    const { columns } = scaleBlock(model.precision.routedExperts);
    const cut = shardByBlocks(expertInnerSize, expertTensor, columns);
    notes.push(
      `experts are cut to ${cut.sizePerRank} columns and padded to ${cut.paddedSize} for blocks of ${columns}: ` +
        `+${(100 * cut.overhead).toFixed(1)} %`,
    );
  }
  return notes;
}

/** The EP sizes around `ranks` that divide the experts. */
export function nearbyDivisors(expertCount: number, ranks: number): readonly number[] {
  const all = dividingRankCounts(expertCount);
  const below = all.filter((n) => n < ranks).slice(-2);
  return [...below, ...all.filter((n) => n > ranks).slice(0, 2)];
}

function denseWidths({ layers, moe }: ModelShape): readonly (readonly [string, number])[] {
  const dense = new Set(layers.flatMap(({ ffn }) => (ffn?.kind === 'dense' ? [ffn.innerSize] : [])));
  const shared = moe.sharedExpertCount * moe.sharedInnerSize;
  return [
    ...[...dense].map((width) => ['dense inner size', width] as const),
    ...(shared > 0 ? [['shared experts inner size', shared] as const] : []),
  ];
}

function widthFaults(name: string, width: number, ways: number, precision: Precision): readonly string[] {
  const { columns, square } = scaleBlock(precision);
  const cut = shardByBlocks(width, ways, columns);
  if (cut.legal || !(square || columns === 1)) return [];
  const blocks = columns === 1 ? 'whole columns' : `whole blocks of ${columns} x ${columns}`;
  const legal = [1, 2, 4, 8, 16, 32, 64].filter((n) => shardByBlocks(width, n, columns).legal);
  return [`${name} ${width} / ${ways} = ${cut.sizePerRank} is not ${blocks}; ${legal.join(', ')} ways are`];
}

function headFaults({ layers }: ModelShape, ways: number): readonly string[] {
  const seen = new Set<string>();
  for (const { attention } of layers) {
    if (attention === null) continue;
    const heads = headCountOf(attention);
    if (heads % ways !== 0) seen.add(`${heads} heads of ${attention.kind} do not divide by TP ${ways}`);
  }
  return [...seen];
}

function headCountOf(attention: AttentionShape): number {
  return attention.kind === 'gated-delta-net' ? attention.valueHeadCount : attention.headCount;
}
