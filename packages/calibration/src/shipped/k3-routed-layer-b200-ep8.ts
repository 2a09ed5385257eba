/**
 * A whole routed layer of Kimi K3 on 8 x B200.
 */
import type { MeasurementFile } from '../measurements.js';

export const routedLayerTable: MeasurementFile = {
  name: 'k3_routed_layer_b200_ep8.csv',
  text: `# source: github.com/ai-dynamo/aiconfigurator @095f58a5 (2026-08-21), Apache-2.0 (NVIDIA), measured by the project's collectors; a selection of rows, numbers rounded to 6 digits.
# Dispatch, products and combine fused, EP8; tokens per rank, times in microseconds.
phase,tokens_per_rank,balanced_us,power_law_1.01_us,power_law_1.2_us,power_law_sampled_1.9_us
context,1024,746.501,978.677,990.134,1082.97
context,4096,2645.35,3215.96,3494.96,3730.36
context,16384,9528.08,12564.2,14407.2,14257.6
generation,1,107.125,115.067,120.774,101.978
generation,4,229.39,200.802,191.83,153.031
generation,16,390.262,335.686,327.934,316.01
generation,64,394.691,387.891,404.424,434.889
generation,256,488.018,489.917,481.347,541.604
`,
};
