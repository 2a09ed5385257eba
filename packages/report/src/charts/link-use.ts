/**
 * The links of the target cluster that carried most, by name.
 */
import type { Run } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { formatValue } from '../page/format.js';
import { runLine } from './run-words.js';

const MOST_LINKS = 20;

export const linkUse: ChartMaker<Run> = {
  summary: 'bytes over the busiest links',
  file: 'link-use.png',
  spec(run) {
    if (run.linkUse === null || run.linkUse.length === 0) return null;
    const tiers = [...new Set(run.linkUse.map((link) => link.tier))].sort();
    const busiest = [...run.linkUse].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_LINKS);
    const busy = Math.max(...run.linkUse.map((link) => link.busyFraction));
    const which =
      busiest.length === run.linkUse.length
        ? busiest.length
        : `${busiest.length} busiest of ${run.linkUse.length}`;
    return {
      kind: 'xy',
      title: `Bytes over the ${which} links, whole run`,
      subtitle: `${runLine(run)} · the busiest link is full for ${formatValue(busy, 'fraction')} of the time`,
      x: { label: '', unit: 'count', labels: busiest.map(({ link }) => link) },
      y: { label: 'bytes', unit: 'bytes', min: 0 },
      horizontal: true,
      stacked: true,
      series: tiers.map((tier, i) => ({
        name: tier,
        mark: 'bar',
        colour: i,
        values: busiest.map((link) => (link.tier === tier ? link.bytes : null)),
      })),
    };
  },
};
