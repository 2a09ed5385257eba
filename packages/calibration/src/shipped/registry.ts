/**
 * The small tables that ship, each with its source, so that validation works without any other file.
 */
import type { MeasurementFile } from '../measurements.js';
import { lowLatencyTable } from './deepep-low-latency.js';
import { deepEpReadmeTable } from './deepep-v1-h800.js';
import { deepGemmTable } from './deepgemm-h800.js';
import { groupedGemmTable } from './dsv3-grouped-gemm-h800.js';
import { hybridEpTable } from './hybrid-ep.js';
import { b200ExpertsTable } from './k3-experts-b200-sxm.js';
import { gb200ExpertsTable } from './k3-experts-gb200.js';
import { h200ExpertsTable } from './k3-experts-h200-sxm.js';
import { routedLayerTable } from './k3-routed-layer-b200-ep8.js';
import { latentAttentionTable } from './mla-h800.js';
import { collectivesTable } from './nccl-collectives.js';
import { oneSidedTable } from './nvlink-onesided-gb200.js';

export const shippedTables: readonly MeasurementFile[] = [
  lowLatencyTable,
  deepEpReadmeTable,
  oneSidedTable,
  hybridEpTable,
  collectivesTable,
  b200ExpertsTable,
  h200ExpertsTable,
  gb200ExpertsTable,
  routedLayerTable,
  groupedGemmTable,
  deepGemmTable,
  latentAttentionTable,
];
