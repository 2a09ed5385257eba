/** `epsim check`: validates a scenario, prints it as resolved, and lints its workload. */
import { Simulation } from '@epsim/engine';
import { resolvedYaml, type Scenario } from '@epsim/spec';
import { lintWorkload, type WorkloadFinding } from '@epsim/workload';
import type { Command } from 'commander';
import { UsageError } from '../failure.js';
import { readPoints } from '../points.js';
import { loadScenario, readerBeside } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput, withSet } from './common.js';

export function checkCommand(program: Command): void {
  withOutput(withSet(program.command('check').argument('<scenario>', 'a YAML or JSON file')))
    .summary('validate a scenario, print it as resolved, lint its workload')
    .description(
      'Reads a scenario, and what it varies, reports every problem at once, prints it with all names and defaults resolved, and warns of what is suspicious about its tokens.',
    )
    .addHelpText('after', '\nExample:\n  epsim check scenarios/k3-quickstart.yaml --set cluster.ranks=64')
    .action((path: string, options: OutputOptions & { set: readonly string[] }) => {
      const term = terminal(options.quiet === true);
      const scenario = loadScenario(path, options.set);
      if (scenario.vary !== null) readPoints(path, options.set, []);
      const findings = lintScenario(scenario, readerBeside(path, options.set));
      for (const { severity, message } of findings) term.note(`${severity}: workload: ${message}`);
      if (findings.some(({ severity }) => severity === 'error')) {
        throw new UsageError(`${path}: the workload cannot be run, see above`);
      }
      term.answer(options.json ? JSON.stringify({ ...scenario, findings }, null, 2) : resolvedYaml(scenario));
    });
}

/** Layers of the first and the last step that are looked at. */
const LINTED_LAYERS = 4;

/** What is suspicious about the tokens of a scenario, gravest first. */
function lintScenario(scenario: Scenario, readFile: (path: string) => Uint8Array): WorkloadFinding[] {
  const { workload } = new Simulation(scenario, { readFile });
  const layers = Math.min(scenario.layers, LINTED_LAYERS);
  const steps = [...new Set([0, scenario.steps - 1])];
  const batches = steps.flatMap((step) =>
    Array.from({ length: layers }, (_, layer) => workload.batch(step, layer)),
  );
  return lintWorkload(batches, { topK: scenario.model.moe.topK });
}
