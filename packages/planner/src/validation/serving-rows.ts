/**
 * Serving throughputs that operators published, with what each row says and what it leaves open.
 * One idea: a row is a scenario; `assumed` names in words every setting that its source is silent on.
 * Figures as published: DeepSeek, "Day 6: Overview of DeepSeek-V3/R1 Inference System" (open-infra-index, 2025);
 * LMSYS, "Deploying DeepSeek with PD Disaggregation and Large-Scale Expert Parallelism on 96 H100 GPUs"
 * (2025-05-05, lm-sys.github.io @2db4e404); vLLM, "GLM-5.2 NVFP4 on B300" (2026-07-23).
 */

export interface ServingRow {
  readonly source: 'DeepSeek' | 'LMSYS' | 'vLLM';
  readonly name: string;
  readonly model: string | Readonly<Record<string, unknown>>;
  readonly cluster: string;
  readonly ranks: number;
  readonly phase: 'prefill' | 'decode';
  readonly attentionTensor: number;
  readonly expertTensor: number;
  /** Prompt tokens, or tokens of context while decoding. */
  readonly tokens: number;
  /** Prompt tokens that one attention group computes together, or its resident sequences. */
  readonly batch: number;
  /** Share of prompt tokens that were found in a cache and counted in the throughput. */
  readonly cacheHitRate: number;
  readonly balanced: boolean;
  readonly redundantExperts: number;
  readonly overlap: 'shared-experts' | 'two-micro-batches';
  readonly dispatch: 'per-expert' | 'per-rank' | 'per-node';
  /** Draft tokens of a step, and tokens that it yields. */
  readonly drafts: number;
  readonly accepted: number;
  /** As published, for one rank: input tokens of prefill, output tokens of decode. */
  readonly tokensPerSecPerRank: number;
  readonly assumed: readonly string[];
}

const RANKS_PER_NODE = 8;
const eplb = '32 redundant experts placed by EPLB on earlier tokens';
const loads = 'loads as uneven as those published for DeepSeek-R1';

const deepseek = {
  model: 'deepseek-v3',
  attentionTensor: 1,
  expertTensor: 1,
  cacheHitRate: 0,
  balanced: false,
  redundantExperts: 32,
  overlap: 'two-micro-batches',
  drafts: 0,
  accepted: 1,
} as const satisfies Partial<ServingRow>;

const prefill = { ...deepseek, phase: 'prefill', dispatch: 'per-node', batch: 16_384 } as const;
const decode = { ...deepseek, phase: 'decode', dispatch: 'per-expert' } as const;
const lmsys = { source: 'LMSYS', cluster: 'h100-8', assumed: [loads, eplb] } as const;
const perNode = (tokensPerSec: number) => ({ tokensPerSecPerRank: tokensPerSec / RANKS_PER_NODE });

const lmsysPrefill = [
  { tokens: 1024, node: 57_674 },
  { tokens: 2048, node: 54_543 },
  { tokens: 4096, node: 50_302 },
].map(
  ({ tokens, node }): ServingRow => ({
    ...prefill,
    ...lmsys,
    ...perNode(node),
    ...{ name: `EP32 prefill of ${tokens}`, ranks: 32, tokens },
  }),
);

const lmsysDecode: readonly ServingRow[] = [
  {
    ...{ ...decode, ...lmsys, ...perNode(22_282) },
    ...{ name: 'EP72 decode after 2000', ranks: 72, tokens: 2050, batch: 256 },
    assumed: [loads, eplb, 'two micro-batches overlap'],
  },
  {
    ...{ ...decode, ...lmsys, ...perNode(22_310 / 1.255) },
    ...{ name: 'EP72 decode after 2000, no micro-batches', ranks: 72, tokens: 2050, batch: 256 },
    overlap: 'shared-experts',
    assumed: [loads, eplb, 'throughput with micro-batches less the 25.5 % they were said to bring'],
  },
  ...[
    { name: 'with micro-batches', node: 17_552, overlap: 'two-micro-batches' as const },
    { name: 'no micro-batches', node: 12_929, overlap: 'shared-experts' as const },
  ].map(
    ({ name, node, overlap }): ServingRow => ({
      ...{ ...decode, ...lmsys, ...perNode(node), overlap },
      ...{ name: `EP72 decode after 4000, ${name}`, ranks: 72, tokens: 4050, batch: 128 },
      ...{ drafts: 1, accepted: 1.8 },
      assumed: [loads, eplb, 'simulated prediction layer: one draft, accepted four times of five'],
    }),
  ),
];

