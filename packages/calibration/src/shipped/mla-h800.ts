/**
 * Latent attention proper on H800.
 */
import type { MeasurementFile } from '../measurements.js';

export const latentAttentionTable: MeasurementFile = {
  name: 'mla_h800.csv',
  text: `# source: github.com/alibaba/InferSim @f2293da bench_data, Apache-2.0 (Alimama AI Infra / Alibaba).
# 128 heads, latent 512 + 64, prefill heads of 128; times in microseconds.
phase,batch,kv_len,us
decode,1,1024,20.91
decode,1,4096,21.653
decode,1,8192,26.256
decode,1,16384,33.986
decode,1,32768,45.53
decode,1,65536,62.724
decode,1,131072,94.21
decode,16,1024,24.906
decode,16,4096,53.437
decode,16,8192,83.951
decode,16,16384,146.112
decode,16,32768,268.708
decode,16,65536,544.051
decode,16,131072,1085.607
decode,32,1024,39.138
decode,32,4096,85.584
decode,32,8192,148.468
decode,32,16384,270.547
decode,32,32768,550.651
decode,32,65536,1095.208
decode,32,131072,2228.089
decode,64,1024,51.974
decode,64,4096,155.153
decode,64,8192,288.668
decode,64,16384,619.0
decode,64,32768,1119.284
decode,64,65536,2263.203
decode,64,131072,4655.842
decode,128,1024,96.252
decode,128,4096,292.023
decode,128,8192,550.393
decode,128,16384,1057.193
decode,128,32768,2095.256
decode,128,65536,4443.373
decode,256,1024,188.841
decode,256,4096,585.772
decode,256,8192,1094.216
decode,256,16384,2141.453
decode,512,1024,357.358
decode,512,4096,1136.363
decode,512,8192,2074.245
prefill,1,1024,116.88
prefill,1,4096,1104.692
prefill,1,8192,4538.828
prefill,1,16384,17774.458
prefill,1,32768,76337.72
`,
};
