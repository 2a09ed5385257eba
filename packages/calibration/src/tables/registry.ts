/**
 * The kinds of tables that are understood, by file name. A new kind is a file and a line here.
 * A file under another name is recognised by its columns; the first kind whose columns it has reads it.
 */
import type { CsvTable } from '../csv.js';
import { collectives } from './collectives.js';
import { deepEpReadme } from './deepep-readme.js';
import { deepGemm } from './deepgemm.js';
import { groupedGemm } from './grouped-gemm.js';
import { hybridEp } from './hybrid-ep.js';
import { k3Experts } from './k3-experts.js';
import { latentAttention } from './latent-attention.js';
import { lowLatency } from './low-latency.js';
import { normalKernels } from './normal.js';
import { oneSided } from './one-sided.js';
import type { TableReader } from './reader.js';
import { routedLayer } from './routed-layer.js';

export const tableReaders = {
  'deepep_low_latency.csv': lowLatency,
  'deepep_v1_h800.csv': deepEpReadme,
  'nvlink_onesided_gb200.csv': oneSided,
  'hybrid_ep.csv': hybridEp,
  'nccl_collectives.csv': collectives,
  'k3_experts_b200_sxm.csv': k3Experts,
  'k3_experts_h200_sxm.csv': k3Experts,
  'k3_experts_gb200.csv': k3Experts,
  'k3_routed_layer_b200_ep8.csv': routedLayer,
  'dsv3_grouped_gemm_h800.csv': groupedGemm,
  'deepgemm_h800.csv': deepGemm,
  'mla_h800.csv': latentAttention,
} as const satisfies Record<string, TableReader>;

/** Kinds without a published table of ours; told by their columns only. */
const furtherReaders: readonly TableReader[] = [normalKernels];

/** The reader of a file, by its name or else by its columns; null when neither is known. */
export function readerFor(fileName: string, table: CsvTable): TableReader | null {
  const has = (reader: TableReader): boolean =>
    reader.columns.every((column) => table.columns.includes(column));
  const base = fileName.split(/[\\/]/).at(-1) as string;
  const named: TableReader | undefined = (tableReaders as Record<string, TableReader>)[base];
  if (named !== undefined && has(named)) return named;
  return [...Object.values<TableReader>(tableReaders), ...furtherReaders].find(has) ?? null;
}
