/**
 * Where the time of a step goes, by phase, each phase with where its figure comes from.
 * Bars add up the phases as if nothing overlapped; the step time beside them says how much did.
 */
import { type Run, recordsBySteps } from '@epsim/results';
import type { Provenance, StepRecord } from '@epsim/spec';
import type { ChartMaker } from '../chart-spec.js';
import { formatValue } from '../page/format.js';
import { runLine } from './run-words.js';

export const phases: ChartMaker<Run> = {
  summary: 'time by phase, per step or per layer, with the source of each phase',
  file: 'phases.png',
  spec(run) {
    const timed = run.records.filter((record) => record.timed !== null);
    if (timed.length === 0 || timed.length < run.records.length) return null;
    const steps = recordsBySteps(run.records);
    const byLayer = steps.length === 1;
    const groups = byLayer ? steps[0].map((record) => [record]) : steps;
    const names = [...new Set(timed.flatMap((record) => Object.keys(record.timed?.phases ?? {})))];
    const total = groups.map((group) => group.reduce((sum, record) => sum + (record.timed?.stepNs ?? 0), 0));
    const unit = byLayer ? 'layer' : 'step';
    const mean = total.reduce((a, b) => a + b, 0) / total.length;
    const scope = byLayer ? '' : `, sum over ${groups[0].length} layer${groups[0].length === 1 ? '' : 's'}`;
    return {
      kind: 'xy',
      title: `Predicted time by phase of each ${unit}${scope}`,
      subtitle: `${runLine(run)} · ${run.summary === null ? '' : `${run.summary.cluster.name} · `}mean ${formatValue(mean, 'ns')} a ${unit}`,
      x: {
        label: unit,
        unit: 'count',
        labels: groups.map(([record]) => String(byLayer ? record.layer : record.step)),
      },
      y: { label: 'time', unit: 'ns', min: 0 },
      stacked: true,
      series: [
        ...names.map((name, i) => ({
          name: `${name} (${provenanceOf(timed, name)})`,
          mark: 'bar' as const,
          colour: i,
          values: groups.map((group) => phaseNs(group, name)),
        })),
        { name: `${unit} time, with overlap`, mark: 'points', colour: 'text', values: total },
      ],
    };
  },
};

function phaseNs(records: readonly StepRecord[], phase: string): number {
  return records.reduce((sum, record) => sum + (record.timed?.phases[phase]?.ns ?? 0), 0);
}

function provenanceOf(records: readonly StepRecord[], phase: string): string {
  const seen = new Set<Provenance>();
  for (const { timed } of records) {
    const estimate = timed?.phases[phase];
    if (estimate !== undefined) seen.add(estimate.provenance);
  }
  return [...seen].join(', ');
}
