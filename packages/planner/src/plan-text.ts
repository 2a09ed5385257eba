/**
 * A plan for a terminal: the answer first, then the frontier, why the rest fell out, what moves it, and what was assumed.
 * Knows only the plan; nothing is computed here.
 */
import { formatBytes, formatNs, formatWatts, plural } from '@epsim/spec';
import type { FigureBars } from './errors/plan-errors.js';
import type { CapacityPlan, PlanDetail, PlannedLayout } from './plan-schema.js';
import type { UnderLoad } from './serving/under-load.js';

const MOST_LAYOUTS = 8;
const MOST_FRONTIER = 10;
const MOST_REASONS = 6;

/** Lines of text, no colours. */
export function planText(plan: CapacityPlan): string {
  const { model, cluster, searched, request } = plan;
  const { requests } = request;
  const head = [
    `${plan.scenario}: ${model.name} (${parameters(model.paramCount)} parameters, ${formatBytes(model.checkpointBytes)}) on ${cluster.device}, at most ${cluster.mostRanks} ranks an instance`,
    `${requests.inputTokens} tokens in, ${requests.outputTokens} out, ${percent(requests.cacheHitRate)} of prompts cached${rateText(plan)}`,
    `${searched.candidates} layouts, ${searched.refused} more that no engine can load; ${searched.timed} steps timed by the bound, ${searched.refined} layouts refined`,
  ];
  return [
    ...head,
    '',
    ...(plan.feasible ? answer(plan) : closest(plan)),
    '',
    ...fellOut(plan),
    ...section('Assumed', plan.assumptions),
    ...section(
      'Sources',
      Object.entries(plan.sources).map(([name, source]) => `${name}: ${source}`),
    ),
  ].join('\n');
}

function rateText({ request }: CapacityPlan): string {
  const { ratePerSec, users } = request.requests;
  if (ratePerSec !== null) return `, ${ratePerSec} requests/s`;
  return users === null ? '' : `, ${users} users`;
}

function answer(plan: CapacityPlan): string[] {
  const feasible = plan.layouts.filter((layout) => layout.feasible);
  const [best] = feasible;
  return [
    ...bestText(best),
    '',
    ...table(feasible.slice(0, MOST_LAYOUTS)),
    ...(feasible.length > MOST_LAYOUTS
      ? [`... and ${feasible.length - MOST_LAYOUTS} more (--json has all)`]
      : []),
    '',
    'Frontier (speed of a user, throughput of a rank):',
    ...plan.frontier
      .slice(0, MOST_FRONTIER)
      .map(
        (point) =>
          `  ${fixed(point.tokensPerSecPerUser).padStart(7)} tokens/s per user ${fixed(point.tokensPerSecPerRank).padStart(8)} tokens/s per rank  ${point.layout}, ${point.sequencesPerGroup} sequences, ${point.serving}`,
      ),
    '',
    ...(plan.best === null ? [] : detailText(plan.best)),
  ];
}

function bestText(best: PlannedLayout): string[] {
  const { prefill, fleet } = best;
  const decode = `${best.layout} on ${plural(best.ranks, 'rank')}, ${best.sequencesPerGroup} sequences for each attention group, ${best.overlap}`;
  const lines =
    prefill === null
      ? [`Best: ${decode}; prefill on the same ranks`]
      : [
          `Best: decode ${decode}`,
          `      prefill ${prefill.layout} on ${plural(prefill.ranks, 'rank')}, ${prefill.chunkTokens} tokens at once, ${prefill.instancesPerDecode.toFixed(2)} instances for each of decode`,
        ];
  const bars = best.relErrorBars;
  const bar = (name: keyof FigureBars) => (bars === null ? '' : ` +- ${Math.round(100 * bars[name])} %`);
  lines.push(
    `      TTFT ${time(best.ttftNs)}${bar('ttftNs')}${best.simulated === null ? ' for a prompt alone' : ''}, TPOT ${time(best.tpotNs)}${bar('tpotNs')} (${fixed(best.tokensPerSecPerUser)} tokens/s per user), ${fixed(best.tokensPerSecPerRank)} tokens/s per rank${bar('tokensPerSecPerRank')}`,
  );
  if (fleet !== null) {
    lines.push(
      `      fleet: ${plural(fleet.ranks, 'rank')} = ${fleet.decodeInstances} decode${fleet.prefillInstances > 0 ? ` + ${fleet.prefillInstances} prefill` : ''} ${fleet.decodeInstances + fleet.prefillInstances === 1 ? 'instance' : 'instances'} for ${fixed(fleet.ratePerSec)} requests/s`,
    );
  }
  const cost =
    best.costPerMillionTokens === null
      ? `${fixed(best.rankHoursPerMillionTokens)} rank-hours`
      : `$${best.costPerMillionTokens.toFixed(2)}`;
  const power = best.watts === null ? '' : `, ${formatWatts(best.watts)}`;
  return [
    ...lines,
    `      ${cost}${bar('costPerMillionTokens')} for a million output tokens${power}`,
    `      Bars hold for nine published figures of ten; what adds most: ${best.errorFrom}`,
  ];
}

