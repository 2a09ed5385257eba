/** `epsim presets`: the models, clusters and devices that a scenario can name, with their sources. */
import { activeParamCount, paramCount } from '@epsim/model';
import {
  clusterPresets,
  devicePresets,
  formatBandwidth,
  formatBytes,
  modelPresets,
  publishedCounts,
} from '@epsim/spec';
import { Argument, type Command } from 'commander';
import { terminal } from '../terminal.js';
import { type OutputOptions, withOutput } from './common.js';

const kinds = ['models', 'clusters', 'devices'] as const;
type Kind = (typeof kinds)[number];

export function presetsCommand(program: Command): void {
  withOutput(program.command('presets').addArgument(new Argument('[kind]', 'one kind only').choices(kinds)))
    .summary('models, clusters and devices by name')
    .description('Lists what a scenario can name, with sizes and sources.')
    .addHelpText('after', '\nExample:\n  epsim presets models --json')
    .action((kind: Kind | undefined, options: OutputOptions) => {
      const term = terminal(options.quiet === true);
      const wanted = kind ? [kind] : [...kinds];
      const all = Object.fromEntries(wanted.map((name) => [name, list[name]()]));
      term.answer(
        options.json
          ? JSON.stringify(all, null, 2)
          : wanted.map((name) => table(name, all[name])).join('\n\n'),
      );
    });
}

type Row = Readonly<Record<string, unknown>>;

const list: Readonly<Record<Kind, () => readonly Row[]>> = {
  models: () =>
    Object.entries(modelPresets).map(([name, model]) => ({
      name,
      paramCount: paramCount(model),
      activeParamCount: activeParamCount(model),
      published: publishedCounts[name as keyof typeof publishedCounts],
      source: model.source,
    })),
  clusters: () =>
    Object.entries(clusterPresets).map(([name, { summary, cluster }]) => ({
      name,
      summary,
      domainRanks: cluster.topology.domainRanks,
      scaleUpBytesPerSec: cluster.topology.scaleUp.bytesPerSec,
      scaleOutBytesPerSec: cluster.topology.scaleOut?.bytesPerSec ?? null,
      source: cluster.source,
    })),
  devices: () =>
    Object.entries(devicePresets).map(([name, { device }]) => ({
      name,
      memoryBytes: device.memoryBytes,
      memoryBytesPerSec: device.memoryBytesPerSec,
      flopsPerSec: device.flopsPerSec,
      watts: 'watts' in device ? device.watts : null,
      source: device.source,
    })),
};

const shown: Readonly<Record<Kind, (row: Row) => string>> = {
  models: (row) =>
    `${String(row.name).padEnd(28)} ${billions(row.paramCount)} parameters, ${billions(row.activeParamCount)} active`,
  clusters: (row) => `${String(row.name).padEnd(14)} ${row.summary}`,
  devices: (row) =>
    `${String(row.name).padEnd(14)} ${formatBytes(Number(row.memoryBytes))} at ${formatBandwidth(Number(row.memoryBytesPerSec))}`,
};

function table(kind: Kind, rows: readonly Row[]): string {
  return [kind, ...rows.map((row) => `  ${shown[kind](row)}`)].join('\n');
}

function billions(count: unknown): string {
  return `${(Number(count) / 1e9).toFixed(1)} B`.padStart(9);
}
