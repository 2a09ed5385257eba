/**
 * Fitted link numbers by system and kernel. Made by calibrating the published tables as a whole.
 */
import { collectiveProfiles } from './collective-profile-data.js';
import type { LinkProfile } from './link-profile.js';

const AIC =
  'aiconfigurator collectors, github.com/ai-dynamo/aiconfigurator @095f58a5, Apache-2.0: DeepEP low latency';
const DEEPEP = 'DeepEP docs/legacy.md, github.com/deepseek-ai/DeepEP at dd758ca (2026-07-14), MIT';
const HYBRID = 'Hybrid-EP, docs/README_Hybrid-EP.md of DeepEP branch hybrid-ep @94a9f8f (2026-07-10), MIT';
const ONE_SIDED = 'TensorRT-LLM tech blog 18 @22de8b34, Apache-2.0: NVLink one-sided all-to-all';

export const linkProfiles: Readonly<Record<string, LinkProfile>> = {
  'b200/deepep-torch-api-combine': {
    parameters: { unitBytesPerSec: 19_100_000_000, linkFraction: 0.6078, overlapExponent: 3.83 },
    source: HYBRID,
    range: { ranks: [8, 8], sms: [16, 48] },
    medianError: 0.0075,
    leaveOutError: 0.014,
  },
  'b200/deepep-torch-api-dispatch-bf16': {
    parameters: { unitBytesPerSec: 21_850_000_000, linkFraction: 0.6406, overlapExponent: 5.554 },
    source: HYBRID,
    range: { ranks: [8, 8], sms: [16, 48] },
    medianError: 0.01,
    leaveOutError: 0.016,
  },
  'b200/deepep-torch-api-dispatch-fp8': {
    parameters: { unitBytesPerSec: 15_520_000_000, linkFraction: 0.6725, overlapExponent: 2.864 },
    source: HYBRID,
    range: { ranks: [8, 8], sms: [16, 48] },
    medianError: 0.0086,
    leaveOutError: 0.012,
  },
  'b200/low-latency-combine': {
    parameters: { startNs: 15_540, perMessageNs: 15.02, upFraction: 0.6892, rowNs: 222.6 },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.045,
    leaveOutError: 0.05,
  },
  'b200/low-latency-dispatch': {
    parameters: { startNs: 13_390, perMessageNs: 28.08, upFraction: 0.793, rowNs: 2_609 },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.031,
    leaveOutError: 0.036,
  },
  'gb200/low-latency-combine': {
    parameters: { startNs: 10_660, perMessageNs: 17.78, upFraction: 0.6701, rowNs: 354.8 },
    source: AIC,
    range: { ep: [4, 4], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.043,
    leaveOutError: 0.052,
  },
  'gb200/low-latency-dispatch': {
    parameters: { startNs: 9_660, perMessageNs: 25.5, upFraction: 0.7539, rowNs: 2_520 },
    source: AIC,
    range: { ep: [4, 4], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.03,
    leaveOutError: 0.033,
  },
  'gb200/one-sided-combine': {
    parameters: { startNs: 31_800, upFraction: 0.6837, overlapExponent: 1.746 },
    source: ONE_SIDED,
    range: { ep: [8, 32], tokens: [1, 2_048] },
    medianError: 0.017,
    leaveOutError: 0.023,
  },
  'gb200/one-sided-dispatch': {
    parameters: { startNs: 18_420, upFraction: 0.6753, overlapExponent: 1.389 },
    source: ONE_SIDED,
    range: { ep: [8, 32], tokens: [1, 2_048] },
    medianError: 0.044,
    leaveOutError: 0.088,
  },
  'h100/hybridep-kernel-only-combine': {
    parameters: { unitBytesPerSec: 13_360_000_000, linkFraction: 0.8613, overlapExponent: 5.307 },
    source: HYBRID,
    range: { ranks: [16, 64], sms: [4, 16] },
    medianError: 0.026,
    leaveOutError: 0.095,
  },
  'h100/hybridep-kernel-only-dispatch-bf16': {
    parameters: { unitBytesPerSec: 12_330_000_000, linkFraction: 0.8595, overlapExponent: 5.433 },
    source: HYBRID,
    range: { ranks: [16, 64], sms: [4, 16] },
    medianError: 0.042,
    leaveOutError: 0.098,
  },
  'h100/hybridep-kernel-only-dispatch-fp8': {
    parameters: { unitBytesPerSec: 9_312_000_000, linkFraction: 0.8185, overlapExponent: 4.296 },
    source: HYBRID,
    range: { ranks: [16, 64], sms: [4, 16] },
    medianError: 0.067,
    leaveOutError: 0.12,
  },
  'h100/hybridep-torch-api-combine': {
    parameters: { unitBytesPerSec: 10_950_000_000, linkFraction: 0.7892, overlapExponent: 4.685 },
    source: HYBRID,
    range: { ranks: [16, 64], sms: [4, 16] },
    medianError: 0.063,
    leaveOutError: 0.14,
  },
  'h100/hybridep-torch-api-dispatch-bf16': {
    parameters: { unitBytesPerSec: 10_240_000_000, linkFraction: 0.7119, overlapExponent: 5.701 },
    source: HYBRID,
    range: { ranks: [16, 64], sms: [4, 16] },
    medianError: 0.097,
    leaveOutError: 0.19,
  },
  'h100/hybridep-torch-api-dispatch-fp8': {
    parameters: { unitBytesPerSec: 7_589_000_000, linkFraction: 0.6232, overlapExponent: 5.47 },
    source: HYBRID,
    range: { ranks: [16, 64], sms: [4, 16] },
    medianError: 0.064,
    leaveOutError: 0.16,
  },
  'h100/low-latency-combine': {
    parameters: {
      startNs: 10_200,
      perMessageNs: 6.13,
      upFraction: 0.4901,
      outStartNs: 14_140,
      outFraction: 0.9168,
      rowNs: 207.6,
    },
    source: AIC,
    range: { ep: [8, 32], hidden: [2_048, 7_168], tokens: [1, 2_048] },
    medianError: 0.038,
    leaveOutError: 0.049,
  },
  'h100/low-latency-dispatch': {
    parameters: {
      startNs: 8_427,
      perMessageNs: 15.92,
      upFraction: 0.6504,
      outStartNs: 12_940,
      outFraction: 0.9847,
      rowNs: 2_076,
    },
    source: AIC,
    range: { ep: [8, 32], hidden: [2_048, 7_168], tokens: [1, 2_048] },
    medianError: 0.033,
    leaveOutError: 0.07,
  },
  'h200/low-latency-combine': {
    parameters: { startNs: 9_260, perMessageNs: 5.511, upFraction: 0.5065, rowNs: 191.3 },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.043,
    leaveOutError: 0.047,
  },
  'h200/low-latency-dispatch': {
    parameters: { startNs: 7_510, perMessageNs: 12.96, upFraction: 0.6762, rowNs: 1_960 },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.031,
    leaveOutError: 0.036,
  },
  'h800/low-latency-combine': {
    parameters: {
      startNs: 10_200,
      perMessageNs: 6.13,
      upFraction: 0.6295,
      outStartNs: 14_140,
      outFraction: 0.8452,
      rowNs: 207.6,
    },
    source: DEEPEP,
    range: { ep: [8, 128], hidden: [7_168, 7_168], tokens: [128, 128] },
    medianError: 0.047,
    leaveOutError: 0.099,
  },
  'h800/low-latency-dispatch': {
    parameters: {
      startNs: 8_427,
      perMessageNs: 15.92,
      upFraction: 0.5317,
      outStartNs: 12_940,
      outFraction: 0.878,
      rowNs: 2_076,
    },
    source: DEEPEP,
    range: { ep: [8, 128], hidden: [7_168, 7_168], tokens: [128, 128] },
    medianError: 0.013,
    leaveOutError: 0.028,
  },
  'h800/normal-combine': {
    parameters: { startNs: 10_000, upFraction: 0.6948, outFraction: 0.8573 },
    source: DEEPEP,
    range: { ep: [8, 32], hidden: [7_168, 7_168], tokens: [4_096, 4_096] },
    medianError: 0.001,
    leaveOutError: 0.093,
  },
  'h800/normal-dispatch': {
    parameters: { startNs: 10_000, upFraction: 0.6758, outFraction: 0.8746 },
    source: DEEPEP,
    range: { ep: [8, 32], hidden: [7_168, 7_168], tokens: [4_096, 4_096] },
    medianError: 0.001,
    leaveOutError: 0.07,
  },
  ...collectiveProfiles,
};
