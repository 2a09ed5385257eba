/**
 * Performance tables of DeepEP's pages, on H800.
 */
import type { MeasurementFile } from '../measurements.js';

export const deepEpReadmeTable: MeasurementFile = {
  name: 'deepep_v1_h800.csv',
  text: `# source: github.com/deepseek-ai/DeepEP docs/legacy.md at dd758ca (2026-07-14), MIT.
# Normal kernels: 4096 tokens a rank, hidden 7168, top-8, FP8 out, BF16 back, bandwidth of the bottleneck link in GB/s.
# Low latency: 128 tokens a rank, times in microseconds.
kernel,scope,dispatch_ep,dispatch_gbps,dispatch_us,combine_ep,combine_gbps,combine_us
normal,intranode,8,153.0,,8,158.0,
normal,internode,32,58.0,,32,57.0,
low_latency,,8,98.0,77.0,8,127.0,114.0
low_latency,,32,48.0,155.0,32,53.0,273.0
low_latency,,128,39.0,192.0,128,39.0,369.0
`,
};
