/**
 * Fits a model's parameters to experiments: Levenberg-Marquardt on the logarithm of predicted / measured.
 * The one idea: relative errors count, and a row that no parameter explains must not pull the rest, so the fit
 * is repeated with weights 1 / |error|, which tends to the least sum of absolute errors.
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

export interface FitOptions {
  /** Times that the weighted fit is repeated. */
  readonly rounds?: number;
  readonly iterations?: number;
  /** More experiments than this are thinned evenly before fitting; all when absent. */
  readonly maxRows?: number;
  /** Where the fit starts, in the model's order; the model's own start values when absent. */
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

/** Every n-th element, so that at most `limit` are left. */
function thin<T>(items: readonly T[], limit: number): readonly T[] {
  const stride = Math.ceil(items.length / limit);
  return stride <= 1 ? items : items.filter((_, index) => index % stride === 0);
}

/**
 * Indices of the parameters that so many rows can tell: all of them, or the achieved fractions alone, which
 * differ most between machines, when there are fewer rows than two per parameter.
 */
function freeParameters(model: TimeModel, rowCount: number): number[] {
  const all = model.parameters.map((_, index) => index);
  if (rowCount >= 2 * all.length) return all;
  return all.filter((index) => model.parameters[index]?.name.endsWith('Fraction'));
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
  const start = options.start ?? model.parameters.map((parameter) => parameter.start);
  const rows = thin(experiments, maxRows);
  const free = freeParameters(model, rows.length);
  const parameters = free.map((index) => model.parameters[index] as Parameter);
  if (rows.length < 2) return [...start];
  const x = rows.map((_, index) => index);
  const y = rows.map((row) => Math.log(row.measured));
  const decodeAll = (codes: readonly number[]): number[] => {
    const values = [...start];
    codes.forEach((code, i) => {
      values[free[i] as number] = decode(parameters[i] as Parameter, code);
    });
    return values;
  };
  const predictLog = (codes: number[]) => {
    const values = decodeAll(codes);
    return (index: number): number => Math.log((rows[index] as Experiment).predict(values));
  };
  let codes = parameters.map((parameter, i) => encode(parameter, start[free[i] as number] as number));
  let best = { codes, error: Number.POSITIVE_INFINITY };
  let weights = x.map(() => 1);
  for (let round = 0; round < rounds; round++) {
    codes = levenbergMarquardt({ x, y }, predictLog, {
      initialValues: codes,
      minValues: parameters.map(() => -LARGEST_CODE),
      maxValues: parameters.map(() => LARGEST_CODE),
      weights,
      maxIterations: iterations,
      gradientDifference: GRADIENT_STEP,
      damping: 0.01,
    }).parameterValues;
    const predict = predictLog(codes);
    const errors = x.map((index) => Math.abs(predict(index) - (y[index] as number)));
    const error = errors.reduce((sum, size) => sum + size, 0);
    if (error < best.error) best = { codes, error };
    weights = errors.map((size) => Math.sqrt(Math.max(WEIGHT_FLOOR, size)));
  }
  return decodeAll(best.codes);
}
