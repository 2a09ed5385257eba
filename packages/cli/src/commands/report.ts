/** `epsim report`: draws a run folder again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { carriedBy, charts, drawCharts, reportHtml, terminalSummary } from '@epsim/report';
import { RunFolder } from '@epsim/results';
import type { Command } from 'commander';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput } from './common.js';

export function reportCommand(program: Command): void {
  withOutput(program.command('report').argument('<run>', 'a folder that "epsim run" wrote'))
    .summary('draw a run folder again')
    .description('Reads a run folder, draws its pictures and its page again, and prints its summary.')
    .addHelpText('after', '\nExample:\n  epsim report runs/k3-quickstart')
    .action(async (dir: string, options: OutputOptions) => {
      const term = terminal(options.quiet === true);
      const run = RunFolder.read(dir);
      await drawCharts(charts, run, dir);
      writeFileSync(join(dir, 'report.html'), reportHtml(run));
      if (options.json) term.answer(JSON.stringify(run.summary, null, 2));
      else if (run.summary)
        term.answer(
          terminalSummary(run.summary, { width: term.width, colour: term.colour, ...carriedBy(run.timings) }),
        );
      else term.answer(`${dir}: interrupted before its summary was written; ${run.records.length} records`);
    });
}
