/**
 * What a layout misses and by how much, in the words of a planner.
 * One idea: a miss is a name, a value and a limit; sentences, order and the closest layout all follow from these.
 */
import { formatNs, formatWatts, type PlanRequest } from '@epsim/spec';

export interface Miss {
  readonly objective:
    | 'memory'
    | 'ttft'
    | 'tpot'
    | 'tokensPerSecPerUser'
    | 'costPerMillionTokens'
    | 'watts'
    | 'fleetRanks';
  readonly value: number;
  readonly limit: number;
  /** How far off: value / limit where small is good, limit / value where large is. Above 1. */
  readonly ratio: number;
  /** Where the value is a quantile of a simulated queue; bounds and figures of full instances otherwise. */
  readonly under?: { readonly quantile: number; readonly ratePerSec: number };
}

/** What a layout was found to do. */
export interface Outcome {
  readonly ttftNs: number;
  readonly tpotNs: number;
  readonly costPerMillionTokens: number | null;
  readonly watts: number | null;
  readonly fleetRanks: number | null;
}

/** Every objective that is missed; those on quantities that are unknown are missed by nobody. */
export function missesOf({ objectives, limits, requests }: PlanRequest, outcome: Outcome): readonly Miss[] {
  const misses: Miss[] = [];
  const atMost = (objective: Miss['objective'], value: number | null, limit: number | null): void => {
    if (value === null || limit === null || value <= limit) return;
    misses.push({ objective, value, limit, ratio: value / limit });
  };
  atMost('ttft', outcome.ttftNs, objectives.ttftNs);
  const single = requests.outputTokens === 1;
  atMost('tpot', outcome.tpotNs, single ? null : objectives.tpotNs);
  const speed = 1e9 / outcome.tpotNs;
  const least = single ? null : objectives.tokensPerSecPerUser;
  if (least !== null && speed < least) {
    misses.push({ objective: 'tokensPerSecPerUser', value: speed, limit: least, ratio: least / speed });
  }
  atMost('costPerMillionTokens', outcome.costPerMillionTokens, objectives.costPerMillionTokens);
  atMost('watts', outcome.watts, objectives.watts);
  atMost('fleetRanks', outcome.fleetRanks, limits.fleetRanks);
  return misses;
}

/** The longest time between tokens that every objective on it allows; Infinity where there is none, as in answers of one token. */
export function longestTpotNs({ objectives, requests }: PlanRequest): number {
  if (requests.outputTokens === 1) return Number.POSITIVE_INFINITY;
  const { tpotNs, tokensPerSecPerUser } = objectives;
  const bySpeed = tokensPerSecPerUser === null ? Number.POSITIVE_INFINITY : 1e9 / tokensPerSecPerUser;
  return Math.min(tpotNs ?? Number.POSITIVE_INFINITY, bySpeed);
}

/** "TPOT 61 ms > 50 ms", "does not fit: 212 GiB of 180". */
export function missText({ objective, value, limit, under }: Miss): string {
  const held = `${formatNs(value)} > ${formatNs(limit)}`;
  if (under !== undefined) {
    const { quantile, ratePerSec } = under;
    return `${objective.toUpperCase()} p${round(100 * quantile)} ${held}, simulated at ${round(ratePerSec)} requests/s`;
  }
  switch (objective) {
    case 'memory':
      return `does not fit: ${gib(value)} GiB of ${gib(limit)}`;
    case 'ttft':
      return `TTFT ${held} for a prompt alone`;
    case 'tpot':
      return `TPOT ${held}`;
    case 'tokensPerSecPerUser':
      return `${round(value)} tokens/s per user < ${round(limit)}`;
    case 'costPerMillionTokens':
      return `$${round(value)} per million tokens > $${round(limit)}`;
    case 'watts':
      return `power ${formatWatts(value)} > ${formatWatts(limit)}`;
    case 'fleetRanks':
      return `fleet of ${value} ranks > ${limit}`;
  }
}

/** What would have to be allowed for this miss to be none. */
export function relaxation({ objective, value, limit }: Miss): string {
  switch (objective) {
    case 'memory':
      return `${Math.ceil((value - limit) / 2 ** 30)} GiB more on each rank`;
    case 'ttft':
    case 'tpot':
      return `${objective}: ${formatNs(upwards(value))}`;
    case 'watts':
      return `power: ${formatWatts(upwards(value))}`;
    case 'tokensPerSecPerUser':
      return `${objective}: ${downwards(value)}`;
    default:
      return `${objective}: ${upwards(value)}`;
  }
}

/** The next value of three digits that is at least `value`. */
function upwards(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.ceil(value / unit) * unit).toPrecision(4));
}

function downwards(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.floor(value / unit) * unit).toPrecision(4));
}

function gib(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(bytes < 2 ** 30 ? 2 : 0);
}

function round(value: number): string {
  return String(Number(value.toPrecision(3)));
}
