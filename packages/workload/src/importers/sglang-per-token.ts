/**
 * SGLang's recorder in per_token mode, one file a rank: `topk_ids_of_layer` [layers x tokens x 8] of each forward
 * pass. Ids are physical slots, taken back to experts by the saved map; columns that a model with a smaller top-k
 * leaves at -1, and layers that stay at -1, are left out.
 */
import { NO_EXPERT } from '@epsim/spec';
import type { Tensor } from '../formats/tensor.js';
import { type ChoiceFrame, choiceTrace } from './build.js';
import { agreed, fileList, type Importer } from './importer.js';
import { type PassRecord, type Recording, readRecording, recordingKind, tensorField } from './sglang-file.js';

interface RankIds {
  readonly record: PassRecord;
  readonly ids: Tensor;
}

export const sglangPerToken: Importer = {
  summary: 'SGLang expert distribution recorder, mode per_token, the files of all ranks (.pt)',
  detect: (file) => recordingKind(file) === 'per_token',
  read: async (files, hints) => {
    const recording = readRecording(files);
    const [layers] = recording.logicalOf.shape;
    const passes = recording.passes.map((records) => records.map((record) => idsOf(record, layers)));
    const expertCount = agreed(
      files[0].name,
      'the number of experts',
      recording.expertCount,
      hints.expertCount,
    );
    const topK = agreed(files[0].name, 'top-k', columnsInUse(passes), hints.topK);
    const frames = passes.map((ranks) => frameOf(ranks, recording));
    const { rankCount, notes } = recording;
    const source = `sglang-per-token: ${fileList(files)}`;
    return choiceTrace({ source, notes, expertCount, topK, layers, rankCount }, frames, hints);
  },
};

function idsOf(record: PassRecord, layers: number): RankIds {
  const place = `${record.file}: pass ${record.pass}`;
  const ids = tensorField(record.fields, 'topk_ids_of_layer', 3, place);
  if (ids.shape[0] !== layers) {
    throw new RangeError(`${place}: ${ids.shape[0]} layers of ids, ${layers} in the physical to logical map`);
  }
  return { record, ids };
}

function columnsInUse(passes: readonly (readonly RankIds[])[]): number {
  let used = 0;
  for (const { ids } of passes.flat()) {
    const [, , columns] = ids.shape;
    ids.values.forEach((id, i) => {
      if (id !== NO_EXPERT) used = Math.max(used, (i % columns) + 1);
    });
  }
  return used;
}

function frameOf(ranks: readonly RankIds[], { logicalOf }: Recording): ChoiceFrame {
  const rankTokens = ranks.map(({ ids }) => ids.shape[1]);
  const find = (row: number): { rank: RankIds; own: number } => {
    let own = row;
    let rank = 0;
    while (own >= rankTokens[rank]) own -= rankTokens[rank++];
    return { rank: ranks[rank], own };
  };
  const place = (layer: number, row: number): string => {
    const { rank, own } = find(row);
    return `${rank.record.file}: pass ${rank.record.pass}, layer ${layer}, token ${own}`;
  };
  const [, slots] = logicalOf.shape;
  return {
    rankTokens,
    place,
    id(layer, row, k) {
      const { rank, own } = find(row);
      const [, tokens, columns] = rank.ids.shape;
      const slot = rank.ids.values[(layer * tokens + own) * columns + k];
      if (slot === NO_EXPERT) return NO_EXPERT;
      if (!(slot >= 0 && slot < slots)) {
        throw new RangeError(`${place(layer, row)}: physical expert ${slot} of ${slots} slots`);
      }
      return logicalOf.values[layer * slots + slot];
    },
  };
}
