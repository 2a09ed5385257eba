/**
 * The requests of a simulated period: Poisson arrivals, lengths with the asked mean and spread.
 */
import { randomSource } from '@epsim/spec';

export interface RequestStream {
  readonly count: number;
  readonly ratePerSec: number;
  /** Ascending, ns. */
  readonly arrivalNs: Float64Array;
  /** Prompt tokens that are computed, at least 1. */
  readonly promptTokens: Int32Array;
  readonly outputTokens: Int32Array;
}

export interface StreamOptions {
  readonly seed: number;
  readonly count: number;
  readonly ratePerSec: number;
  /** Means; what a cache holds of prompts is not computed. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheHitRate: number;
  /** Standard deviation over mean of both lengths: log-normal. */
  readonly spread: number;
}

/** A stream of `count` requests; the same seed gives the same requests at every rate, only closer together. */
export function requestStream(options: StreamOptions): RequestStream {
  const { seed, count, ratePerSec, inputTokens, outputTokens, cacheHitRate, spread } = options;
  if (!(ratePerSec > 0) || !(count >= 1)) {
    throw new RangeError(
      `requestStream: ${count} requests at ${ratePerSec} per second; both must be above 0`,
    );
  }
  const gaps = randomSource(seed, 'arrivals');
  const lengths = randomSource(seed, 'lengths');
  const variance = Math.log(1 + spread ** 2);
  const length = (mean: number): number => {
    const factor = Math.exp(Math.sqrt(variance) * lengths.normal() - variance / 2);
    return Math.max(1, Math.round(mean * factor));
  };
  const arrivalNs = new Float64Array(count);
  const promptTokens = new Int32Array(count);
  const outputs = new Int32Array(count);
  let now = 0;
  for (let i = 0; i < count; i++) {
    now += (-1e9 * Math.log(1 - gaps.uniform())) / ratePerSec;
    arrivalNs[i] = now;
    promptTokens[i] = length(inputTokens * (1 - cacheHitRate));
    outputs[i] = length(outputTokens);
  }
  return { count, ratePerSec, arrivalNs, promptTokens, outputTokens: outputs };
}

/** Prompt tokens that are computed on average, at least 1: those that no cache holds. */
export function meanPromptTokens({
  inputTokens,
  cacheHitRate,
}: Pick<StreamOptions, 'inputTokens' | 'cacheHitRate'>): number {
  return Math.max(1, Math.round(inputTokens * (1 - cacheHitRate)));
}

/** Requests that stand for all in `longestRequest` and `promptTokensAt`, and standard errors by which another sample may differ. */
const LENGTHS = 4000;
const STANDARD_ERRORS = 3;

/** Tokens of the longest of thousands of requests: prompt and answer, what a cache holds of the prompt included. */
export function longestRequest(
  options: Omit<StreamOptions, 'count' | 'ratePerSec' | 'cacheHitRate'>,
): number {
  const { promptTokens, outputTokens } = requestStream({
    ...options,
    ...{ cacheHitRate: 0, count: LENGTHS, ratePerSec: 1 },
  });
  return promptTokens.reduce((most, tokens, i) => Math.max(most, tokens + outputTokens[i]), 0);
}

/**
 * A number of computed prompt tokens that the `level` quantile of a stream of thousands of requests does not fall
 * below: the quantile of the lengths themselves less three standard errors of its level.
 */
export function promptTokensAt(options: Omit<StreamOptions, 'count' | 'ratePerSec'>, level: number): number {
  const { promptTokens } = requestStream({ ...options, count: LENGTHS, ratePerSec: 1 });
  const error = STANDARD_ERRORS * Math.sqrt((2 * level * (1 - level)) / LENGTHS);
  const sorted = promptTokens.slice().sort();
  return sorted[Math.floor(Math.max(0, level - error) * (LENGTHS - 1))];
}

/** Requests beyond a quantile that are needed to tell it, and the share of a stream that is measured. */
const BEYOND = 40;
const MEASURED = 0.75;

/** Requests of a stream long enough to tell a quantile: 5,334 for the 99th percentile. */
export function requestsFor(quantile: number): number {
  return Math.ceil(BEYOND / (1 - quantile) / MEASURED - 1e-9);
}
