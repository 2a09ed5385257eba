/** The command line: parses arguments, runs one command, sets the exit code. */
import { Command } from 'commander';
import { calibrateCommand } from './commands/calibrate.js';
import { checkCommand } from './commands/check.js';
import { clusterCommand } from './commands/cluster.js';
import { compareCommand } from './commands/compare.js';
import { importCommand } from './commands/import.js';
import { journeyCommand } from './commands/journey.js';
import { placeCommand } from './commands/place.js';
import { planCommand } from './commands/plan.js';
import { presetsCommand } from './commands/presets.js';
import { reportCommand } from './commands/report.js';
import { runCommand } from './commands/run.js';
import { sweepCommand } from './commands/sweep.js';
import { validateCommand } from './commands/validate.js';
import { workerCommand } from './commands/worker.js';
import { exitCodes, failureOf } from './failure.js';
import { version } from './version.js';

/** Each adds itself to the program. A new command is a file and a line here. */
const commands = [
  runCommand,
  compareCommand,
  sweepCommand,
  planCommand,
  placeCommand,
  checkCommand,
  importCommand,
  calibrateCommand,
  validateCommand,
  journeyCommand,
  presetsCommand,
  reportCommand,
  workerCommand,
  clusterCommand,
];

export async function main(argv: readonly string[]): Promise<void> {
  // A reader that has seen enough, such as `head`, is no fault; a full disk behind a redirection is.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.stderr.write(`standard output: ${error.message}\n`);
    process.exit(error.code === 'EPIPE' ? exitCodes.done : exitCodes.transport);
  });
  const program = new Command('epsim')
    .description('simulates expert parallelism of mixture-of-experts models')
    .version(version)
    .showHelpAfterError('(epsim --help lists the commands)')
    .exitOverride();
  for (const add of commands) add(program);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    const { code, message } = failureOf(thrown);
    if (message) process.stderr.write(`${message}\n`);
    process.exitCode = code;
  }
}
