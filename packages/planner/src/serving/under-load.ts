/**
 * A planned layout under its load: quantiles of the time to the first token and between tokens, and the smallest
 * fleet that holds an objective on a quantile.
 * One idea: start from the fleet that the mean rate needs and add the kind of instance whose objective is missed.
 */
import { type Fleet, instancesFor } from '../economics.js';
import { grown, MOST_GROWTH } from '../feeds.js';
import { layoutRanks } from '../layout.js';
import { longestTpotNs } from '../objectives.js';
import { heldUnderLoad } from '../pools.js';
import type { Evaluated, Search } from '../search.js';
import { type QueueFleet, quantileOf, simulatePrompts, simulateQueue, WARM_UP } from './queue.js';
import { type RequestStream, requestStream, requestsFor } from './requests.js';
import { serviceTimes } from './service-times.js';

/** Load of the decode instance where no rate is asked. */
export const LOAD_WITHOUT_RATE = 0.8;
/** Requests that are simulated: many times the slots, so that filling and emptying them is a small part. */
const LEAST_REQUESTS = 4000;
const REQUESTS_PER_SLOT = 12;
const MOST_REQUESTS = 60_000;
/** More than any prompts that wait together. */
const MOST_TOKENS = Number.MAX_SAFE_INTEGER;

export interface UnderLoad {
  readonly ratePerSec: number;
  readonly fleet: Fleet;
  readonly ttftNs: Quantiles;
  readonly tpotNs: Quantiles;
  readonly slotFraction: number;
  readonly requests: number;
  /** True when the quantiles hold the objectives; null where objectives are not held under load, or were not sought further. */
  readonly holds: boolean | null;
}

export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** The quantile that objectives are held to; the median where none is. */
  readonly asked: number;
}

/**
 * Simulates the fleet of a layout, grown until it holds the objectives under load, is twice the size, or has as many
 * ranks as another that holds them.
 */
export function underLoad(
  one: Evaluated,
  on: Search,
  mostRanks: number = Number.POSITIVE_INFINITY,
): UnderLoad {
  const { pools, step } = on;
  const { requests, objectives } = pools.plan;
  const { decode, prefill, economics } = one;
  const ratePerSec = economics.fleet?.ratePerSec ?? LOAD_WITHOUT_RATE * decode.requestsPerSec;
  const least = {
    decode: economics.fleet?.decodeInstances ?? 1,
    prefill: prefill === null ? 0 : (economics.fleet?.prefillInstances ?? instancesFor(ratePerSec, prefill)),
  };
  const times = timesOf(one, on);
  const asked = objectives.quantile ?? 0.5;
  const streamAt = (count: number, rate: number) =>
    requestStream({ ...requests, seed: step.scenario.seed, count, ratePerSec: rate });
  const at = (decodeInstances: number, prefillInstances: number) => {
    const fleet = { ...times, decodeInstances, prefillInstances };
    return measured(fleetTimes(fleet, ratePerSec, asked, streamAt), fleet, one, ratePerSec, asked);
  };
  let [decodes, prefills] = [least.decode, least.prefill];
  let found = at(decodes, prefills);
  if (!heldUnderLoad(pools.plan)) return { ...found, holds: null };
  const tpotLimit = longestTpotNs(pools.plan);
  for (;;) {
    const late = found.ttftNs.asked > (objectives.ttftNs ?? Number.POSITIVE_INFINITY);
    const slow = found.tpotNs.asked > tpotLimit;
    if (!late && !slow) return { ...found, holds: true };
    if (late && prefill !== null) prefills = grown(prefills, least.prefill);
    if (slow || prefill === null) decodes = grown(decodes, least.decode);
    if (found.fleet.ranks >= mostRanks) return { ...found, holds: null };
    if (decodes > MOST_GROWTH * least.decode + 1 || prefills > MOST_GROWTH * least.prefill + 1) {
      return { ...found, holds: false };
    }
    found = at(decodes, prefills);
  }
}

function timesOf(one: Evaluated, { pools }: Search) {
  const { layout, decode, prefill } = one;
  const { chunkTokens } = pools.plan.engine;
  return {
    decode: serviceTimes(pools, layout, decode.overlap, decode.sequences, chunkTokens, one.fidelity),
    prefill:
      prefill === null
        ? null
        : serviceTimes(pools, prefill.layout, prefill.overlap, 1, prefill.chunkTokens, 'refined'),
    transferNs: prefill === null ? 0 : pools.transferNs(prefill.layout),
  };
}

/** What requests see, those of the warm-up left out. */
interface Seen {
  readonly ttftNs: Float64Array;
  readonly tpotNs: Float64Array;
  readonly slotFraction: number;
  readonly requests: number;
}

const steady = (values: Float64Array) => values.subarray(Math.floor(WARM_UP * values.length));

/**
 * Simulates a fleet. Where filling it would take too many requests, each half is simulated by itself, as many of its
 * instances as can be filled, at their share of the rate.
 */
function fleetTimes(
  fleet: QueueFleet,
  ratePerSec: number,
  asked: number,
  streamAt: (count: number, ratePerSec: number) => RequestStream,
): Seen {
  const { decode, decodeInstances, prefill, prefillInstances } = fleet;
  const wanted = REQUESTS_PER_SLOT * decode.slots * decodeInstances;
  const count = Math.min(MOST_REQUESTS, Math.max(LEAST_REQUESTS, requestsFor(asked), wanted));
  const some = Math.max(1, Math.floor((decodeInstances * count) / Math.max(count, wanted)));
  const stream = streamAt(count, (ratePerSec * some) / decodeInstances);
  if (some === decodeInstances || prefill === null) {
    const { ttftNs, tpotNs, slotFraction } = simulateQueue(stream, { ...fleet, decodeInstances: some });
    return { ttftNs: steady(ttftNs), tpotNs: steady(tpotNs), slotFraction, requests: count };
  }
  const instant = { ...prefill, groups: 1, chunkTokens: MOST_TOKENS, chunkNs: () => 0, nextChunkNs: () => 0 };
  const decoded = simulateQueue(stream, {
    ...fleet,
    decodeInstances: some,
    prefill: instant,
    prefillInstances: 1,
  });
  const feeding = Math.min(prefillInstances, some);
  const prompts = streamAt(count, (ratePerSec * feeding) / prefillInstances);
  const ttftNs = simulatePrompts(prompts, prefill, feeding, fleet.transferNs);
  const { tpotNs, slotFraction } = decoded;
  return { ttftNs: steady(ttftNs), tpotNs: steady(tpotNs), slotFraction, requests: count };
}

function measured(
  { ttftNs, tpotNs, slotFraction, requests }: Seen,
  { decodeInstances, prefillInstances }: QueueFleet,
  one: Evaluated,
  ratePerSec: number,
  asked: number,
) {
  const ranks =
    decodeInstances * layoutRanks(one.layout) +
    prefillInstances * (one.prefill === null ? 0 : layoutRanks(one.prefill.layout));
  return {
    ratePerSec,
    fleet: { decodeInstances, prefillInstances, ranks, ratePerSec },
    ttftNs: quantiles(ttftNs, asked),
    tpotNs: quantiles(tpotNs, asked),
    ...{ slotFraction, requests },
  };
}

function quantiles(values: Float64Array, asked: number): Quantiles {
  const at = (q: number) => quantileOf(values, q);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), asked: at(asked) };
}
