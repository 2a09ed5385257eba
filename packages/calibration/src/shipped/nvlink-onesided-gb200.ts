/**
 * One-sided NVLink all-to-all on GB200 NVL72.
 */
import type { MeasurementFile } from '../measurements.js';

export const oneSidedTable: MeasurementFile = {
  name: 'nvlink_onesided_gb200.csv',
  text: `# source: TensorRT-LLM tech blog 18 @22de8b34, Apache-2.0 (NVIDIA).
# hidden 7168, top-8 of 256 experts, BF16; times in microseconds.
ep,batch_per_rank,dispatch_us,combine_us
8,1,18.9,31.0
8,2,18.4,31.1
8,4,18.1,31.4
8,8,17.6,31.4
8,16,18.5,32.6
8,32,18.2,32.7
8,64,22.3,34.1
8,128,31.7,38.1
8,256,50.8,53.0
8,512,89.5,91.7
8,1024,166.3,175.6
8,2048,311.8,322.6
32,1,19.8,31.4
32,2,19.7,31.3
32,4,19.6,31.4
32,8,19.4,32.2
32,16,18.9,33.4
32,32,21.1,34.6
32,64,26.2,36.4
32,128,37.8,41.1
32,256,61.5,59.7
32,512,109.6,102.5
32,1024,197.5,197.5
32,2048,373.7,369.5
`,
};
