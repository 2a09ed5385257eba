/**
 * Fits a model's parameters to experiments: Levenberg-Marquardt on the logarithm of predicted / measured.
 * The one idea: relative errors count, and a row that no parameter explains must not pull the rest, so the fit
 * is repeated with weights 1 / |error|, which tends to the least sum of absolute errors. Each parameter also
 * counts as one observation of its start value: what the rows do not tell stays where it was.
 */
import { levenbergMarquardt } from 'ml-levenberg-marquardt';
import type { Experiment, Parameter, TimeModel } from './experiment.js';

/** Errors below this do not gain further weight. */
const WEIGHT_FLOOR = 0.02;
const GRADIENT_STEP = 1e-4;
/** Starts nearer to a bound than this are moved inside. */
const EDGE = 0.01;
/** Codes beyond this no longer move a parameter. */
const LARGEST_CODE = 5;
/** Expected error of a row. */
const ROW_ERROR = 0.05;
/** Expected departure of a parameter from its start: as kernels on two systems differ, and from the model's guess. */
const SYSTEM_SPREAD = 0.3;
const GUESS_SPREAD = 1;

export interface FitOptions {
  /** Times that the weighted fit is repeated. */
  readonly rounds?: number;
  readonly iterations?: number;
  /** More experiments than this are thinned evenly before fitting; all when absent. */
  readonly maxRows?: number;
  /** Values on a related system, in the model's order: the fit starts there. At the model's own guess when absent. */
  readonly start?: readonly number[];
}

/** Position of a value between its bounds, by logarithm where both are positive; 0 and 1 are kept out of reach. */
function position(parameter: Parameter, value: number): number {
  const { min, max } = parameter;
  const part = min > 0 ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
  return Math.min(1 - EDGE, Math.max(EDGE, part));
}

/** Bounds are kept by fitting the logit of the position, so that no step has to be cut off. */
function encode(parameter: Parameter, value: number): number {
  const part = position(parameter, value);
  return Math.log(part / (1 - part));
}

function decode(parameter: Parameter, code: number): number {
  const { min, max } = parameter;
  const part = 1 / (1 + Math.exp(-code));
  return min > 0 ? min * (max / min) ** part : min + (max - min) * part;
}

/** How far a value is from the start, as a fraction of it; of a hundredth of the range where the start is about 0. */
function departure(parameter: Parameter, value: number, start: number): number {
  return (value - start) / Math.max(start, (parameter.max - parameter.min) / 100);
}

/** Every n-th element, so that at most `limit` are left. */
function thin<T>(items: readonly T[], limit: number): readonly T[] {
  const stride = Math.ceil(items.length / limit);
  return stride <= 1 ? items : items.filter((_, index) => index % stride === 0);
}

/** A fit as least squares: errors of the rows, then departures of the parameters over what is expected of them. */
interface Problem {
  readonly codes: number[];
  decode(codes: readonly number[]): number[];
  residuals(codes: readonly number[]): number[];
}

function problemOf(model: TimeModel, rows: readonly Experiment[], related?: readonly number[]): Problem {
  const { parameters } = model;
  const start = related ?? parameters.map((parameter) => parameter.start);
  const spread = related === undefined ? GUESS_SPREAD : SYSTEM_SPREAD;
  const logs = rows.map((row) => Math.log(row.measured));
  const decodeAll = (codes: readonly number[]): number[] =>
    parameters.map((parameter, i) => decode(parameter, codes[i] as number));
  return {
    codes: parameters.map((parameter, i) => encode(parameter, start[i] as number)),
    decode: decodeAll,
    residuals(codes) {
      const values = decodeAll(codes);
      return [
        ...rows.map((row, i) => Math.log(row.predict(values)) - (logs[i] as number)),
        ...parameters.map(
          (parameter, i) => departure(parameter, values[i] as number, start[i] as number) / spread,
        ),
      ];
    },
  };
}

/**
 * What each residual is divided by: a row's so that the sum of squares becomes the sum of sizes of the last errors.
 */
function scalesOf(residuals: readonly number[], rowCount: number): number[] {
  return residuals.map((residual, index) =>
    index < rowCount ? Math.sqrt(ROW_ERROR * Math.max(WEIGHT_FLOOR, Math.abs(residual))) : 1,
  );
}

/** What a round is judged by: sizes of the rows' errors, squares of the departures. */
function costOf(residuals: readonly number[], rowCount: number): number {
  return residuals.reduce(
    (sum, residual, index) => sum + (index < rowCount ? Math.abs(residual) / ROW_ERROR : residual ** 2),
    0,
  );
}

/** One least-squares fit from `codes`. Residuals are scaled here: the optimiser's own weights contradict themselves. */
function leastSquares(
  problem: Problem,
  codes: readonly number[],
  scales: readonly number[],
  maxIterations: number,
): number[] {
  const scaled = (trial: readonly number[]) => {
    const residuals = problem.residuals(trial);
    return (index: number): number => (residuals[index] as number) / (scales[index] as number);
  };
  const data = { x: scales.map((_, index) => index), y: scales.map(() => 0) };
  return levenbergMarquardt(data, scaled, {
    initialValues: [...codes],
    minValues: codes.map(() => -LARGEST_CODE),
    maxValues: codes.map(() => LARGEST_CODE),
    maxIterations,
    gradientDifference: GRADIENT_STEP,
    damping: 1,
  }).parameterValues;
}

/**
 * Parameter values that explain the experiments best, in the model's order. All experiments share `model`.
 * With fewer rows than two the start values come back: nothing was learnt.
 */
export function fitParameters(
  model: TimeModel,
  experiments: readonly Experiment[],
  options: FitOptions = {},
): number[] {
  const { rounds = 4, iterations = 40, maxRows = Number.POSITIVE_INFINITY } = options;
  const rows = thin(experiments, maxRows);
  if (rows.length < 2) return [...(options.start ?? model.parameters.map((parameter) => parameter.start))];
  const problem = problemOf(model, rows, options.start);
  let { codes } = problem;
  let best = { codes, cost: Number.POSITIVE_INFINITY };
  let scales = scalesOf([...rows.map(() => ROW_ERROR), ...codes.map(() => 0)], rows.length);
  for (let round = 0; round < rounds; round++) {
    codes = leastSquares(problem, codes, scales, iterations);
    const residuals = problem.residuals(codes);
    const cost = costOf(residuals, rows.length);
    if (cost < best.cost) best = { codes, cost };
    scales = scalesOf(residuals, rows.length);
  }
  return problem.decode(best.codes);
}

/** Indices of the parameters that move the prediction of at least one experiment; all experiments share a model. */
export function toldParameters(experiments: readonly Experiment[], values: readonly number[]): number[] {
  const moves = (index: number): boolean => {
    const { min, max } = (experiments[0] as Experiment).model.parameters[index] as Parameter;
    const value = values[index] as number;
    const other = value > (min + max) / 2 ? (value + min) / 2 : (value + max) / 2;
    const changed = values.with(index, other);
    return experiments.some((one) => one.predict(changed) !== one.predict(values));
  };
  return values.map((_, index) => index).filter(moves);
}
