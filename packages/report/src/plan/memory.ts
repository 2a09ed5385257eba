/** What fills the memory of a rank under each layout, beside what there is. */
import type { ChartMaker } from '../chart-spec.js';
import { formatValue } from '../page/format.js';
import type { PlanSource } from './plan-source.js';

export const memory: ChartMaker<PlanSource> = {
  summary: 'memory of a rank by tensor class, per layout, beside what may be used',
  file: 'memory.png',
  spec({ about, memory: source }) {
    if (source === undefined || source.stacks.length === 0) return null;
    const { stacks, limitBytes } = source;
    const names = [...new Set(stacks.flatMap(({ parts }) => Object.keys(parts)))];
    return {
      kind: 'xy',
      title: 'Memory of one rank by tensor class',
      subtitle: `${about} · ${formatValue(limitBytes, 'bytes')} may be used`,
      x: { label: 'layout', unit: 'count', labels: stacks.map(({ label }) => label) },
      y: { label: 'memory', unit: 'bytes', min: 0 },
      stacked: true,
      horizontal: true,
      series: [
        ...names.map((name, i) => ({
          name,
          mark: 'bar' as const,
          colour: i,
          values: stacks.map(({ parts }) => parts[name] ?? 0),
        })),
        { name: 'usable memory', mark: 'dashed', colour: 'text', values: stacks.map(() => limitBytes) },
      ],
    };
  },
};
