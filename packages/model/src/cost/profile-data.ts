/**
 * Fitted parameters, one object per device and kernel, with where the measurements are from.
 * Refitting prints these objects; a test refits the shipped tables and compares.
 */
import type { DenseKernel, DeviceProfile, ExpertKernel } from './device-profile.js';

const AIC = 'aiconfigurator collectors, github.com/ai-dynamo/aiconfigurator @095f58a5, Apache-2.0';

const dense: DenseKernel = {
  startNs: 2700,
  memoryFraction: 0.95,
  computeFraction: 0.677,
  overlapExponent: 1.84,
};
const attention: DenseKernel = {
  startNs: 10_500,
  memoryFraction: 0.86,
  computeFraction: 0.61,
  overlapExponent: 4,
};

const trtllmW4a8 = {
  computeFormat: 'fp8',
  tileRows: [8, 16, 32, 64, 128],
  tileFill: 2,
  tileLoad: 'presented',
} as const satisfies Partial<ExpertKernel>;

const marlin = {
  computeFormat: 'bf16',
  tileRows: [8, 16, 32, 48, 64],
  tileFill: 0.9,
  tileLoad: 'presented',
} as const satisfies Partial<ExpertKernel>;

const k3Range = { rowsPerExpert: [0.02, 300], expertsPerRank: [28, 896] } as const;

export const deviceProfiles = {
  'b200-trtllm-w4a8': {
    name: 'b200-trtllm-w4a8',
    device: 'b200',
    kernel: 'trtllm-w4a8',
    provenance: 'fitted',
    source: `${AIC}: K3 experts on B200, FlashInfer TensorRT-LLM kernels, MXFP4 x MXFP8`,
    experts: {
      ...trtllmW4a8,
      startNs: 29_500,
      memoryFraction: 0.957,
      computeFraction: 0.907,
      rereadFraction: 0.29,
      overlapExponent: 1,
      permuteFraction: 1.416,
      tileNs: 0,
      innerBlock: 1,
    },
    dense,
    attention,
    range: k3Range,
    medianError: 0.042,
    leaveOutError: 0.06,
  },
  'gb200-trtllm-w4a8': {
    name: 'gb200-trtllm-w4a8',
    device: 'gb200',
    kernel: 'trtllm-w4a8',
    provenance: 'fitted',
    source: `${AIC}: K3 experts on GB200, FlashInfer TensorRT-LLM kernels, MXFP4 x MXFP8`,
    experts: {
      ...trtllmW4a8,
      startNs: 28_500,
      memoryFraction: 0.961,
      computeFraction: 0.84,
      rereadFraction: 0.243,
      overlapExponent: 1,
      permuteFraction: 1.386,
      tileNs: 0,
      innerBlock: 1,
    },
    dense,
    attention,
    range: k3Range,
    medianError: 0.05,
    leaveOutError: 0.07,
  },
  'h200-marlin-w4a16': {
    name: 'h200-marlin-w4a16',
    device: 'h200',
    kernel: 'marlin-w4a16',
    provenance: 'fitted',
    source: `${AIC}: K3 experts on H200, vLLM Marlin kernels, MXFP4 x BF16`,
    experts: {
      ...marlin,
      startNs: 69_200,
      memoryFraction: 0.623,
      computeFraction: 0.312,
      rereadFraction: 1.04,
      overlapExponent: 1.81,
      permuteFraction: 0.195,
      tileNs: 0,
      innerBlock: 1,
    },
    dense,
    attention,
    range: k3Range,
    medianError: 0.015,
    leaveOutError: 0.03,
  },
  'h800-deepgemm-fp8': {
    name: 'h800-deepgemm-fp8',
    device: 'h800',
    kernel: 'deepgemm-fp8',
    provenance: 'derived',
    source: 'DeepGEMM tables, github.com/deepseek-ai/DeepGEMM, MIT: fractions read off, not yet fitted',
    experts: {
      computeFormat: 'fp8',
      tileRows: [64, 128],
      tileFill: 1,
      tileLoad: 'own',
      startNs: 10_000,
      memoryFraction: 0.7,
      computeFraction: 0.65,
      rereadFraction: 0,
      overlapExponent: 2,
      permuteFraction: 1,
      tileNs: 0,
      innerBlock: 1,
    },
    dense,
    attention,
    range: { rowsPerExpert: [1, 16384], expertsPerRank: [2, 256] },
    medianError: null,
    leaveOutError: null,
  },
  'h800-grouped-bf16': {
    name: 'h800-grouped-bf16',
    device: 'h800',
    kernel: 'grouped-bf16',
    provenance: 'derived',
    source: 'fractions of DeepGEMM FP8 on H800, taken for BF16 weights',
    experts: {
      computeFormat: 'bf16',
      tileRows: [64, 128],
      tileFill: 1,
      tileLoad: 'own',
      startNs: 10_000,
      memoryFraction: 0.7,
      computeFraction: 0.65,
      rereadFraction: 0,
      overlapExponent: 2,
      permuteFraction: 1,
      tileNs: 0,
      innerBlock: 1,
    },
    dense,
    attention,
    range: { rowsPerExpert: [1, 16384], expertsPerRank: [2, 256] },
    medianError: null,
    leaveOutError: null,
  },
} as const satisfies Record<string, DeviceProfile>;
