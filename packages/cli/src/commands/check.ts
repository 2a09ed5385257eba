/** `epsim check`: validates a scenario and prints it as resolved. */
import { resolvedYaml } from '@epsim/spec';
import type { Command } from 'commander';
import { loadScenario } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput, withSet } from './common.js';

export function checkCommand(program: Command): void {
  withOutput(withSet(program.command('check').argument('<scenario>', 'a YAML or JSON file')))
    .summary('validate a scenario and print it as resolved')
    .description(
      'Reads a scenario, reports every problem at once, and prints it with all names and defaults resolved.',
    )
    .addHelpText('after', '\nExample:\n  epsim check scenarios/k3-quickstart.yaml --set cluster.ranks=64')
    .action((path: string, options: OutputOptions & { set: readonly string[] }) => {
      const term = terminal(options.quiet === true);
      const scenario = loadScenario(path, options.set);
      term.answer(options.json ? JSON.stringify(scenario, null, 2) : resolvedYaml(scenario));
    });
}
