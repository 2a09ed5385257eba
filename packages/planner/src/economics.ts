/**
 * What a rate of requests takes in accelerators, money and power.
 * One idea: instances come whole, so a fleet is a ceiling; without a rate, shares of instances are priced.
 */
import type { PlanRequest, Scenario } from '@epsim/spec';

/** Share of an instance's rate that a fleet counts on: at full load, requests would wait without end. */
export const FLEET_LOAD = 0.85;

/** A pool as far as money is concerned. */
export interface PoolSize {
  readonly ranks: number;
  readonly requestsPerSec: number;
  /** Instances that a queue was found to need at the asked rate, where that is known. */
  readonly instances?: number | undefined;
}

export interface Fleet {
  readonly decodeInstances: number;
  readonly prefillInstances: number;
  readonly ranks: number;
  /** Requests per second that the fleet is for. */
  readonly ratePerSec: number;
}

export interface Economics {
  /** Output tokens per second over all ranks, those of prefill included. */
  readonly tokensPerSecPerRank: number;
  /** Null where no rate and no number of users is asked. */
  readonly fleet: Fleet | null;
  /** US dollars; null where nobody said what a rank costs. */
  readonly costPerMillionTokens: number | null;
  /** Hours of one accelerator that a million output tokens take. */
  readonly rankHoursPerMillionTokens: number;
  /** Of the fleet's accelerators at their rated power, or of one decode instance and its share of prefill. */
  readonly watts: number | null;
}

/** Rate that the plan asks for: its own, or what `users` at a time come to at these latencies; null for none. */
export function askedRate({ requests }: PlanRequest, ttftNs: number, tpotNs: number): number | null {
  if (requests.ratePerSec !== null) return requests.ratePerSec;
  if (requests.users === null) return null;
  return (1e9 * requests.users) / (ttftNs + requests.outputTokens * tpotNs);
}

/** Prices of `decode` fed by `prefill`, which is null where one pool does both. */
export function economicsOf(
  scenario: Scenario,
  plan: PlanRequest,
  decode: PoolSize,
  prefill: PoolSize | null,
  ratePerSec: number | null,
): Economics {
  const { device, dollarsPerHour } = scenario.cluster;
  const dollars = plan.dollarsPerHour ?? dollarsPerHour ?? null;
  const { outputTokens } = plan.requests;
  const share = prefill === null ? 0 : (prefill.ranks * decode.requestsPerSec) / prefill.requestsPerSec;
  const fleet = ratePerSec === null ? null : fleetOf(decode, prefill, ratePerSec);
  const ranks = fleet?.ranks ?? decode.ranks + share;
  const tokensPerSec = (fleet?.ratePerSec ?? decode.requestsPerSec) * outputTokens;
  const rankHours = (1e6 * ranks) / tokensPerSec / 3600;
  return {
    tokensPerSecPerRank: (decode.requestsPerSec * outputTokens) / (decode.ranks + share),
    fleet,
    rankHoursPerMillionTokens: rankHours,
    costPerMillionTokens: dollars === null ? null : dollars * rankHours,
    watts: device.watts === undefined ? null : device.watts * ranks,
  };
}

function fleetOf(decode: PoolSize, prefill: PoolSize | null, ratePerSec: number): Fleet {
  const decodeInstances = instancesFor(ratePerSec, decode);
  const prefillInstances = prefill === null ? 0 : (prefill.instances ?? instancesFor(ratePerSec, prefill));
  const ranks = decodeInstances * decode.ranks + prefillInstances * (prefill?.ranks ?? 0);
  return { decodeInstances, prefillInstances, ranks, ratePerSec };
}

/** Whole instances for a rate, each loaded to `FLEET_LOAD` at most. */
export function instancesFor(
  ratePerSec: number,
  { requestsPerSec }: Pick<PoolSize, 'requestsPerSec'>,
): number {
  return Math.ceil(ratePerSec / (FLEET_LOAD * requestsPerSec));
}
