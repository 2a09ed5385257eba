/**
 * Predicted against published serving throughput, row by row, with what was assumed where the source is silent.
 * One idea: the same pools that plan a layout predict the published one; nothing is tuned to a row.
 */
import { catalog } from '@epsim/engine';
import { parseScenario, type Scenario } from '@epsim/spec';
import { KERNEL_SHARE } from '../engine-share.js';
import { createPlanErrors } from '../errors/plan-errors.js';
import type { Layout } from '../layout.js';
import { type LoadSample, sampleLoads } from '../load-sample.js';
import { requestOf, searchOf } from '../plan-search.js';
import { createStepModel } from '../step-time.js';
import { type ServingRow, servingRows } from './serving-rows.js';

export interface ValidatedRow {
  readonly source: ServingRow['source'];
  readonly name: string;
  readonly phase: ServingRow['phase'];
  readonly ranks: number;
  /** Tokens per second and rank. */
  readonly published: number;
  readonly predicted: number;
  /** predicted / published - 1. */
  readonly error: number;
  /** The same with the row's source left out of the fit of the phase's share. */
  readonly leaveOutError: number;
  /** What the errors of its step's parts come to, and so the bar that half and nine tenths of the rows should lie within. */
  readonly partsError: number;
  readonly assumed: readonly string[];
}

export interface EndToEnd {
  readonly rows: readonly ValidatedRow[];
  /** Of |error|, as fractions. */
  readonly medianError: number;
  readonly p90Error: number;
  /** Median of error, with its sign. */
  readonly bias: number;
  readonly medianErrorByPhase: Readonly<Record<ServingRow['phase'], number>>;
  /** Median |error| when the share of modelled kernels is fitted without the source of the row. */
  readonly leaveSourceOutMedianError: number;
  /** The shares that the rows of all sources fit best. */
  readonly fittedShares: Readonly<Record<ServingRow['phase'], number>>;
}

/** Predicts every published row; takes a few seconds. */
export function validateEndToEnd(rows: readonly ServingRow[] = servingRows): EndToEnd {
  const samples = new Map<string, LoadSample>();
  const timed = rows.map((row) => {
    const { predicted, partsError } = predict(row, samples);
    const { source, name, phase, ranks, tokensPerSecPerRank: published, assumed } = row;
    return {
      source,
      name,
      phase,
      ranks,
      published,
      predicted,
      error: predicted / published - 1,
      partsError,
      assumed,
    };
  });
  const validated = timed.map(
    (row): ValidatedRow => ({ ...row, leaveOutError: errorWithoutSource(row, timed) }),
  );
  const absolute = (of: (row: ValidatedRow) => number, some = validated) =>
    some.map((row) => Math.abs(of(row)));
  const error = (row: ValidatedRow) => row.error;
  const phase = (wanted: ServingRow['phase']) =>
    quantile(
      absolute(
        error,
        validated.filter((row) => row.phase === wanted),
      ),
      0.5,
    );
  return {
    rows: validated,
    medianError: quantile(absolute(error), 0.5),
    p90Error: quantile(absolute(error), 0.9),
    bias: quantile(validated.map(error), 0.5),
    medianErrorByPhase: { prefill: phase('prefill'), decode: phase('decode') },
    leaveSourceOutMedianError: quantile(
      absolute((row) => row.leaveOutError),
      0.5,
    ),
    fittedShares: { prefill: fittedShare(validated, 'prefill'), decode: fittedShare(validated, 'decode') },
  };
}

type TimedRow = Omit<ValidatedRow, 'leaveOutError'>;

/** The share with which the medians of the sources have no bias: their median, so that no source outvotes others by rows. */
function fittedShare(rows: readonly TimedRow[], phase: ServingRow['phase']): number {
  const ofPhase = rows.filter((row) => row.phase === phase);
  const sources = [...new Set(ofPhase.map(({ source }) => source))];
  const medians = sources.map((source) =>
    quantile(
      ofPhase.filter((row) => row.source === source).map((row) => row.published / row.predicted),
      0.5,
    ),
  );
  return KERNEL_SHARE[phase] * quantile(medians, 0.5);
}

function errorWithoutSource(row: TimedRow, rows: readonly TimedRow[]): number {
  const { phase, predicted, published } = row;
  const others = rows.filter(({ source }) => source !== row.source);
  return ((predicted / KERNEL_SHARE[phase]) * fittedShare(others, phase)) / published - 1;
}

function scenarioOf(row: ServingRow): Scenario {
  const { name, model, cluster, ranks, balanced, dispatch, tokens, batch, cacheHitRate, drafts, accepted } =
    row;
  const skew = { skew: { kind: 'uniform' } };
  const document = {
    name,
    model,
    cluster: { preset: cluster, ranks },
    workload: balanced ? skew : { preset: 'deepseek-r1-32' },
    placement: { policy: row.redundantExperts > 0 ? 'eplb' : 'contiguous' },
    dispatch: { kind: dispatch },
    plan: {
      requests: {
        inputTokens: row.phase === 'prefill' ? tokens : tokens - 50,
        outputTokens: 100,
        cacheHitRate,
      },
      engine: { chunkTokens: batch, mtpLayers: drafts, acceptedTokens: accepted },
    },
  };
  return parseScenario(JSON.stringify(document), { file: name, catalog });
}

/** Tokens per second and rank of the row's layout, and what the errors of its parts come to. */
function predict(
  row: ServingRow,
  samples: Map<string, LoadSample>,
): { readonly predicted: number; readonly partsError: number } {
  const scenario = scenarioOf(row);
  const key = JSON.stringify([scenario.model.moe, scenario.workload]);
  const sample = samples.get(key) ?? sampleLoads(scenario);
  samples.set(key, sample);
  const { attentionTensor, expertTensor, ranks, overlap } = row;
  const layout: Layout = {
    attentionTensor,
    attentionData: ranks / attentionTensor,
    expertRanks: ranks / expertTensor,
    expertTensor,
    pipeline: 1,
    redundantExperts: row.redundantExperts,
  };
  const step = createStepModel(scenario, sample, requestOf(scenario).engine.mtpLayers);
  const { pools } = searchOf(scenario, step);
  const errors = createPlanErrors(scenario);
  if (row.phase === 'decode') {
    const pool = pools.decode(layout, row.batch, overlap, 'refined');
    return { predicted: pool.tokensPerSec / ranks, partsError: errors.decode(pool).partsError };
  }
  const pool = pools.prefill(layout, row.batch, overlap, 'refined');
  const predicted = (pool.requestsPerSec * row.tokens) / ranks;
  return { predicted, partsError: errors.prefill(pool).partsError };
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}
