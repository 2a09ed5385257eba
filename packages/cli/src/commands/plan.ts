/** `epsim plan`: layouts that fit and meet the objectives, best first; exit code 3 where nothing does. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CapacityPlan,
  type LauncherName,
  launchers,
  launchText,
  planCapacity,
  planText,
  planTraining,
  trainingText,
} from '@epsim/planner';
import { drawCharts, planCharts } from '@epsim/report';
import { makeFolder } from '@epsim/results';
import type { Scenario } from '@epsim/spec';
import { type Command, Option } from 'commander';
import { exitCodes, UsageError } from '../failure.js';
import { loadScenario, readerBeside } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput, withSet } from './common.js';

interface PlanOptions extends OutputOptions {
  readonly set: readonly string[];
  readonly out?: string;
  readonly launch?: LauncherName;
}

export function planCommand(program: Command): void {
  withOutput(
    withSet(program.command('plan').argument('<scenario>', 'a YAML or JSON file with a plan section')),
  )
    .summary('capacity: layouts that fit and meet the objectives, best first')
    .description(
      'Searches layouts of attention, experts and stages for what the plan section asks, and prints them best first with the frontier, memory, cost and what was assumed. Exit code 3 when nothing meets the objectives; the closest layout is printed then.',
    )
    .option('--out <dir>', 'folder for plan.json and charts')
    .addOption(
      new Option('--launch <engine>', 'launch arguments of the best layout instead of the report').choices(
        Object.keys(launchers),
      ),
    )
    .addHelpText(
      'after',
      '\nExample:\n  epsim plan scenarios/k3-plan.yaml --set plan.objectives.tpot="40 ms"',
    )
    .action(plan);
}

async function plan(path: string, options: PlanOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  const scenario = loadScenario(path, options.set);
  if (scenario.plan === null) {
    throw new UsageError(
      `${path}: plan: missing field; write plan: { requests: { inputTokens: 4000, outputTokens: 1000 } }`,
    );
  }
  if (options.out !== undefined) makeFolder(options.out);
  if (scenario.phase === 'train') {
    answerTraining(scenario, path, options);
    return;
  }
  let progress: ReturnType<typeof term.progress> | undefined;
  let result: CapacityPlan;
  try {
    result = planCapacity(scenario, {
      readFile: readerBeside(path, options.set),
      onProgress: (done, total) => {
        progress ??= term.progress(total, 'layouts');
        if (done % 16 === 0 || done === total) progress.advance(done, '');
      },
    });
  } finally {
    progress?.stop();
  }
  const json = JSON.stringify(result, null, 2);
  if (options.out !== undefined) {
    writeFileSync(join(options.out, 'plan.json'), `${json}\n`);
    await drawCharts(planCharts, chartSource(result), options.out);
  }
  term.answer(options.json ? json : answerOf(result, options.launch));
  if (!result.feasible) process.exitCode = exitCodes.infeasible;
}

/** Layouts for training on all ranks of the cluster. */
function answerTraining(scenario: Scenario, path: string, options: PlanOptions): void {
  const result = planTraining(scenario, readerBeside(path, options.set));
  const json = JSON.stringify(result, null, 2);
  if (options.out !== undefined) {
    writeFileSync(join(options.out, 'plan.json'), `${json}\n`);
  }
  terminal(options.quiet === true).answer(options.json ? json : trainingText(result));
  if (!result.feasible) process.exitCode = exitCodes.infeasible;
}

/** The report, or the chosen layout as launch arguments where there is one. */
function answerOf(result: CapacityPlan, engine: LauncherName | undefined): string {
  if (engine === undefined || result.best === null) return planText(result);
  return result.best.launch.map(({ pool, engines }) => launchText(pool, engines[engine])).join('\n\n');
}

function chartSource({ model, cluster, frontier, points, compared, fleetByRate, best }: CapacityPlan) {
  return {
    about: `${model.name} on ${cluster.device}`,
    points: [...frontier, ...points].map((point, i) => ({
      ...{ ...point, label: point.layout },
      onFrontier: i < frontier.length,
    })),
    steps: compared.map(({ layout, step }) => ({ label: layout, phases: step })),
    fleet: fleetByRate,
    ...(best === null
      ? {}
      : {
          memory: {
            stacks: compared.map(({ layout, memory }) => ({ label: layout, parts: memory })),
            limitBytes: best.memory.usableBytes,
          },
        }),
  };
}
