/**
 * A summary as tables of named figures: field name, value with its unit, and what the field means.
 * One idea: names and meanings come from the definition of `summary.json` itself, so no figure is shown
 * under a name that the file does not use.
 */
import { type Summary, summarySchema } from '@epsim/results';
import { formatValue, type Unit } from './page/format.js';

export interface Row {
  /** Field of `summary.json`, such as `load.maxOverMean`. */
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export interface Table {
  readonly title: string;
  readonly rows: readonly Row[];
}

const { shape } = summarySchema;

const imbalanceUnits = {
  maxOverMean: 'ratio',
  meanOverMax: 'ratio',
  maxMinusMeanOverMean: 'ratio',
  cv: 'ratio',
  gini: 'ratio',
  entropy: 'ratio',
} as const;

/** Every figure of `summary` but the phases of time, which `phaseRows` gives with their sources. */
export function summaryTables(summary: Summary): Table[] {
  return [...timedTables(summary), ...measuredTables(summary), ...baselineTables(summary)];
}

function measuredTables(summary: Summary): Table[] {
  return [
    table('Load over experts', 'load', summary.load, shape.load.shape, {
      tokensPerExpert: 'count',
      ...imbalanceUnits,
      maxVio: 'ratio',
      maxVioFloor: 'ratio',
      starvedExperts: 'count',
      neverChosen: 'count',
    }),
    table('Load over ranks', 'ranks', summary.ranks, shape.ranks.shape, {
      tokensPerRank: 'count',
      ...imbalanceUnits,
      activatedExperts: 'count',
    }),
    table('Bytes', 'bytes', summary.bytes, shape.bytes.shape, {
      dispatch: 'bytes',
      combine: 'bytes',
      scaleUp: 'bytes',
      scaleOut: 'bytes',
      local: 'bytes',
      perToken: 'bytes',
      dedupRatio: 'ratio',
    }),
    table('Routing', 'routing', summary.routing, shape.routing.shape, {
      dropped: 'count',
      droppedFraction: 'fraction',
      scoreRetention: 'ratio',
      changedChoices: 'fraction',
      biasDrift: 'ratio',
    }),
    table('Moves of experts', 'moves', summary.moves, shape.moves.shape, {
      slots: 'count',
      bytes: 'bytes',
      ns: 'ns',
    }),
    table('Carried', 'carried', summary.carried, shape.carried.shape, {
      tokens: 'count',
      layerSteps: 'count',
      checkedLayerSteps: 'count',
      workers: 'count',
      receivedBytes: 'bytes',
      maxAbsError: 'ratio',
      maxRelError: 'ratio',
      expertInnerSize: 'count',
      fullExpertInnerSize: 'count',
    }),
    table('Run', 'tokens', summary.tokens, shape.tokens.shape, {
      total: 'count',
      padded: 'count',
      perStep: 'count',
    }),
  ];
}

function baselineTables({ baseline }: Summary): Table[] {
  if (baseline === null) return [];
  const { shape: fields } = shape.baseline.unwrap();
  return [
    table(`Baseline: ${baseline.policy} on the same tokens`, 'baseline', baseline, fields, { stepNs: 'ns' }),
    table('Baseline load over experts', 'baseline.load', baseline.load, fields.load.shape, {
      maxVio: 'ratio',
      lastStepMaxVio: 'ratio',
      ...imbalanceUnits,
    }),
    table('Baseline load over ranks', 'baseline.ranks', baseline.ranks, fields.ranks.shape, imbalanceUnits),
  ];
}

function timedTables({ timed }: Summary): Table[] {
  if (timed === null) return [];
  return [
    table('Time', 'timed', timed, shape.timed.unwrap().shape, {
      stepNs: 'ns',
      tokensPerSecPerRank: 'perSec',
      stragglerIdleFraction: 'fraction',
      relErrorBar: 'fraction',
      unscoredFraction: 'fraction',
    }),
  ];
}

export interface PhaseRow {
  readonly phase: string;
  readonly ns: number;
  /** Share of the sum of all phases. */
  readonly share: number;
  readonly provenance: string;
  readonly source: string;
  readonly relErrorBar: number | null;
}

/** Phases of a step in the order in which they were recorded; empty when nothing was timed. */
export function phaseRows({ timed }: Summary): PhaseRow[] {
  if (timed === null) return [];
  const sum = Object.values(timed.phases).reduce((a, b) => a + b, 0);
  return Object.entries(timed.phases).map(([phase, ns]) => ({
    phase,
    ns,
    share: sum === 0 ? 0 : ns / sum,
    provenance: timed.sources[phase].provenance,
    source: timed.sources[phase].source,
    relErrorBar: timed.sources[phase].relErrorBar,
  }));
}

/** "± 8 %", or that nobody has measured the error. */
export function errorBar(relErrorBar: number | null): string {
  return relErrorBar === null ? 'error not measured' : `± ${formatValue(relErrorBar, 'fraction')}`;
}

function table<K extends string>(
  title: string,
  path: string,
  values: Readonly<Record<K, unknown>>,
  shape: Readonly<Record<K, { readonly description?: string | undefined }>>,
  units: { readonly [key in K]?: Unit },
): Table {
  const keys = Object.keys(units) as K[];
  return {
    title,
    rows: keys.map((key) => ({
      name: `${path}.${key}`,
      value: show(values[key], units[key] ?? 'count'),
      meaning: shape[key].description ?? '',
    })),
  };
}

function show(value: unknown, unit: Unit): string {
  if (typeof value === 'number' || value === null) return formatValue(value, unit);
  const { min, mean, max } = value as { min: number; mean: number; max: number };
  return [min, mean, max].map((part) => formatValue(part, unit)).join(' / ');
}
