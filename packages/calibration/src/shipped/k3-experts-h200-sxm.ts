/**
 * Expert kernels at the shape of Kimi K3: a selection of published rows.
 */
import type { MeasurementFile } from '../measurements.js';

export const h200ExpertsTable: MeasurementFile = {
  name: 'k3_experts_h200_sxm.csv',
  text: `# source: github.com/ai-dynamo/aiconfigurator @095f58a5 (2026-08-21), Apache-2.0 (NVIDIA), measured by the project's collectors; a selection of rows, numbers rounded to 6 digits.
# 896 experts, top-16, 3584 x 3072; compute of the busiest rank; num_tokens over all ranks, times in microseconds.
kernel,dtype,moe_tp,moe_ep,distribution,num_tokens,latency_us
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,balanced,4,500.747
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,balanced,64,6088.35
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,balanced,512,6842.05
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,balanced,2048,11501.9
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,balanced,16384,72745.9
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,4,498.252
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,64,3852.68
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,512,7356.14
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,2048,15869.6
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,16384,75965.8
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,8,1,balanced,4,124.977
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,8,1,balanced,64,874.019
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,8,1,balanced,512,1066.63
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,8,1,balanced,2048,2007.25
sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,8,1,balanced,16384,12930.2
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,balanced,4,469.84
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,balanced,64,5735.1
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,balanced,512,6552.91
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,balanced,2048,11597.3
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,balanced,16384,74669.7
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,4,467.699
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,64,3584.51
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,512,7249.88
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,2048,15702.1
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,1,power_law_1.01,16384,78338.7
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,4,balanced,64,1482.45
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,4,balanced,2048,3980.2
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,4,power_law_1.01,64,1034.12
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,4,power_law_1.01,2048,5077.16
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,balanced,4,116.373
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,balanced,64,853.461
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,balanced,512,1862.44
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,balanced,2048,2342.09
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,balanced,16384,12588.0
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,power_law_1.01,4,117.139
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,power_law_1.01,64,594.547
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,power_law_1.01,512,1565.14
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,power_law_1.01,2048,2878.12
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,8,power_law_1.01,16384,14523.4
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,balanced,4,83.6373
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,balanced,64,416.965
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,balanced,512,608.229
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,balanced,2048,995.152
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,balanced,16384,6152.53
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,power_law_1.01,4,80.8704
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,power_law_1.01,64,344.979
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,power_law_1.01,512,586.752
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,power_law_1.01,2048,1283.44
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,1,32,power_law_1.01,16384,7293.19
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,8,1,balanced,4,118.827
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,8,1,balanced,64,843.84
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,8,1,balanced,512,991.211
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,8,1,balanced,2048,1975.34
vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu,w4a16_mxfp4,8,1,balanced,16384,12350.5
`,
};
