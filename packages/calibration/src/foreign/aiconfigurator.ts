/**
 * Files of aiconfigurator's collectors: experts (moe_perf), DeepEP (wideep_deepep_ll_perf and
 * wideep_deepep_normal_perf) and NCCL.
 * Latencies are milliseconds there, except DeepEP's; NCCL's message size is elements of two bytes.
 */
import { type CsvRow, parseCsv } from '../csv.js';
import { type ForeignReader, tableOf } from './foreign-reader.js';

type Cells = Readonly<Record<string, string>>;

/** Milliseconds of a cell as microseconds; empty where there is no number. */
function toUs(cell: string | undefined): string {
  const value = Number(cell);
  return cell === undefined || cell === '' || !Number.isFinite(value) ? '' : String(1000 * value);
}

function expertsRow({ cells }: CsvRow): Cells {
  return {
    ...cells,
    system: cells.device ?? '',
    kernel: cells.kernel_source ?? '',
    dtype: cells.moe_dtype ?? '',
    moe_tp: cells.moe_tp_size ?? '',
    moe_ep: cells.moe_ep_size ?? '',
    latency_us: toUs(cells.latency),
  };
}

function lowLatencyRow({ cells }: CsvRow): Cells {
  return {
    system: cells.device ?? '',
    ep: cells.ep_size ?? '',
    node_num: cells.node_num ?? '',
    hidden: cells.hidden_size ?? '',
    tokens_per_rank: cells.num_token ?? '',
    topk: cells.num_topk ?? '',
    experts: cells.num_experts ?? '',
    dispatch_us: cells.dispatch_avg_t_us ?? '',
    combine_us: cells.combine_avg_t_us ?? '',
  };
}

function normalRow({ cells }: CsvRow): Cells {
  return {
    system: cells.device ?? '',
    node_num: cells.node_num ?? '',
    hidden: cells.hidden_size ?? '',
    tokens_per_rank: cells.num_token ?? '',
    topk: cells.num_topk ?? '',
    experts: cells.num_experts ?? '',
    dispatch_transmit_us: cells.dispatch_transmit_us ?? '',
    combine_transmit_us: cells.combine_transmit_us ?? '',
  };
}

function collectiveRow({ cells }: CsvRow): Cells {
  return {
    system: cells.device ?? '',
    op: cells.op_name ?? '',
    num_gpus: cells.num_gpus ?? '',
    bytes: String(2 * Number(cells.message_size)),
    latency_us: toUs(cells.latency),
  };
}

/** Which columns tell a file's kind, and how its rows read. */
const kinds: readonly { readonly tell: string; readonly row: (row: CsvRow) => Cells }[] = [
  { tell: 'moe_ep_size', row: expertsRow },
  { tell: 'dispatch_avg_t_us', row: lowLatencyRow },
  { tell: 'dispatch_transmit_us', row: normalRow },
  { tell: 'message_size', row: collectiveRow },
];

function headerOf(text: string): readonly string[] {
  const line = text.split(/\r?\n/).find((one) => one.trim() !== '' && !one.startsWith('#')) ?? '';
  return line.split(',').map((cell) => cell.trim());
}

export const aiconfigurator: ForeignReader = {
  summary: 'files of the collectors of aiconfigurator',
  matches(text) {
    const header = headerOf(text);
    return header.includes('device') && kinds.some((kind) => header.includes(kind.tell));
  },
  toTable(text) {
    const table = parseCsv(text);
    const kind = kinds.find((one) => table.columns.includes(one.tell));
    if (kind === undefined) return table;
    const rows = table.rows.map(kind.row);
    return { ...tableOf(Object.keys(rows[0] ?? {}), rows), notes: table.notes, broken: table.broken };
  },
};