function table(layouts: readonly PlannedLayout[]): string[] {
  const rows = layouts.map((one) => [
    one.layout,
    one.serving,
    String(one.ranks),
    String(one.sequencesPerGroup),
    time(one.ttftNs),
    time(one.tpotNs),
    fixed(one.tokensPerSecPerRank),
    one.memoryBytesPerRank === null ? '-' : formatBytes(one.memoryBytesPerRank),
    one.costPerMillionTokens === null ? '-' : `$${one.costPerMillionTokens.toFixed(2)}`,
    one.fleet === null ? '-' : String(one.fleet.ranks),
    one.simulated !== null ? 'simulated' : one.refined ? 'refined' : 'bound',
  ]);
  const heads = [
    'layout',
    'serving',
    'ranks',
    'batch',
    'TTFT',
    'TPOT',
    'tok/s/rank',
    'memory',
    '$/M',
    'fleet',
    '',
  ];
  const all = [heads, ...rows];
  const widths = heads.map((_, i) => Math.max(...all.map((row) => row[i].length)));
  return all.map((row) =>
    row
      .map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('  ')
      .trimEnd(),
  );
}

function detailText({ memory, step, stepNs, notes, sensitivity, underLoad }: PlanDetail): string[] {
  const weights = Object.entries(memory.weights).map(([name, bytes]) => [name, bytes ?? 0] as const);
  const others = (
    ['redundantExperts', 'cache', 'recurrent', 'conv', 'activations', 'dispatchBuffers', 'reserve'] as const
  ).map((name) => [name, memory[name]] as const);
  const parts = [...weights, ...others].filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]);
  const steps = Object.entries(step).filter(([, ns]) => ns > 0);
  return [
    `Memory of the fullest rank: ${formatBytes(memory.total)} of ${formatBytes(memory.usableBytes)}`,
    `  ${parts.map(([name, bytes]) => `${name} ${formatBytes(bytes)}`).join(', ')}`,
    `Decode step: ${formatNs(stepNs)}; what overlaps counts in full below`,
    `  ${steps.map(([name, ns]) => `${name} ${formatNs(ns)}`).join(', ')}`,
    `Under ${fixed(underLoad.ratePerSec)} requests/s on ${underLoad.fleet.decodeInstances} + ${underLoad.fleet.prefillInstances} instances, ${underLoad.requests} Poisson arrivals, ${percent(underLoad.slotFraction)} of decode slots in use:`,
    `  TTFT ${quantilesText(underLoad.ttftNs)}; TPOT ${quantilesText(underLoad.tpotNs)}`,
    ...notes,
    ...(sensitivity.length === 0
      ? []
      : [
          'A tenth more of an input moves tokens/s per rank by:',
          `  ${sensitivity.map(({ input, effect }) => `${input} ${effect === null ? 'infeasible' : signed(effect)}`).join(', ')}`,
        ]),
  ];
}

function closest({ closest: near, layouts }: CapacityPlan): string[] {
  if (near === null)
    return ['No layout can be tried: no number of ranks within the limits holds an expert rank.'];
  const one = layouts.find((layout) => layout.layout === near.layout);
  return [
    'No layout meets the objectives.',
    `Closest: ${near.layout}${one === undefined ? '' : ` on ${plural(one.ranks, 'rank')}, ${one.serving}: ${one.why}`}`,
    `It is enough to allow: ${near.allow.join(', ')}`,
  ];
}

/** Reasons with their numbers left out, the most frequent first, each with its least bad example. */
function fellOut({ layouts }: CapacityPlan): string[] {
  const groups = new Map<string, PlannedLayout[]>();
  for (const layout of layouts) {
    if (layout.feasible) continue;
    const kind = (layout.why ?? '').replace(/[\d.]+/g, '#');
    groups.set(kind, [...(groups.get(kind) ?? []), layout]);
  }
  if (groups.size === 0) return [];
  const sorted = [...groups.values()].sort((a, b) => b.length - a.length);
  return [
    'Why the rest fell out:',
    ...sorted.slice(0, MOST_REASONS).map((group) => {
      const [first] = group;
      const change = first.change === undefined ? '' : `; nearest: ${first.change}`;
      return `  ${group.length} x, such as ${first.layout} on ${plural(first.ranks, 'rank')}, ${first.serving}: ${first.why}${change}`;
    }),
    '',
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

function quantilesText({ p50, p90, p99 }: UnderLoad['ttftNs']): string {
  return `p50 ${formatNs(p50)}, p90 ${formatNs(p90)}, p99 ${formatNs(p99)}`;
}

const parameters = (count: number) =>
  count < 1e12 ? `${(count / 1e9).toFixed(1)} B` : `${(count / 1e12).toFixed(2)} T`;
const time = (ns: number | null) => (ns === null ? '-' : formatNs(ns));
const percent = (fraction: number) => `${Number((100 * fraction).toPrecision(3))} %`;
const signed = (fraction: number) => `${fraction >= 0 ? '+' : ''}${(100 * fraction).toFixed(1)} %`;
const fixed = (value: number | null) => (value === null ? '-' : String(Number(value.toPrecision(3))));
