/**
 * FP8 products of DeepGEMM on H800.
 */
import type { MeasurementFile } from '../measurements.js';

export const deepGemmTable: MeasurementFile = {
  name: 'deepgemm_h800.csv',
  text: `# source: github.com/deepseek-ai/DeepGEMM README at 55ab91f (2025-03-25), MIT.
# m rows per group; achieved TFLOPS.
layout,groups,m,n,k,tflops
dense,1,64,2112,7168,206.0
dense,1,64,24576,1536,289.0
dense,1,64,32768,512,219.0
dense,1,64,7168,16384,336.0
dense,1,64,4096,7168,287.0
dense,1,64,7168,2048,295.0
dense,1,128,2112,7168,352.0
dense,1,128,24576,1536,535.0
dense,1,128,32768,512,358.0
dense,1,128,7168,16384,645.0
dense,1,128,4096,7168,533.0
dense,1,128,7168,2048,510.0
dense,1,4096,2112,7168,1009.0
dense,1,4096,24576,1536,1125.0
dense,1,4096,32768,512,751.0
dense,1,4096,7168,16384,1426.0
dense,1,4096,4096,7168,1265.0
dense,1,4096,7168,2048,1168.0
contiguous,4,8192,4096,7168,1346.0
contiguous,4,8192,7168,2048,1214.0
contiguous,8,4096,4096,7168,1346.0
contiguous,8,4096,7168,2048,1214.0
masked,1,1024,4096,7168,1233.0
masked,1,1024,7168,2048,925.0
masked,2,512,4096,7168,1040.0
masked,2,512,7168,2048,916.0
masked,4,256,4096,7168,932.0
masked,4,256,7168,2048,815.0
`,
};
