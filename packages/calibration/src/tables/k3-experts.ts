/**
 * Tables of expert kernels timed on one rank, busiest first: rows name kernel, formats, degrees and the law
 * that loads were drawn from. The shape is a column each, or Kimi K3's where the columns are absent.
 */
import { type ExpertKernel, type ExpertLoad, type ExpertSizes, expertSizes } from '@epsim/model';
import { type MoeShape, modelPresets, type Precision, precisions } from '@epsim/spec';
import { type CsvRow, numberIn, numberOr, numbersIn } from '../csv.js';
import { loadsOf, shapeProblem } from '../loads.js';
import { expertModel, histogramOf, kernelMaker, meanExpertNs } from '../models/expert-models.js';
import { type KernelFamily, kernelFamilies } from '../profiles/kernel-families.js';
import { type Measured, noFigures, readRows, systemOf, type TableReader } from './reader.js';

/** Draws of a random load that a prediction averages over. */
const DRAWS = 2;

/** The stored format of the weights in a name such as w4a8_mxfp4_mxfp8. */
function weightPrecision(dtype: string): Precision | null {
  if (dtype.includes('mxfp4')) return precisions.mxfp4;
  if (dtype.includes('nvfp4')) return precisions.nvfp4;
  if (dtype.includes('fp8')) return precisions.fp8;
  return dtype.includes('float16') ? precisions.bf16 : null;
}

/** The shape of a row's layer, cut by its tensor-parallel degree; null where a column holds no size. */
function shapeOf(row: CsvRow, tensorWays: number): MoeShape | null {
  const k3 = modelPresets['kimi-k3'].moe;
  const expertCount = numberOr(row, 'num_experts', k3.expertCount);
  const topK = numberOr(row, 'topk', k3.topK);
  const expertWidth = numberOr(row, 'hidden_size', k3.expertWidth);
  const innerSize = numberOr(row, 'inter_size', k3.expertInnerSize);
  if (expertCount === null || topK === null || expertWidth === null || innerSize === null) return null;
  return { ...k3, expertCount, topK, expertWidth, expertInnerSize: innerSize / tensorWays };
}

/** Loads by what they depend on: rows of one table share most of them. */
type LoadCache = Map<string, ExpertLoad[] | null>;

function cachedLoads(
  cache: LoadCache,
  moe: MoeShape,
  tokens: number,
  ranks: number,
  law: string,
): ExpertLoad[] | null {
  const key = [moe.expertCount, moe.topK, tokens, ranks, law].join(' ');
  const known = cache.get(key);
  if (known !== undefined) return known;
  const shape = { tokens, expertCount: moe.expertCount, topK: moe.topK, ranks };
  const drawn = loadsOf(shape, law, DRAWS);
  const loads =
    drawn === null ? null : drawn.map((load) => ({ ...histogramOf(load), presentedRows: tokens * moe.topK }));
  cache.set(key, loads);
  return loads;
}

interface RowInputs {
  readonly spans: Readonly<Record<string, number>>;
  readonly family: KernelFamily;
  readonly sizes: ExpertSizes;
  readonly loads: readonly ExpertLoad[];
  readonly kernelOf: (values: readonly number[]) => ExpertKernel;
}

const makers = new Map(
  kernelFamilies.map((family) => [family.name, kernelMaker(family.template, expertModel)]),
);

/** Everything a prediction needs, or the reason why there is none. */
function inputsOf(row: CsvRow, cache: LoadCache): RowInputs | string {
  const dtype = row.cells.dtype ?? '';
  const kernel = row.cells.kernel ?? '';
  const family = kernelFamilies.find((one) => one.matches(kernel, dtype));
  if (family === undefined) return `no kernel model for ${kernel} ${dtype}`;
  const precision = weightPrecision(dtype);
  if (precision === null) return `unknown weight format: ${dtype}`;
  const degrees = numbersIn(row, ['moe_tp', 'moe_ep', 'num_tokens']);
  const moe = degrees && shapeOf(row, degrees.moe_tp);
  if (degrees === null || moe === null) return 'a number is missing';
  const { expertCount, topK } = moe;
  const problem = shapeProblem({ tokens: degrees.num_tokens, expertCount, topK, ranks: degrees.moe_ep });
  if (problem !== null) return problem;
  const law = row.cells.distribution ?? '';
  const loads = cachedLoads(cache, moe, degrees.num_tokens, degrees.moe_ep, law);
  if (loads === null) return `unknown law of loads: ${law}`;
  const sizes = expertSizes(moe, precision, family.template.innerBlock);
  const spans = {
    expertsPerRank: moe.expertCount / degrees.moe_ep,
    rowsPerExpert: (degrees.num_tokens * moe.topK) / moe.expertCount,
    expertWidth: moe.expertWidth,
    expertInnerSize: moe.expertInnerSize,
  };
  return { family, spans, sizes, loads, kernelOf: makers.get(family.name) as RowInputs['kernelOf'] };
}

function experimentOf(row: CsvRow, fileName: string, cache: LoadCache): Measured {
  const figures = systemOf(row, fileName, '');
  if (figures === null) return noFigures(row.cells.system ?? fileName);
  const measuredUs = numberIn(row, 'latency_us');
  if (measuredUs === null) return 'no measured time';
  const inputs = inputsOf(row, cache);
  if (typeof inputs === 'string') return inputs;
  const { family, spans, sizes, loads, kernelOf } = inputs;
  const { moe_ep, moe_tp, num_tokens, distribution } = row.cells;
  return {
    profile: `${figures.system}/${family.name}`,
    model: expertModel,
    groups: [`ep ${moe_ep}`, `tp ${moe_tp}`, `tokens ${num_tokens}`],
    spans,
    label: `${family.name} tp ${moe_tp} ep ${moe_ep} ${distribution} tokens ${num_tokens}`,
    measured: 1000 * measuredUs,
    predict: (values) => meanExpertNs(loads, sizes, figures.device, kernelOf(values)),
  };
}

export const k3Experts: TableReader = {
  summary: 'expert kernels of one rank at the shape of Kimi K3, or at the shape that columns state',
  columns: ['kernel', 'dtype', 'moe_tp', 'moe_ep', 'distribution', 'num_tokens', 'latency_us'],
  read(table, fileName) {
    const cache: LoadCache = new Map();
    return readRows(table, 1, (row) => [experimentOf(row, fileName, cache)]);
  },
};
