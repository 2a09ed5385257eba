/** `epsim validate`: scores the time model against published measurements. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type MeasurementFile,
  type ScoreOptions,
  scoreTables,
  shippedTables,
  type TableScore,
} from '@epsim/calibration';
import { endToEndText, validateEndToEnd } from '@epsim/planner';
import { drawCharts, validationCharts } from '@epsim/report';
import { makeFolder, type Validation } from '@epsim/results';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.js';
import { readText } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput } from './common.js';

interface ValidateOptions extends OutputOptions {
  readonly measurements?: string;
  readonly leaveOut: NonNullable<ScoreOptions['leaveOut']>;
  readonly out?: string;
  readonly endToEnd?: boolean;
}

export function validateCommand(program: Command): void {
  withOutput(program.command('validate'))
    .summary('score the time model against published measurements')
    .description(
      'Predicts every row of tables of measurements with the shipped profiles and prints the errors, as fractions of the measured values. Left out: the median error of rows whose whole degree (or other system) the fit did not see.',
    )
    .option('--measurements <dir>', 'a folder of tables instead of the small ones that ship')
    .addOption(
      new Option(
        '--leave-out <what>',
        'refit without whole groups: the degree, every kind of group, or not at all',
      )
        .choices(['none', 'degree', 'all'])
        .default('degree'),
    )
    .option(
      '--end-to-end',
      'whole serving systems: published throughputs, which ship with their layouts, against predicted ones',
    )
    .option('--out <dir>', 'folder for validation.json and a picture')
    .addHelpText('after', '\nExample:\n  epsim validate --out runs/validation')
    .action(validate);
}

async function validate(options: ValidateOptions): Promise<void> {
  if (options.endToEnd === true) {
    if (options.measurements !== undefined) {
      throw new UsageError(
        '--end-to-end and --measurements: a throughput needs the layout and the engine behind it, which no table states; its rows ship with them. Give one of the two',
      );
    }
    answerEndToEnd(options);
    return;
  }
  const term = terminal(options.quiet === true);
  const files = options.measurements === undefined ? shippedTables : tablesIn(options.measurements);
  const progress = term.progress(files.length, 'tables');
  const scores: TableScore[] = [];
  for (const file of files) {
    progress.advance(scores.length, file.name);
    scores.push(...scoreTables([file], { leaveOut: options.leaveOut }));
  }
  progress.stop();
  const tables = scores.map(({ points: _, ...score }) => score);
  if (options.out !== undefined) {
    makeFolder(options.out);
    writeFileSync(join(options.out, 'validation.json'), `${text({ tables })}\n`);
    await drawCharts(validationCharts, scores.flatMap(plotted), options.out);
  }
  term.answer(options.json ? text({ tables }) : scores.map(lines).join('\n'));
}

const text = (validation: Validation) => JSON.stringify(validation, null, 2);

/** Published serving throughputs, as one more table in JSON, with a row each and what was assumed. */
function answerEndToEnd({ json, quiet, out }: ValidateOptions): void {
  const score = validateEndToEnd();
  const { rows, medianError, p90Error, bias, leaveSourceOutMedianError } = score;
  const table = {
    file: 'serving throughputs',
    rows: rows.length,
    skippedRows: 0,
    medianError,
    p90Error,
    bias,
  };
  const tables = [{ ...table, leaveGroupOutMedianError: leaveSourceOutMedianError }];
  const document = text({ tables, endToEnd: score });
  if (out !== undefined) {
    makeFolder(out);
    writeFileSync(join(out, 'validation.json'), `${document}\n`);
  }
  terminal(quiet === true).answer(json ? document : endToEndText(score));
}

function tablesIn(dir: string): MeasurementFile[] {
  let names: string[];
  try {
    names = readdirSync(dir).filter((name) => name.endsWith('.csv'));
  } catch {
    throw new UsageError(`--measurements: cannot read the folder ${dir}; check the path`);
  }
  if (names.length === 0) throw new UsageError(`--measurements: no .csv in ${dir}; name a folder of tables`);
  return names.sort().map((name) => ({ name, text: readText(join(dir, name)) }));
}

/** All published times are below a second, in ns; all published rates are above a GB/s, in bytes/s. */
const LONGEST_NS = 1e9;

/** The times of a table; rates do not belong on the same axes. */
function plotted({ file, points, medianError }: TableScore) {
  const rows = points
    .filter((point) => point.measured < LONGEST_NS)
    .map(({ measured, predicted }) => ({ measuredNs: measured, predictedNs: predicted }));
  return medianError === null || rows.length === 0 ? [] : [{ name: file, rows, medianError }];
}

const percent = (error: number | null) => (error === null ? '-' : `${(error * 100).toFixed(1)} %`);

function lines(score: TableScore): string {
  const { file, rows, skippedRows, predictions, medianError, p90Error, bias, leaveGroupOutMedianError } =
    score;
  const head =
    predictions === 0
      ? `${file}: no row can be predicted`
      : `${file}: ${rows} rows, ${predictions} values: median error ${percent(medianError)}, 90th percentile ${percent(p90Error)}, bias ${percent(bias)}, left out ${percent(leaveGroupOutMedianError)}`;
  return [
    head,
    ...score.leaveOut.map(
      ({ by, predictions: n, medianError: error }) =>
        `    left out by ${by}: ${percent(error)} (${n} values)`,
    ),
    ...(score.repeats === null
      ? []
      : [
          `    measured more than once: ${score.repeats.cases} cases, ${percent(score.repeats.medianSpread)} apart`,
        ]),
    ...score.worstRows.slice(0, 3).map(({ label, error }) => `    worst: ${label}: ${percent(error)}`),
    ...(skippedRows > 0
      ? [
          `    ${skippedRows} rows skipped: ${score.skipped.map((s) => `${s.values} x ${s.reason}`).join('; ')}`,
        ]
      : []),
  ].join('\n');
}