const balancedRows: readonly ServingRow[] = [
  {
    ...{ ...prefill, ...lmsys, ...perNode(59_337), balanced: true, redundantExperts: 0 },
    ...{ name: 'EP32 prefill of 4096, balanced', ranks: 32, tokens: 4096, assumed: [] },
  },
  {
    ...{ ...prefill, ...perNode(62_713), balanced: true, redundantExperts: 0, source: 'DeepSeek' },
    ...{ name: 'EP32 prefill profile', cluster: 'h800-nodes', ranks: 32, tokens: 4096, assumed: [] },
  },
  {
    ...{ ...decode, ...perNode(18_598), balanced: true, redundantExperts: 0, source: 'DeepSeek' },
    ...{ name: 'EP128 decode profile', cluster: 'h800-nodes', ranks: 128, tokens: 4096, batch: 128 },
    assumed: ['balanced, as its prefill profile'],
  },
];

const production: readonly ServingRow[] = [
  {
    ...{ ...prefill, ...perNode(73_700), source: 'DeepSeek', cacheHitRate: 0.563 },
    ...{ name: 'EP32 prefill in production', cluster: 'h800-nodes', ranks: 32, tokens: 4096 },
    assumed: [loads, eplb, 'prompts of 4096', 'the mean of a day counted as a full load'],
  },
  {
    ...{ ...decode, ...perNode(14_800), source: 'DeepSeek' },
    ...{ name: 'EP144 decode in production', cluster: 'h800-nodes', ranks: 144, tokens: 4989, batch: 128 },
    assumed: [loads, eplb, '128 sequences a rank', 'the mean of a day counted as a full load', 'no drafts'],
  },
];

const glm = {
  ...{ source: 'vLLM', cluster: 'b300-8', phase: 'prefill', dispatch: 'per-rank', batch: 16_384 },
  model: { preset: 'glm-5', precision: { routedExperts: 'nvfp4' } },
  ...{
    cacheHitRate: 0,
    balanced: false,
    redundantExperts: 0,
    overlap: 'shared-experts',
    drafts: 0,
    accepted: 1,
  },
  assumed: [loads, 'chunks of 16384 tokens', 'GLM-5 stands for GLM-5.2', 'all but the experts in BF16'],
} as const satisfies Partial<ServingRow>;

const glmRows = [
  { way: 'DP2 EP', ranks: 2, attentionTensor: 1, expertTensor: 1, at: [12_963, 12_493] },
  { way: 'TP2 EP', ranks: 2, attentionTensor: 2, expertTensor: 1, at: [9161, 8848] },
  { way: 'TP2', ranks: 2, attentionTensor: 2, expertTensor: 2, at: [10_268, 8868] },
  { way: 'DP4 EP', ranks: 4, attentionTensor: 1, expertTensor: 1, at: [11_952, 10_830] },
].flatMap(({ way, at, ...degrees }) =>
  [8192, 32_768].map(
    (tokens, i): ServingRow => ({
      ...glm,
      ...degrees,
      ...{ name: `${way} prefill of ${tokens}`, tokens, tokensPerSecPerRank: at[i] },
    }),
  ),
);

/** Rows that are no repetition of another: the headlines of the LMSYS post and DeepSeek's figures as it cites them are. */
export const servingRows: readonly ServingRow[] = [
  ...lmsysPrefill,
  ...lmsysDecode,
  ...balancedRows,
  ...production,
  ...glmRows,
];
