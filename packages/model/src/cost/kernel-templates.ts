/**
 * What the design of a kernel fixes before anything is fitted: its formats, its tiles and how it picks one.
 * Tile sizes are those that the libraries choose from. Which rows the choice looks at was seen in measurements:
 * times jump where the presented rows per local expert, not the rows computed here, pass a tile.
 */
import type { ExpertKernel } from './device-profile.js';

/** The numbers of a kernel that are fitted to measurements. */
export type FittedNumber =
  | 'startNs'
  | 'memoryFraction'
  | 'computeFraction'
  | 'rereadFraction'
  | 'overlapExponent'
  | 'permuteFraction'
  | 'tileNs';

export type KernelTemplate = Omit<ExpertKernel, FittedNumber>;

const trtllm = { tileFill: 2, tileLoad: 'presented', innerBlock: 256 } as const;
const marlin = { computeFormat: 'bf16', tileRows: [8, 16, 32, 48, 64], tileFill: 0.9 } as const;
const deepGemm = { tileRows: [64], tileFill: 1, tileLoad: 'own', innerBlock: 1 } as const;

export const kernelTemplates = {
  /** FlashInfer's TensorRT-LLM kernels, MXFP4 weights and MXFP8 rows. */
  'trtllm-w4a8': { ...trtllm, computeFormat: 'fp8', tileRows: [8, 16, 32, 64, 128] },
  'trtllm-w4a16': { ...trtllm, computeFormat: 'bf16', tileRows: [8, 16, 32] },
  /** Marlin in vLLM, 4-bit weights and BF16 rows. */
  'marlin-w4a16': { ...marlin, tileLoad: 'presented', innerBlock: 1 },
  /** The same in a build that picks its tile by the rows of its own experts. */
  'marlin-own-w4a16': { ...marlin, tileLoad: 'own', innerBlock: 1 },
  'sglang-marlin-w4a16': { ...marlin, tileLoad: 'presented', innerBlock: 128 },
  /** DeepGEMM, masked and contiguous layouts. */
  'deepgemm-fp8': { ...deepGemm, computeFormat: 'fp8' },
  'grouped-bf16': { ...deepGemm, computeFormat: 'bf16' },
  /** Dispatch, both products and combine in one kernel that reads rows where they lie: a whole routed layer. */
  'fused-w4a8': { computeFormat: 'fp8', tileRows: [32], tileFill: 1, tileLoad: 'own', innerBlock: 1 },
} as const satisfies Record<string, KernelTemplate>;

export type KernelName = keyof typeof kernelTemplates;
