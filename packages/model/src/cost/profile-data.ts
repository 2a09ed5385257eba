/**
 * Fitted parameters, one object per device and kernel, with where the measurements are from.
 * Calibration refits published tables and prints these numbers; a test there compares them.
 */
import type { DenseKernel, DeviceProfile, ExpertKernel, ProfileRange } from './device-profile.js';
import { type FittedNumber, type KernelName, kernelTemplates } from './kernel-templates.js';

const AIC = 'aiconfigurator collectors, github.com/ai-dynamo/aiconfigurator @095f58a5, Apache-2.0';
const INFERSIM = 'InferSim bench_data, github.com/alibaba/InferSim @f2293da, Apache-2.0';

/** FP8 products of DeepGEMM on H800 (README tables, MIT): median error 0.078, 0.09 with row counts left out. */
const dense: DenseKernel = {
  startNs: 2_350,
  memoryFraction: 0.9801,
  computeFraction: 0.663,
  overlapExponent: 1.4,
};

/**
 * Latent attention on H800 (InferSim): median error 0.047, 0.062 with batches left out.
 * The tables time attention as one kernel with its reduction.
 */
const attention: DenseKernel = {
  startNs: 20_940,
  memoryFraction: 0.6792,
  computeFraction: 0.6928,
  overlapExponent: 7.889,
};

/** 16,384 tokens over all ranks at the most; 1 to 32 ranks, and inner sizes cut as many ways. */
const K3_RANGE: ProfileRange = {
  ...{ rowsPerExpert: [0.02, 300], expertsPerRank: [28, 896] },
  ...{ expertWidth: [3584, 3584], expertInnerSize: [96, 3072] },
};
const ONE_RANK_RANGE: ProfileRange = { ...K3_RANGE, expertsPerRank: [896, 896] };
const FUSED_RANGE: ProfileRange = {
  ...{ rowsPerExpert: [0.14, 2400], expertsPerRank: [112, 112] },
  ...{ expertWidth: [3584, 3584], expertInnerSize: [3072, 3072] },
};
const DEEPGEMM_RANGE: ProfileRange = {
  ...{ rowsPerExpert: [1, 16_384], expertsPerRank: [2, 256] },
  ...{ expertWidth: [7168, 7168], expertInnerSize: [2048, 2048] },
};

interface Fitted {
  readonly device: string;
  readonly kernel: KernelName;
  readonly source: string;
  readonly numbers: Readonly<Record<FittedNumber, number>>;
  readonly range: ProfileRange;
  readonly medianError: number;
  readonly leaveOutError: number;
}

function fitted(fit: Fitted): DeviceProfile {
  const { device, kernel, source, numbers, range, medianError, leaveOutError } = fit;
  const experts: ExpertKernel = { ...kernelTemplates[kernel], ...numbers };
  const name = `${device}-${kernel}`;
  return {
    name,
    device,
    kernel,
    provenance: 'fitted',
    source,
    experts,
    dense,
    attention,
    range,
    medianError,
    leaveOutError,
  };
}

/** Two products make a layer: twice the start of one. Permuting rows was not measured; memory speed is assumed. */
const deepGemm = fitted({
  device: 'h800',
  kernel: 'deepgemm-fp8',
  source: `${INFERSIM}: grouped FP8 products of DeepSeek-V3 experts on H800, DeepGEMM`,
  numbers: {
    startNs: 20_010,
    memoryFraction: 0.9801,
    computeFraction: 0.9742,
    rereadFraction: 0.1412,
    overlapExponent: 1.201,
    permuteFraction: 1,
    tileNs: 0,
  },
  range: DEEPGEMM_RANGE,
  medianError: 0.04,
  leaveOutError: 0.043,
});

