/**
 * The planner's frontier: throughput of an accelerator against speed for a user, every feasible layout a point.
 * Knows only the two figures of each layout, not how they were found.
 */
import type { ChartMaker, Series } from '../chart-spec.js';
import type { FrontierPoint, PlanSource } from './plan-source.js';

export const frontier: ChartMaker<PlanSource> = {
  summary: 'tokens per second of an accelerator against tokens per second of a user',
  file: 'frontier.png',
  spec({ about, points }) {
    if (points.length === 0) return null;
    const best = points
      .filter((point) => point.onFrontier)
      .sort((a, b) => a.tokensPerSecPerUser - b.tokensPerSecPerUser);
    const rest = points.filter((point) => !point.onFrontier);
    const others: Series[] =
      rest.length === 0
        ? []
        : [{ ...placed(rest), name: 'feasible layouts', mark: 'points', colour: 'muted' }];
    return {
      kind: 'xy',
      title: 'Throughput against speed: layouts that meet the objectives',
      subtitle: `${about} · ${points.length} layouts · thin lines: error bars`,
      x: { label: 'tokens/s per user', unit: 'count', min: 0 },
      y: { label: 'tokens/s per accelerator', unit: 'count', min: 0 },
      series: [
        ...others,
        {
          ...placed(best),
          ...bars(best),
          name: 'frontier: nothing is better in both',
          mark: 'line',
          colour: 0,
        },
      ],
    };
  },
};

function placed(points: readonly FrontierPoint[]) {
  return {
    xs: points.map((point) => point.tokensPerSecPerUser),
    values: points.map((point) => point.tokensPerSecPerRank),
  };
}

function bars(points: readonly FrontierPoint[]) {
  const end = (sign: number) =>
    points.map(({ tokensPerSecPerRank, relErrorBar }) =>
      relErrorBar === null ? null : tokensPerSecPerRank * (1 + sign * relErrorBar),
    );
  return { low: end(-1), high: end(1) };
}
