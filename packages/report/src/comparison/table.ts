/**
 * A comparison as two tables: means of each row, and differences from the first row on the same tokens.
 * A difference whose interval leaves out zero carries a star; without several seeds nothing does.
 */
import type { Comparison } from '@epsim/results';
import { formatValue, type Unit } from '../page/format.js';
import { rowName } from './row-words.js';

/** Columns in the order of interest: field of the summary, its name with definition, its unit. */
const columns: readonly (readonly [path: string, label: string, unit: Unit])[] = [
  ['load.lastStep.maxVio', 'MaxVio, last step', 'ratio'],
  ['load.maxVio', 'MaxVio, mean', 'ratio'],
  ['load.maxVioFloor', 'MaxVio floor', 'ratio'],
  ['load.stepsToFloor', 'steps to 1.5 x floor', 'count'],
  ['ranks.maxOverMean', 'ranks max/mean', 'ratio'],
  ['timed.stepNs', 'step time', 'ns'],
  ['timed.relErrorBar', 'its error bar ±', 'fraction'],
  ['timed.phases.pre', 'router, projection in', 'ns'],
  ['timed.phases.dispatch', 'dispatch', 'ns'],
  ['timed.phases.shared', 'shared experts', 'ns'],
  ['timed.phases.experts', 'routed experts', 'ns'],
  ['timed.phases.combine', 'combine', 'ns'],
  ['timed.phases.post', 'norm, projection out', 'ns'],
  ['bytes.perToken', 'bytes/token/layer', 'bytes'],
  ['routing.scoreRetention', 'score retention', 'ratio'],
  ['routing.droppedFraction', 'dropped', 'fraction'],
  ['load.starvedExperts', 'starved experts', 'count'],
  ['ranks.activatedExperts.mean', 'activated/rank', 'count'],
  ['bytes.dedupRatio', 'rows/choice', 'ratio'],
  ['bytes.scaleOut', 'scale-out', 'bytes'],
  ['timed.stragglerIdleFraction', 'straggler idle', 'fraction'],
  ['moves.bytes', 'moved weights', 'bytes'],
  ['moves.ns', 'time of moves, all steps', 'ns'],
];

export interface ComparisonTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** Means, and then the paired differences when there is more than one row. */
export function comparisonTables(comparison: Comparison): ComparisonTable[] {
  const present = columns.filter(([path]) => {
    const of = comparison.rows.map(({ means }) => means[path]);
    return (
      of.every((mean) => mean !== undefined) && (!path.startsWith('moves.') || of.some((mean) => mean > 0))
    );
  });
  const labels = present.map(([, label]) => label);
  const means: ComparisonTable = {
    title: 'means',
    columns: labels,
    rows: comparison.rows.map(({ values, means: mean, ci95 }) => ({
      name: rowName(values),
      cells: present.map(([path, , unit]) => cell(mean[path], ci95[path] ?? null, unit)),
    })),
  };
  if (comparison.pairedDifferences.length === 0) return [means];
  const differences: ComparisonTable = {
    title: `difference from ${rowName(comparison.rows[0].values)}, seed by seed (* its 95 % interval leaves out 0)`,
    columns: labels,
    rows: comparison.pairedDifferences.map((row) => ({
      name: rowName(row.values),
      cells: present.map(([path, , unit]) => {
        const star = row.differs[path] ? ' *' : '';
        return `${signed(row.means[path], row.ci95[path] ?? null, unit)}${star}`;
      }),
    })),
  };
  return [means, differences];
}

/** `mean ± half` of the interval, or the mean alone. */
function cell(mean: number, ci95: readonly [number, number] | null, unit: Unit): string {
  const half = ci95 === null ? 0 : (ci95[1] - ci95[0]) / 2;
  // An interval narrower than sums round is no interval worth a reader's time.
  return half <= 1e-9 * Math.abs(mean)
    ? formatValue(mean, unit)
    : `${formatValue(mean, unit)} ± ${formatValue(half, unit)}`;
}

function signed(mean: number, ci95: readonly [number, number] | null, unit: Unit): string {
  return mean > 0 ? `+${cell(mean, ci95, unit)}` : cell(mean, ci95, unit);
}
