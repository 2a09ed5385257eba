/**
 * Who sends how much to whom, as a heat map.
 * Above 64 ranks neighbouring ranks share a cell, so that a cell stays visible; the axis still counts ranks.
 */
import type { RankTraffic, Run } from '@epsim/results';
import type { ChartMaker } from '../chart-spec.js';
import { formatValue } from '../page/format.js';
import { runLine } from './run-words.js';

const MOST_CELLS = 64;

export const rankTraffic: ChartMaker<Run> = {
  summary: 'bytes from each rank to each rank',
  file: 'rank-traffic.png',
  spec(run) {
    if (run.rankTraffic === null) return null;
    const { rankCount, bytes } = run.rankTraffic;
    const step = Math.ceil(rankCount / MOST_CELLS);
    const size = Math.ceil(rankCount / step);
    let total = 0;
    let local = 0;
    bytes.forEach((value, i) => {
      total += value;
      if (i % (rankCount + 1) === 0) local += value;
    });
    const localShare = total === 0 ? 0 : local / total;
    return {
      kind: 'heat',
      title: 'Bytes from rank to rank, dispatch and combine, whole run',
      subtitle: `${runLine(run)} · ${formatValue(total, 'bytes')} in all, ${formatValue(localShare, 'fraction')} on the diagonal never leaves its rank${step === 1 ? '' : ` · a cell is ${step} x ${step} ranks`}`,
      x: { label: 'to rank' },
      y: { label: 'from rank' },
      unit: 'bytes',
      size,
      step,
      values: grouped(run.rankTraffic, size, step),
    };
  },
};

/** Sums of blocks of [step x step], row-major [size x size]. */
function grouped({ rankCount, bytes }: RankTraffic, size: number, step: number): number[] {
  const cells = Array<number>(size * size).fill(0);
  for (let s = 0; s < rankCount; s++) {
    for (let d = 0; d < rankCount; d++) {
      cells[Math.floor(s / step) * size + Math.floor(d / step)] += bytes[s * rankCount + d];
    }
  }
  return cells;
}
