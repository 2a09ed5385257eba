/**
 * Fits profiles to a table of measurements: one profile for each system and kernel in it.
 * The one idea: the number that a profile promises is its error on rows of a degree that the fit did not see.
 */
import type { KernelFit } from '@epsim/spec';
import type { CsvTable } from './csv.js';
import { type Experiment, rangeOf, recordOf, type TableReading, type TimeModel } from './experiment.js';
import { type FitOptions, fitParameters, toldParameters } from './fit.js';
import { measurementsIn } from './measurements.js';
import { relativeValues } from './profiles/shipped.js';
import { median, summarise } from './statistics.js';

/** A fit with what people want to know of it. */
export interface FittedProfile extends KernelFit {
  readonly summary: string;
  /** Measured values that were fitted. */
  readonly rows: number;
  readonly p90Error: number | null;
  /** What the left out groups are: "ep", "hidden", "tokens". */
  readonly groupedBy: string | null;
}

/** Experiments by profile, in order of first appearance. */
export function byProfile(experiments: readonly Experiment[]): Map<string, Experiment[]> {
  const groups = new Map<string, Experiment[]>();
  for (const experiment of experiments) {
    const group = groups.get(experiment.profile);
    if (group === undefined) groups.set(experiment.profile, [experiment]);
    else group.push(experiment);
  }
  return groups;
}

/** Kinds of groups in which these experiments differ, the coarsest first. */
export function groupKinds(experiments: readonly Experiment[]): number[] {
  const kinds = Math.min(...experiments.map((experiment) => experiment.groups.length));
  return Array.from({ length: kinds }, (_, kind) => kind).filter(
    (kind) => new Set(experiments.map((experiment) => experiment.groups[kind])).size > 1,
  );
}

/** The coarsest of them; -1 when there is none. */
export function groupingOf(experiments: readonly Experiment[]): number {
  return groupKinds(experiments)[0] ?? -1;
}

/** Signed relative errors with given values. */
export function errorsOf(experiments: readonly Experiment[], values: readonly number[]): number[] {
  return experiments.map((experiment) => experiment.predict(values) / experiment.measured - 1);
}

/** What is known of the nearest other systems, for a fit to start from; nothing where no other has the kernel. */
function relatedStart(profile: string, model: TimeModel): FitOptions {
  const related = relativeValues(profile, model);
  return related === null ? {} : { start: related.values };
}

/** Refits for one kind of groups at the most: several whole groups are left out together where there are more. */
const FOLDS = 5;

export interface LeftOut {
  /** What the groups are: "ep", "hidden", "tokens". */
  readonly by: string;
  /** Signed relative errors of every experiment, each predicted by a fit that did not see its group. */
  readonly errors: readonly number[];
}

/**
 * Errors of every experiment when its group of one kind is left out of the fit; null when all are one group.
 * All experiments share a profile.
 */
export function leaveGroupOut(
  experiments: readonly Experiment[],
  kind: number,
  options: FitOptions,
): LeftOut | null {
  const groups = [...new Set(experiments.map((experiment) => experiment.groups[kind]))];
  if (groups.length < 2) return null;
  const { model, profile } = experiments[0] as Experiment;
  const related = relatedStart(profile, model);
  const folds = Math.min(FOLDS, groups.length);
  const errors: number[] = [];
  for (let fold = 0; fold < folds; fold++) {
    const out = new Set(groups.filter((_, index) => index % folds === fold));
    const rest = experiments.filter((experiment) => !out.has(experiment.groups[kind]));
    const left = experiments.filter((experiment) => out.has(experiment.groups[kind]));
    errors.push(...errorsOf(left, fitParameters(model, rest, { ...options, ...related })));
  }
  const [by = ''] = (groups[0] ?? '').split(' ');
  return { by, errors };
}

/** Errors with the coarsest kind of groups left out in which the experiments differ; null when they never do. */
function leaveDegreeOut(experiments: readonly Experiment[], options: FitOptions): LeftOut | null {
  const kind = groupingOf(experiments);
  return kind < 0 ? null : leaveGroupOut(experiments, kind, options);
}

/** Rows that a fit looks at; thousands more would not move it. */
const FIT_ROWS = 600;

/** Options of the many refits behind a leave-out error. */
export const REFIT: FitOptions = { rounds: 4, iterations: 10, maxRows: 150 };

function fitProfile(profile: string, experiments: readonly Experiment[], source: string): FittedProfile {
  const model: TimeModel = (experiments[0] as Experiment).model;
  const values = fitParameters(model, experiments, {
    ...relatedStart(profile, model),
    maxRows: FIT_ROWS,
  });
  const { rows, medianError, p90Error } = summarise(errorsOf(experiments, values));
  const leftOut = leaveDegreeOut(experiments, REFIT);
  const told = toldParameters(experiments, values).map((index) => model.parameters[index]?.name);
  return {
    profile,
    model: model.name,
    summary: model.summary,
    parameters: Object.fromEntries(
      Object.entries(recordOf(model, values)).filter(([name]) => told.includes(name)),
    ),
    rows,
    range: rangeOf(experiments),
    medianError,
    p90Error,
    leaveGroupOutMedianError: leftOut === null ? null : median(leftOut.errors.map(Math.abs)),
    groupedBy: leftOut?.by ?? null,
    source,
  };
}

/** The comment that says where a table is from, else its name. */
function sourceOf(table: CsvTable | null, name: string): string {
  const note = table?.notes.find((one) => one.startsWith('source')) ?? table?.notes[0] ?? name;
  return note.replace(/^source:\s*/, '').replace(/\.$/, '');
}

export interface Calibration {
  readonly profiles: readonly FittedProfile[];
  readonly skipped: TableReading['skipped'];
}

/**
 * Fits every profile that the text holds. The text may be a table of a known kind, the output of DeepEP's tests
 * or of nccl-tests, or a file of aiconfigurator's collectors; `name` helps where the text does not name a system.
 * Throws RangeError when the kind of the text is not known, or none of its rows can be fitted.
 */
export function calibrate(text: string, name = 'measurements.csv'): Calibration {
  const { reading, table } = measurementsIn({ name, text });
  if (reading === null) {
    throw new RangeError(
      `calibrate: ${name}: unknown kind of measurements; columns ${table?.columns.join(', ') ?? ''}`,
    );
  }
  if (reading.experiments.length === 0) {
    const reasons = reading.skipped.map(({ values, reason }) => `${values} x ${reason}`).join(', ');
    throw new RangeError(`calibrate: ${name}: no row can be fitted: ${reasons || 'there is none'}`);
  }
  const source = sourceOf(table, name);
  return {
    profiles: [...byProfile(reading.experiments)].map(([profile, rows]) => fitProfile(profile, rows, source)),
    skipped: reading.skipped,
  };
}
