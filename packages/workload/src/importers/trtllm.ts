/**
 * TensorRT-LLM's expert statistics folder (EXPERT_STATISTIC_PATH): meta_info.json with num_experts and
 * num_experts_per_token, rank*.safetensors with counts [experts] under "<iteration>_<layer>", and, from newer
 * versions, rank*_raw.safetensors with the ids themselves [tokens x top-k] under the same keys.
 */
import { utf8 } from '../formats/bytes.js';
import { readSafetensors } from '../formats/safetensors.js';
import { shapeText, type Tensor } from '../formats/tensor.js';
import type { Trace } from '../trace/trace.js';
import { type ChoiceFrame, choiceTrace, loadTrace } from './build.js';
import {
  agreed,
  baseName,
  checkRanks,
  fileList,
  type Importer,
  type ImportHints,
  type TraceFile,
} from './importer.js';

export const trtllm: Importer = {
  summary: 'TensorRT-LLM expert statistics folder: meta_info.json, rank*.safetensors, rank*_raw.safetensors',
  detect: (file) => /^(meta_info\.json|rank\d+(_raw)?\.safetensors)$/.test(baseName(file.name)),
  read: async (files, hints) => {
    const meta = readMeta(files, hints);
    const raw = rankFiles(files, /^rank(\d+)_raw\.safetensors$/);
    const counts = rankFiles(files, /^rank(\d+)\.safetensors$/);
    if (raw.length === 0 && counts.length === 0)
      throw new RangeError(`${meta.file}: no rank*.safetensors beside it`);
    checkRanks([...raw]);
    checkRanks([...counts]);
    if (raw.length > 0 && counts.length > raw.length) {
      throw new RangeError(
        `rank ${raw.length} is missing: it has counts and no rank${raw.length}_raw.safetensors`,
      );
    }
    return raw.length > 0 ? fromIds(raw, meta, files, hints) : fromCounts(counts, meta, files, hints);
  },
};

interface Meta {
  readonly file: string;
  readonly expertCount: number;
  readonly topK: number;
}

interface RankFile {
  readonly rank: number;
  readonly file: string;
  readonly tensors: Map<string, Tensor>;
}

function readMeta(files: readonly TraceFile[], hints: ImportHints): Meta {
  const file = files.find(({ name }) => baseName(name) === 'meta_info.json');
  if (file === undefined) throw new RangeError(`meta_info.json is missing beside ${fileList(files)}`);
  let meta: { num_experts?: unknown; num_experts_per_token?: unknown };
  try {
    meta = JSON.parse(utf8(file.bytes)) as typeof meta;
  } catch {
    throw new RangeError(`${file.name}: not JSON`);
  }
  const number = (name: 'num_experts' | 'num_experts_per_token', hint: number | undefined): number => {
    const value = meta?.[name];
    if (!Number.isSafeInteger(value)) throw new RangeError(`${file.name}: no ${name}`);
    return agreed(file.name, name, value as number, hint);
  };
  return {
    file: file.name,
    expertCount: number('num_experts', hints.expertCount),
    topK: number('num_experts_per_token', hints.topK),
  };
}

function rankFiles(files: readonly TraceFile[], pattern: RegExp): RankFile[] {
  return files
    .flatMap((file) => {
      const rank = pattern.exec(baseName(file.name))?.[1];
      if (rank === undefined) return [];
      return [{ rank: Number(rank), file: file.name, tensors: readSafetensors(file.bytes, file.name) }];
    })
    .sort((a, b) => a.rank - b.rank);
}

interface Grid {
  readonly iterations: readonly number[];
  readonly layers: readonly number[];
  tensor(rank: RankFile, iteration: number, layer: number): Tensor;
}

function gridOf(ranks: readonly RankFile[]): Grid {
  const iterations = new Set<number>();
  const layers = new Set<number>();
  for (const { tensors, file } of ranks) {
    for (const key of tensors.keys()) {
      const parts = /^(\d+)_(\d+)$/.exec(key);
      if (parts === null) throw new RangeError(`${file}: key ${key} is not <iteration>_<layer>`);
      iterations.add(Number(parts[1]));
      layers.add(Number(parts[2]));
    }
  }
  return {
    iterations: [...iterations].sort((a, b) => a - b),
    layers: [...layers].sort((a, b) => a - b),
    tensor: ({ tensors, file }, iteration, layer) => {
      const tensor = tensors.get(`${iteration}_${layer}`);
      if (tensor === undefined)
        throw new RangeError(`${file}: no ${iteration}_${layer}; another rank or layer has it`);
      return tensor;
    },
  };
}

function fromCounts(
  ranks: readonly RankFile[],
  { expertCount, topK }: Meta,
  files: readonly TraceFile[],
  hints: ImportHints,
): Trace {
  const { iterations, layers, tensor } = gridOf(ranks);
  const values = new Float64Array(iterations.length * layers.length * expertCount);
  iterations.forEach((iteration, i) => {
    layers.forEach((layer, l) => {
      for (const rank of ranks) {
        const counts = tensor(rank, iteration, layer);
        if (counts.shape.length !== 1 || counts.shape[0] !== expertCount) {
          throw new RangeError(
            `${rank.file}: ${iteration}_${layer} is ${shapeText(counts.shape)}; meta_info.json says ${expertCount} experts`,
          );
        }
        const start = (i * layers.length + l) * expertCount;
        for (let e = 0; e < expertCount; e++) values[start + e] += counts.values[e];
      }
    });
  });
  const source = `trtllm: ${fileList(files)}`;
  return loadTrace(
    { source, notes: [], expertCount, topK, layers: layers.length, layerIds: layers },
    values,
    hints,
  );
}

function fromIds(
  ranks: readonly RankFile[],
  { expertCount, topK }: Meta,
  files: readonly TraceFile[],
  hints: ImportHints,
): Trace {
  const { iterations, layers, tensor } = gridOf(ranks);
  const frames = iterations.map((iteration): ChoiceFrame => {
    const byLayer = layers.map((layer) => ranks.map((rank) => tensor(rank, iteration, layer)));
    const rankTokens = byLayer[0].map((ids) => ids.shape[0]);
    const owner: { rank: number; row: number }[] = rankTokens.flatMap((tokens, rank) =>
      Array.from({ length: tokens }, (_, row) => ({ rank, row })),
    );
    byLayer.forEach((perRank, l) => {
      perRank.forEach((ids, rank) => {
        if (ids.shape.length === 2 && ids.shape[1] === topK && ids.shape[0] === rankTokens[rank]) return;
        throw new RangeError(
          `${ranks[rank].file}: ${iteration}_${layers[l]} is ${shapeText(ids.shape)}; ` +
            `[${rankTokens[rank]} x ${topK}] by its first layer and meta_info.json`,
        );
      });
    });
    return {
      rankTokens,
      id: (layer, row, k) => byLayer[layer][owner[row].rank].values[owner[row].row * topK + k],
      place: (layer, row) =>
        `${ranks[owner[row].rank].file}: ${iteration}_${layers[layer]}, token ${owner[row].row}`,
    };
  });
  const head = { source: `trtllm: ${fileList(files)}`, notes: [], expertCount, topK, layers: layers.length };
  return choiceTrace({ ...head, layerIds: layers, rankCount: ranks.length }, frames, hints);
}
