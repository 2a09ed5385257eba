/**
 * What nccl-tests print: a header with a line per rank, then a line per size; times are out of place.
 */
import { type ForeignReader, tableOf } from './foreign-reader.js';

const RANK_LINE = /^#\s+Rank\s+\d+.*?\[[^\]]*\]\s*(.*)$/gm;
/** size count type redop root time algbw busbw ... */
const SIZE_LINE = /^\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+([\d.]+)\s+[\d.]+\s+[\d.]+/gm;
const OPERATION = /(alltoall|all_reduce|all_gather|reduce_scatter)/;

/** The operation that a header or a file name tells: "alltoall_perf". */
function operationIn(text: string, name: string): string {
  const started = /^# Collective test starting: (\w+)$/m.exec(text)?.[1] ?? name;
  return OPERATION.exec(started)?.[1] ?? started;
}

export const ncclOutput: ForeignReader = {
  summary: 'output of nccl-tests',
  matches: (text) => /^#\s+size\s+count\s+type/m.test(text) || /^# nThread/m.test(text),
  toTable(text, name) {
    const ranks = [...text.matchAll(RANK_LINE)];
    const system = ranks[0]?.[1] ?? name;
    const op = operationIn(text, name);
    const rows = [...text.matchAll(SIZE_LINE)]
      .filter((line) => Number(line[1]) > 0)
      .map((line) => ({
        system,
        op,
        num_gpus: String(ranks.length),
        bytes: line[1] as string,
        latency_us: line[2] as string,
      }));
    return tableOf(['system', 'op', 'num_gpus', 'bytes', 'latency_us'], rows);
  },
};
