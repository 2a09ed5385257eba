/** `epsim import`: recordings of other engines to a trace file that scenarios can name. */
import { writeFileSync } from 'node:fs';
import { encodeTrace, importers, type Trace } from '@epsim/workload';
import { type Command, Option } from 'commander';
import { terminal } from '../terminal.js';
import { readTrace } from '../trace-input.js';
import { integer, type OutputOptions, withOutput } from './common.js';

interface ImportOptions extends OutputOptions {
  readonly format?: string;
  readonly output: string;
  readonly model?: string;
  readonly experts?: number;
  readonly topK?: number;
  readonly layers?: number;
  readonly realTokens?: number;
}

export function importCommand(program: Command): void {
  withOutput(program.command('import').argument('<trace...>', 'files or a folder that an engine wrote'))
    .summary("expert traces of other engines to epsim's format")
    .description(
      `Reads a recording, checks it, and writes a trace file.\n\nFormats:\n${Object.entries(importers)
        .map(([name, { summary }]) => `  ${name.padEnd(18)} ${summary}`)
        .join('\n')}`,
    )
    .requiredOption('-o, --output <file>', 'trace file to write')
    .addOption(new Option('--format <name>', 'format (default: found out from the files)'))
    .option('--model <name>', 'the model that was recorded')
    .option('--experts <n>', 'experts of a layer, where the files do not say', integer(1))
    .option('--top-k <n>', 'choices of a token, where the files do not say', integer(1))
    .option('--layers <n>', 'layers, where the files do not say', integer(1))
    .option('--real-tokens <n>', 'rows of each frame that are real, the rest being padding', integer(0))
    .addHelpText(
      'after',
      '\nExample:\n  epsim import expert_distribution_recorder_1.pt --format sglang-stat --model kimi-k3 -o k3.epsim-trace',
    )
    .action(run);
}

async function run(paths: readonly string[], options: ImportOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  const { model, experts, topK, layers, realTokens } = options;
  const hints = {
    ...(model === undefined ? {} : { model }),
    ...(experts === undefined ? {} : { expertCount: experts }),
    ...(topK === undefined ? {} : { topK }),
    ...(layers === undefined ? {} : { layers }),
    ...(realTokens === undefined ? {} : { realTokens }),
  };
  const trace = await readTrace(paths, hints, options.format);
  writeFileSync(options.output, encodeTrace(trace));
  const told = describe(trace);
  term.answer(
    options.json
      ? JSON.stringify({ output: options.output, ...told }, null, 2)
      : linesOf(told, options.output),
  );
}

/** What a trace says of itself, without its arrays. */
function describe(trace: Trace) {
  const { kind, model, source, notes } = trace;
  const shape =
    trace.kind === 'balance'
      ? { samples: trace.meanTokens.length }
      : { expertCount: trace.expertCount, topK: trace.topK, layers: trace.layerIds.length };
  return { kind, model, source, ...shape, notes };
}

function linesOf(told: ReturnType<typeof describe>, output: string): string {
  const { notes, ...fields } = told;
  return [
    ...Object.entries(fields).map(([name, value]) => `${name.padEnd(12)}${value ?? 'not stated'}`),
    ...notes.map((note) => `note        ${note}`),
    `written     ${output}`,
  ].join('\n');
}
