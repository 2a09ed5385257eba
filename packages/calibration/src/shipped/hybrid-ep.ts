/**
 * Exchange kernels by number of multiprocessors: Hybrid-EP, and DeepEP beside it.
 */
import type { MeasurementFile } from '../measurements.js';

export const hybridEpTable: MeasurementFile = {
  name: 'hybrid_ep.csv',
  text: `# source: DeepEP branch hybrid-ep @94a9f8f, docs/README_Hybrid-EP.md (2026-07-10), MIT (NVIDIA).
# Algorithm bandwidth in GB/s; 4096 tokens, hidden 7168, top-8, uniform choices; torch_api includes the host.
platform,implementation,measurement,ranks,sms,dispatch_fp8_gbps,dispatch_bf16_gbps,combine_gbps
H100 (IB bandwidth),HybridEP,torch_api,16,4,28.09,37.08,42.47
H100 (IB bandwidth),HybridEP,kernel_only,16,4,34.0,44.4,52.0
H100 (IB bandwidth),HybridEP,torch_api,16,8,44.87,57.74,56.96
H100 (IB bandwidth),HybridEP,kernel_only,16,8,62.0,76.8,68.0
H100 (IB bandwidth),HybridEP,torch_api,16,16,48.26,54.47,53.35
H100 (IB bandwidth),HybridEP,kernel_only,16,16,68.48,71.71,62.95
H100 (IB bandwidth),HybridEP,torch_api,32,4,32.58,44.88,43.6
H100 (IB bandwidth),HybridEP,kernel_only,32,4,38.5,52.6,51.0
H100 (IB bandwidth),HybridEP,torch_api,32,8,41.23,46.54,50.68
H100 (IB bandwidth),HybridEP,kernel_only,32,8,51.3,54.5,56.4
H100 (IB bandwidth),HybridEP,torch_api,32,16,42.1,47.36,52.53
H100 (IB bandwidth),HybridEP,kernel_only,32,16,55.35,57.69,57.46
H100 (IB bandwidth),HybridEP,torch_api,64,4,30.42,40.63,41.0
H100 (IB bandwidth),HybridEP,kernel_only,64,4,37.5,48.0,46.0
H100 (IB bandwidth),HybridEP,torch_api,64,8,35.71,41.46,47.68
H100 (IB bandwidth),HybridEP,kernel_only,64,8,46.63,50.55,51.03
H100 (IB bandwidth),HybridEP,torch_api,64,16,35.01,41.24,46.57
H100 (IB bandwidth),HybridEP,kernel_only,64,16,46.52,49.97,49.77
B200,DeepEP,torch_api,8,16,246.0,348.0,302.0
B200,DeepEP,torch_api,8,24,349.0,494.0,420.0
B200,DeepEP,torch_api,8,28,397.0,560.0,477.0
B200,DeepEP,torch_api,8,32,443.0,619.0,524.0
B200,DeepEP,torch_api,8,36,482.0,635.0,549.0
B200,DeepEP,torch_api,8,40,519.0,629.0,570.0
B200,DeepEP,torch_api,8,44,544.0,640.0,577.0
B200,DeepEP,torch_api,8,48,554.0,646.0,586.0
B200,HybridEP,torch_api,8,16,409.71,535.94,530.86
B200,HybridEP,kernel_only,8,16,599.27,734.95,673.84
`,
};
