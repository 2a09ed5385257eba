/**
 * A planned layout under its load: quantiles of the time to the first token and between tokens, and the smallest
 * fleet that holds an objective on a quantile.
 * One idea: start from the fleet that the mean rate needs and add the kind of instance whose objective is missed.
 */
import { type Fleet, instancesFor } from '../economics.js';
import { MOST_GROWTH } from '../feeds.js';
import { layoutRanks } from '../layout.js';
import { longestTpotNs } from '../objectives.js';
import { heldUnderLoad } from '../pools.js';
import type { Evaluated, Search } from '../search.js';
import { type QueueFleet, quantileOf, simulateQueue, WARM_UP } from './queue.js';
import { type RequestStream, requestStream } from './requests.js';
import { serviceTimes } from './service-times.js';

/** Load of the decode instance where no rate is asked. */
export const LOAD_WITHOUT_RATE = 0.8;
/** Requests that are simulated: many times the slots, so that filling and emptying them is a small part. */
const LEAST_REQUESTS = 4000;
const REQUESTS_PER_SLOT = 12;
const MOST_REQUESTS = 60_000;

export interface UnderLoad {
  readonly ratePerSec: number;
  readonly fleet: Fleet;
  readonly ttftNs: Quantiles;
  readonly tpotNs: Quantiles;
  readonly slotFraction: number;
  readonly requests: number;
  /** True when the quantiles hold the objectives; null where objectives are not held under load. */
  readonly holds: boolean | null;
}

export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** The quantile that objectives are held to; the median where none is. */
  readonly asked: number;
}

/** Simulates the fleet of a layout, grown until it holds the objectives on a quantile or is twice the size. */
export function underLoad(one: Evaluated, on: Search): UnderLoad {
  const { pools, step } = on;
  const { requests, objectives } = pools.plan;
  const { decode, prefill, economics } = one;
  const ratePerSec = economics.fleet?.ratePerSec ?? LOAD_WITHOUT_RATE * decode.requestsPerSec;
  const least = {
    decode: economics.fleet?.decodeInstances ?? 1,
    prefill: prefill === null ? 0 : (economics.fleet?.prefillInstances ?? instancesFor(ratePerSec, prefill)),
  };
  const times = timesOf(one, on);
  const wanted = REQUESTS_PER_SLOT * times.decode.slots * least.decode;
  const count = Math.min(MOST_REQUESTS, Math.max(LEAST_REQUESTS, wanted));
  const stream = requestStream({ ...requests, seed: step.scenario.seed, count, ratePerSec });
  const at = (decodeInstances: number, prefillInstances: number) =>
    measured(stream, { ...times, decodeInstances, prefillInstances }, one, objectives.quantile ?? 0.5);
  let [decodes, prefills] = [least.decode, least.prefill];
  let found = at(decodes, prefills);
  if (!heldUnderLoad(pools.plan)) return { ...found, holds: null };
  const tpotLimit = longestTpotNs(pools.plan);
  for (;;) {
    const late = found.ttftNs.asked > (objectives.ttftNs ?? Number.POSITIVE_INFINITY);
    const slow = found.tpotNs.asked > tpotLimit;
    if (!late && !slow) return { ...found, holds: true };
    if (late && prefill !== null) prefills++;
    if (slow || prefill === null) decodes++;
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

function measured(stream: RequestStream, fleet: QueueFleet, one: Evaluated, asked: number) {
  const { ratePerSec } = stream;
  const result = simulateQueue(stream, fleet);
  const from = Math.floor(WARM_UP * stream.count);
  const ttft = result.ttftNs.subarray(from);
  const tpot = result.tpotNs.subarray(from);
  const { decodeInstances, prefillInstances } = fleet;
  const ranks =
    decodeInstances * layoutRanks(one.layout) +
    prefillInstances * (one.prefill === null ? 0 : layoutRanks(one.prefill.layout));
  return {
    ratePerSec,
    fleet: { decodeInstances, prefillInstances, ranks, ratePerSec },
    ttftNs: quantiles(ttft, asked),
    tpotNs: quantiles(tpot, asked),
    slotFraction: result.slotFraction,
    requests: stream.count,
  };
}

function quantiles(values: Float64Array, asked: number): Quantiles {
  const at = (q: number) => quantileOf(values, q);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), asked: at(asked) };
}
