/** `epsim place`: an expert placement for a table of loads, in the formats that engines load. */
import {
  type PlacementFormat,
  type PlacementTable,
  placementFormats,
  placementPolicies,
  placeTable,
  readPlacement,
  writePlacement,
} from '@epsim/placement';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.js';
import { readText } from '../scenario-file.js';
import { terminal } from '../terminal.js';
import { readLoads } from '../trace-input.js';
import { integer, type OutputOptions, withOutput } from './common.js';

interface PlaceOptions extends OutputOptions {
  readonly policy: string;
  readonly ranks: number;
  readonly slots?: number;
  readonly nodes?: number;
  readonly groups?: number;
  readonly seed?: number;
  readonly previous?: string;
  readonly case?: string;
  readonly format?: PlacementFormat;
  readonly firstLayer: number;
}

export function placeCommand(program: Command): void {
  withOutput(
    program.command('place').argument('<loads>', 'loads [layers][experts]: JSON, CSV, npy, or a recording'),
  )
    .summary('expert placement for a load table')
    .description(
      'Places the experts of every layer by the loads given, and prints the balance before and after. Balancedness is mean / max over ranks.',
    )
    .requiredOption('--ranks <n>', 'ranks of the expert-parallel group', integer(1, 65_536))
    .addOption(
      new Option('--policy <name>', 'placement policy')
        .choices(Object.keys(placementPolicies))
        .default('eplb'),
    )
    .option(
      '--slots <n>',
      'slots of all ranks (default: the fewest that the policy needs)',
      integer(1, 1_000_000),
    )
    .option('--nodes <n>', 'nodes that the ranks form', integer(1))
    .option('--groups <n>', 'groups of experts', integer(1))
    .option('--seed <n>', 'seed of policies that draw', integer(0))
    .option('--previous <file>', 'placement in use: what moves is counted')
    .option('--case <name>', 'one of several named tables in the file')
    .addOption(new Option('--format <engine>', 'print what this engine loads').choices([...placementFormats]))
    .option(
      '--first-layer <n>',
      'number of the first layer with experts in the model, for --format',
      integer(0),
      0,
    )
    .addHelpText(
      'after',
      '\nExample:\n  epsim place loads.json --policy eplb --slots 288 --groups 8 --nodes 4 --ranks 32 --json',
    )
    .action(place);
}

async function place(path: string, options: PlaceOptions): Promise<void> {
  const term = terminal(options.quiet === true);
  if (options.json && options.format)
    throw new UsageError('--json and --format: both say what to print; give one of them');
  const loads = await readLoads(path, options.case);
  const policy = placementPolicies[options.policy as keyof typeof placementPolicies];
  await ('ready' in policy ? policy.ready() : undefined);
  const { ranks, slots, nodes, groups, seed, previous } = options;
  const table = placeTable(loads, {
    policy: options.policy,
    ranks,
    ...(slots === undefined ? {} : { slots }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(groups === undefined ? {} : { groups }),
    ...(seed === undefined ? {} : { seed }),
    ...(previous === undefined ? {} : { previous: readPlacement(readText(previous)) }),
  });
  const { groups: g = 1, nodes: n = 1 } = options;
  if (g > 1 && (g % n !== 0 || table.logicalCount[0].length % g !== 0)) {
    term.note(
      `note: ${g} groups on ${n} nodes cannot be kept together (groups must divide the ${table.logicalCount[0].length} experts, and nodes the groups); placed as one group on one node, as the published algorithm does`,
    );
  }
  if (options.format) {
    const { format, firstLayer } = options;
    term.answer(writePlacement(table, format, firstLayer));
    for (const line of summaryLines(table)) term.note(line);
  } else if (options.json) {
    term.answer(JSON.stringify(table));
  } else {
    term.answer(summaryLines(table).join('\n'));
  }
}

function summaryLines(table: PlacementTable): string[] {
  const spread = (values: readonly number[]) => {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return `mean ${mean.toFixed(4)}, worst layer ${Math.min(...values).toFixed(4)}`;
  };
  const slots = table.slotsPerRank.reduce((a, b) => a + b, 0);
  const each = [...new Set(table.slotsPerRank)].sort((a, b) => b - a).join(' or ');
  const lines = [
    `${table.policy}: ${table.physicalToLogical.length} layers of ${table.logicalCount[0].length} experts in ${slots} slots on ${table.ranks} ranks, ${each} a rank`,
    `balancedness (mean / max over ranks) before: ${spread(table.balancednessBefore)}`,
    `balancedness (mean / max over ranks) after:  ${spread(table.balancedness)}`,
  ];
  if (table.duplicatesOnRank > 0) {
    lines.push(
      `${table.duplicatesOnRank} replicas share a rank with another of their expert and balance nothing; eplb-distinct avoids that`,
    );
  }
  if (table.moves)
    lines.push(`${table.moves.reduce((a, b) => a + b, 0)} slots change from the placement in use`);
  return lines;
}