export const deviceProfiles = {
  'b200-trtllm-w4a8': fitted({
    device: 'b200',
    kernel: 'trtllm-w4a8',
    source: `${AIC}: K3 experts on B200, FlashInfer TensorRT-LLM kernels, MXFP4 x MXFP8`,
    numbers: {
      startNs: 28_110,
      memoryFraction: 0.9801,
      computeFraction: 0.8017,
      rereadFraction: 0.2023,
      overlapExponent: 1.014,
      permuteFraction: 1.175,
      tileNs: 126,
    },
    range: K3_RANGE,
    medianError: 0.07,
    leaveOutError: 0.071,
  }),
  'b200-trtllm-w4a16': fitted({
    device: 'b200',
    kernel: 'trtllm-w4a16',
    source: `${AIC}: K3 experts on B200, FlashInfer TensorRT-LLM kernels, MXFP4 x BF16`,
    numbers: {
      startNs: 27_270,
      memoryFraction: 0.7336,
      computeFraction: 0.3501,
      rereadFraction: 0.7814,
      overlapExponent: 4.189,
      permuteFraction: 1.023,
      tileNs: 98.94,
    },
    range: K3_RANGE,
    medianError: 0.034,
    leaveOutError: 0.034,
  }),
  'b200-marlin-own-w4a16': fitted({
    device: 'b200',
    kernel: 'marlin-own-w4a16',
    source: `${AIC}: K3 experts on B200, vLLM Marlin kernels with the plain activation, MXFP4 x BF16`,
    numbers: {
      startNs: 71_190,
      memoryFraction: 0.5036,
      computeFraction: 0.1607,
      rereadFraction: 1.038,
      overlapExponent: 1.362,
      permuteFraction: 0.105,
      tileNs: 13.39,
    },
    range: K3_RANGE,
    medianError: 0.027,
    leaveOutError: 0.036,
  }),
  'b200-fused-w4a8': fitted({
    device: 'b200',
    kernel: 'fused-w4a8',
    source: `${AIC}: K3 routed layer on B200, fused dispatch, products and combine, MXFP4 x MXFP8, EP8`,
    numbers: {
      startNs: 54_580,
      memoryFraction: 0.8753,
      computeFraction: 0.4582,
      rereadFraction: 0,
      overlapExponent: 1.512,
      permuteFraction: 1,
      tileNs: 0,
    },
    range: FUSED_RANGE,
    medianError: 0.059,
    leaveOutError: 0.089,
  }),
  'gb200-trtllm-w4a8': fitted({
    device: 'gb200',
    kernel: 'trtllm-w4a8',
    source: `${AIC}: K3 experts on GB200, FlashInfer TensorRT-LLM kernels, MXFP4 x MXFP8`,
    numbers: {
      startNs: 27_180,
      memoryFraction: 0.9801,
      computeFraction: 0.7258,
      rereadFraction: 0.1605,
      overlapExponent: 1.014,
      permuteFraction: 1.176,
      tileNs: 120.9,
    },
    range: K3_RANGE,
    medianError: 0.074,
    leaveOutError: 0.078,
  }),
  'gb200-trtllm-w4a16': fitted({
    device: 'gb200',
    kernel: 'trtllm-w4a16',
    source: `${AIC}: K3 experts on GB200, FlashInfer TensorRT-LLM kernels, MXFP4 x BF16`,
    numbers: {
      startNs: 26_470,
      memoryFraction: 0.7399,
      computeFraction: 0.3348,
      rereadFraction: 0.7572,
      overlapExponent: 4.609,
      permuteFraction: 1.025,
      tileNs: 89.8,
    },
    range: K3_RANGE,
    medianError: 0.034,
    leaveOutError: 0.034,
  }),
  'gb200-marlin-w4a16': fitted({
    device: 'gb200',
    kernel: 'marlin-w4a16',
    source: `${AIC}: K3 experts on GB200, vLLM Marlin kernels, MXFP4 x BF16`,
    numbers: {
      startNs: 72_520,
      memoryFraction: 0.482,
      computeFraction: 0.1454,
      rereadFraction: 1.001,
      overlapExponent: 1.679,
      permuteFraction: 0.1311,
      tileNs: 40.33,
    },
    range: K3_RANGE,
    medianError: 0.023,
    leaveOutError: 0.024,
  }),
  'h200-marlin-w4a16': fitted({
    device: 'h200',
    kernel: 'marlin-w4a16',
    source: `${AIC}: K3 experts on H200, vLLM Marlin kernels, MXFP4 x BF16`,
    numbers: {
      startNs: 68_400,
      memoryFraction: 0.6647,
      computeFraction: 0.3274,
      rereadFraction: 1.039,
      overlapExponent: 1.594,
      permuteFraction: 0.199,
      tileNs: 60.41,
    },
    range: K3_RANGE,
    medianError: 0.022,
    leaveOutError: 0.02,
  }),
  'h200-sglang-marlin-w4a16': fitted({
    device: 'h200',
    kernel: 'sglang-marlin-w4a16',
    source: `${AIC}: K3 experts on H200, SGLang Marlin kernels, MXFP4 x BF16`,
    numbers: {
      startNs: 67_510,
      memoryFraction: 0.5976,
      computeFraction: 0.3288,
      rereadFraction: 0.9908,
      overlapExponent: 1.695,
      permuteFraction: 0.1665,
      tileNs: 73.27,
    },
    range: ONE_RANK_RANGE,
    medianError: 0.015,
    leaveOutError: 0.018,
  }),
  'h800-deepgemm-fp8': deepGemm,
  'h800-grouped-bf16': {
    ...deepGemm,
    name: 'h800-grouped-bf16',
    kernel: 'grouped-bf16',
    provenance: 'derived',
    source: `fractions of ${deepGemm.name}, taken for BF16 weights`,
    experts: { ...deepGemm.experts, ...kernelTemplates['grouped-bf16'] },
    leaveOutError: 0.15,
  },
} as const satisfies Record<string, DeviceProfile>;
