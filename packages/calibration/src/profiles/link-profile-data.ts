/**
 * Fitted link numbers by system and kernel. Made by calibrating the published tables as a whole.
 */
import { collectiveProfiles } from './collective-profile-data.js';
import type { LinkProfile } from './link-profile.js';

const AIC =
  'aiconfigurator collectors, github.com/ai-dynamo/aiconfigurator @095f58a5, Apache-2.0: DeepEP low latency';
const DEEPEP = 'DeepEP docs/legacy.md, github.com/deepseek-ai/DeepEP at dd758ca (2026-07-14), MIT';
const ONE_SIDED = 'TensorRT-LLM tech blog 18 @22de8b34, Apache-2.0: NVLink one-sided all-to-all';

export const linkProfiles: Readonly<Record<string, LinkProfile>> = {
  'b200/low-latency-combine': {
    parameters: {
      startNs: 15_540,
      perMessageNs: 15.02,
      upFraction: 0.6892,
      outStartNs: 12_000,
      outFraction: 0.9,
      rowNs: 222.6,
    },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.045,
    leaveOutError: 0.05,
  },
  'b200/low-latency-dispatch': {
    parameters: {
      startNs: 13_390,
      perMessageNs: 28.08,
      upFraction: 0.793,
      outStartNs: 12_000,
      outFraction: 0.9,
      rowNs: 2_609,
    },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.031,
    leaveOutError: 0.035,
  },
  'gb200/low-latency-combine': {
    parameters: {
      startNs: 10_660,
      perMessageNs: 17.78,
      upFraction: 0.6701,
      outStartNs: 12_000,
      outFraction: 0.9,
      rowNs: 354.8,
    },
    source: AIC,
    range: { ep: [4, 4], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.043,
    leaveOutError: 0.05,
  },
  'gb200/low-latency-dispatch': {
    parameters: {
      startNs: 9_660,
      perMessageNs: 25.5,
      upFraction: 0.7539,
      outStartNs: 12_000,
      outFraction: 0.9,
      rowNs: 2_520,
    },
    source: AIC,
    range: { ep: [4, 4], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.03,
    leaveOutError: 0.032,
  },
  'gb200/one-sided-combine': {
    parameters: { startNs: 31_800, upFraction: 0.6837, overlapExponent: 1.746 },
    source: ONE_SIDED,
    range: { ep: [8, 32], tokens: [1, 2_048] },
    medianError: 0.017,
    leaveOutError: 0.026,
  },
  'gb200/one-sided-dispatch': {
    parameters: { startNs: 18_420, upFraction: 0.6753, overlapExponent: 1.389 },
    source: ONE_SIDED,
    range: { ep: [8, 32], tokens: [1, 2_048] },
    medianError: 0.044,
    leaveOutError: 0.089,
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
    leaveOutError: 0.098,
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
    leaveOutError: 0.082,
  },
  'h200/low-latency-combine': {
    parameters: {
      startNs: 9_260,
      perMessageNs: 5.511,
      upFraction: 0.5065,
      outStartNs: 14_140,
      outFraction: 0.9168,
      rowNs: 191.3,
    },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.043,
    leaveOutError: 0.048,
  },
  'h200/low-latency-dispatch': {
    parameters: {
      startNs: 7_510,
      perMessageNs: 12.96,
      upFraction: 0.6762,
      outStartNs: 12_960,
      outFraction: 0.9772,
      rowNs: 1_960,
    },
    source: AIC,
    range: { ep: [8, 8], hidden: [2_048, 7_168], tokens: [1, 1_024] },
    medianError: 0.031,
    leaveOutError: 0.037,
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
    leaveOutError: 0.1,
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
    leaveOutError: 0.027,
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
