/** `epsim calibrate`: fits profiles to a user's own measurements. */
import { writeFileSync } from 'node:fs';
import { type Calibration, calibrate } from '@epsim/calibration';
import type { Command } from 'commander';
import { readText } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput } from './common.js';

interface CalibrateOptions extends OutputOptions {
  readonly output?: string;
}

export function calibrateCommand(program: Command): void {
  withOutput(program.command('calibrate').argument('<measurements>', 'a table, or what a benchmark printed'))
    .summary("fit device and link profiles to one's own measurements")
    .description(
      "Fits few parameters with a physical meaning to measurements: tables with the columns that docs/calibration.md lists, the output of DeepEP's tests and of nccl-tests, and files of aiconfigurator's collectors as they are.",
    )
    .option('-o, --output <file>', 'profile to write')
    .addHelpText('after', '\nExample:\n  epsim calibrate my-deepep-test.log -o my-links.json')
    .action((path: string, options: CalibrateOptions) => {
      const term = terminal(options.quiet === true);
      const fitted = calibrate(readText(path), path);
      const text = JSON.stringify(fitted, null, 2);
      if (options.output !== undefined) writeFileSync(options.output, `${text}\n`);
      term.answer(options.json ? text : linesOf(fitted, options.output));
    });
}

function linesOf({ profiles, skipped }: Calibration, output: string | undefined): string {
  const percent = (error: number | null) => (error === null ? 'not known' : `${(error * 100).toFixed(1)} %`);
  const leftOutOf = ({ groupedBy, leaveGroupOutMedianError }: Calibration['profiles'][number]) =>
    groupedBy === null
      ? 'unscored: all rows are one group'
      : `left out by ${groupedBy} ${percent(leaveGroupOutMedianError)}`;
  return [
    ...profiles.flatMap((fit) => [
      `${fit.profile}: ${fit.summary}; ${fit.rows} rows, median error ${percent(fit.medianError)}, ${leftOutOf(fit)}`,
      ...Object.entries(fit.parameters).map(
        ([name, value]) => `    ${name.padEnd(18)} ${Number(value.toPrecision(5))}`,
      ),
    ]),
    ...skipped.map((s) => `skipped: ${s.values} x ${s.reason}`),
    ...(output === undefined
      ? []
      : [`written: ${output}; name it in a scenario, or with --set cluster.profiles=${output}`]),
  ].join('\n');
}
