/**
 * A queue of requests on a fleet: arrivals, prompts computed in chunks, continuous batching of decode steps.
 * One idea: a step is the unit of time, and a request leaves at a step that is known when it enters, so a step
 * costs the same however many sequences it advances.
 * Knows step times by size; nothing of layouts. Sequences are spread evenly over instances and attention groups.
 */
import type { RequestStream } from './requests.js';
import type { ServiceTimes } from './service-times.js';

export interface QueueFleet {
  readonly decode: ServiceTimes;
  readonly decodeInstances: number;
  /** Instances of their own for prompts; null where decode instances compute them between steps. */
  readonly prefill: ServiceTimes | null;
  readonly prefillInstances: number;
  /** From the end of a prompt to where it is decoded. */
  readonly transferNs: number;
}

/** Share of requests at the start that see a fleet which is still filling: no part of what is measured. */
export const WARM_UP = 0.25;

/** What each request saw, ns, in order of arrival. */
export interface QueueResult {
  /** From arrival to the first token, its transfer to a decode instance included. */
  readonly ttftNs: Float64Array;
  /** Mean time between the tokens of a request after its first; 0 for answers of one token. */
  readonly tpotNs: Float64Array;
  readonly endNs: number;
  readonly outputTokens: number;
  /** Share of the decode slots in use while the fleet is neither filling nor emptying: after `WARM_UP`, until the last arrival. */
  readonly slotFraction: number;
}

/** Instances of one stream: who is measured when, and what each request saw so far. */
interface Run {
  readonly stream: RequestStream;
  readonly steady: readonly [fromNs: number, toNs: number];
  readonly firstNs: Float64Array;
  readonly lastNs: Float64Array;
}

/** Runs a stream to its end. Each request is served; a fleet that is too small only makes them wait. */
export function simulateQueue(stream: RequestStream, fleet: QueueFleet): QueueResult {
  const { count, arrivalNs } = stream;
  const run: Run = {
    stream,
    steady: [arrivalNs[Math.floor(WARM_UP * count)], arrivalNs[count - 1]],
    firstNs: new Float64Array(count),
    lastNs: new Float64Array(count),
  };
  let usedNs = 0;
  if (fleet.prefill !== null) {
    prefillAll(run, fleet.prefill, fleet.prefillInstances);
    for (let i = 0; i < count; i++) run.firstNs[i] += fleet.transferNs;
    for (const { order, ready } of dealt(run.firstNs, fleet.decodeInstances)) {
      usedNs += decodeAll(run, fleet.decode, order, ready);
    }
  } else {
    for (const { order } of dealt(arrivalNs, fleet.decodeInstances)) {
      usedNs += mixedAll(run, fleet.decode, order);
    }
  }
  return resultOf(run, usedNs / fleet.decodeInstances);
}

/** Time to the first token of every request on instances that only compute prompts, ns, in order of arrival. */
export function simulatePrompts(
  stream: RequestStream,
  times: ServiceTimes,
  instances: number,
  transferNs: number,
): Float64Array {
  const firstNs = new Float64Array(stream.count);
  prefillAll({ stream, firstNs }, times, instances);
  return firstNs.map((ns, i) => ns + transferNs - stream.arrivalNs[i]);
}

function resultOf({ stream, steady, firstNs, lastNs }: Run, usedNs: number): QueueResult {
  const { count, arrivalNs, outputTokens } = stream;
  const ttftNs = new Float64Array(count);
  const tpotNs = new Float64Array(count);
  let endNs = 0;
  let tokens = 0;
  for (let i = 0; i < count; i++) {
    ttftNs[i] = firstNs[i] - arrivalNs[i];
    tpotNs[i] = outputTokens[i] > 1 ? (lastNs[i] - firstNs[i]) / (outputTokens[i] - 1) : 0;
    endNs = Math.max(endNs, lastNs[i], firstNs[i]);
    tokens += outputTokens[i];
  }
  const steadyNs = steady[1] - steady[0];
  return { ttftNs, tpotNs, endNs, outputTokens: tokens, slotFraction: steadyNs > 0 ? usedNs / steadyNs : 0 };
}

/** The part of `ns` from `now` on that is measured. */
function within([from, to]: Run['steady'], now: number, ns: number): number {
  return Math.max(0, Math.min(now + ns, to) - Math.max(now, from));
}

/** Requests in order of readiness, dealt to instances in turn; those that none reaches are left out. */
function dealt(readyNs: Float64Array, instances: number): { order: Int32Array; ready: Float64Array }[] {
  const order = Int32Array.from(readyNs.keys()).sort((a, b) => readyNs[a] - readyNs[b] || a - b);
  return Array.from({ length: Math.min(instances, order.length) }, (_, instance) => {
    const own = Int32Array.from(
      { length: Math.ceil((order.length - instance) / instances) },
      (_id, turn) => order[instance + turn * instances],
    );
    return { order: own, ready: Float64Array.from(own, (id) => readyNs[id]) };
  });
}

/** Instances that only compute prompts, a chunk on every group at a time; writes when each prompt is done. */
function prefillAll(
  { stream, firstNs }: Pick<Run, 'stream' | 'firstNs'>,
  times: ServiceTimes,
  instances: number,
): void {
  for (const { order } of dealt(stream.arrivalNs, instances)) {
    const desk = promptDesk(stream, times, order);
    let now = 0;
    while (desk.waiting()) {
      now = Math.max(now, desk.nextArrivalNs());
      const finished: number[] = [];
      const tokens = desk.step(now, Number.POSITIVE_INFINITY, finished);
      for (const id of finished) firstNs[id] = now + times.chunkNs(tokens);
      now += times.nextChunkNs(tokens);
    }
  }
}

/** Requests by the step after which they leave. */
interface Leaving {
  add(step: number, id: number): void;
  /** Calls `each` for requests that leave after `step`. */
  at(step: number, each: (id: number) => void): void;
}

function leaving(): Leaving {
  const byStep = new Map<number, number[]>();
  return {
    add(step, id) {
      const list = byStep.get(step);
      if (list === undefined) byStep.set(step, [id]);
      else list.push(id);
    },
    at(step, each) {
      const list = byStep.get(step);
      if (list === undefined) return;
      byStep.delete(step);
      for (const id of list) each(id);
    },
  };
}

/** Steps that the tokens after the first take. */
function stepsFor(outputTokens: number, tokensPerStep: number): number {
  return Math.ceil((outputTokens - 1) / tokensPerStep);
}

/** One instance that only decodes; returns the measured time that its slots were in use, as a share of all of them, ns. */
function decodeAll(
  { stream, steady, lastNs }: Run,
  times: ServiceTimes,
  order: Int32Array,
  ready: Float64Array,
): number {
  const gone = leaving();
  let [now, used, active, step, next] = [0, 0, 0, 0, 0];
  while (next < order.length || active > 0) {
    if (active === 0 && next < order.length) now = Math.max(now, ready[next]);
    while (next < order.length && ready[next] <= now && active < times.slots) {
      const id = order[next++];
      const steps = stepsFor(stream.outputTokens[id], times.tokensPerStep);
      lastNs[id] = now;
      if (steps === 0) continue;
      gone.add(step + steps - 1, id);
      active++;
    }
    if (active === 0) continue;
    const ns = times.decodeNs(Math.ceil(active / times.groups));
    used += (within(steady, now, ns) * active) / times.slots;
    now += ns;
    gone.at(step++, (id) => {
      lastNs[id] = now;
      active--;
    });
  }
  return used;
}

/** Prompts that an instance has begun, dealt to its attention groups; each group computes a chunk a step. */
function promptDesk({ promptTokens, arrivalNs }: RequestStream, times: ServiceTimes, order: Int32Array) {
  const left = Int32Array.from(order, (id) => promptTokens[id]);
  const loads = new Float64Array(times.groups);
  let open: number[] = [];
  let next = 0;
  return {
    waiting: () => open.length > 0 || next < order.length,
    /** When there is something to compute: 0 for now, Infinity for never again. */
    nextArrivalNs() {
      if (open.length > 0) return 0;
      return next < order.length ? arrivalNs[order[next]] : Number.POSITIVE_INFINITY;
    },
    /** Computes a chunk on every group; returns tokens of the fullest group. Finished requests go to `finished`. */
    step(now: number, freeSlots: number, finished: number[]): number {
      while (next < order.length && arrivalNs[order[next]] <= now && open.length < freeSlots)
        open.push(next++);
      loads.fill(0);
      open = open.filter((place, i) => {
        const group = i % times.groups;
        const part = Math.min(left[place], times.chunkTokens - loads[group]);
        loads[group] += part;
        left[place] -= part;
        if (left[place] > 0) return true;
        finished.push(order[place]);
        return false;
      });
      let most = 0;
      for (const load of loads) if (load > most) most = load;
      return most;
    },
  };
}

/** One instance that computes a chunk of waiting prompts beside each decode step; returns what `decodeAll` does. */
function mixedAll({ stream, steady, firstNs, lastNs }: Run, times: ServiceTimes, order: Int32Array): number {
  const gone = leaving();
  const desk = promptDesk(stream, times, order);
  /** Prompts that are on their way through later stages. */
  let emerging: number[] = [];
  let [now, used, active, step] = [0, 0, 0, 0];
  while (desk.waiting() || active > 0 || emerging.length > 0) {
    if (active === 0) {
      const arrival = emerging.length < times.slots ? desk.nextArrivalNs() : Number.POSITIVE_INFINITY;
      const soonest = emerging.reduce((least, id) => Math.min(least, firstNs[id]), arrival);
      now = Math.max(now, soonest);
    }
    emerging = emerging.filter((id) => {
      if (firstNs[id] > now) return true;
      lastNs[id] = firstNs[id];
      const steps = stepsFor(stream.outputTokens[id], times.tokensPerStep);
      if (steps === 0) return false;
      gone.add(step + steps - 1, id);
      active++;
      return false;
    });
    const finished: number[] = [];
    const tokens = desk.step(now, times.slots - active - emerging.length, finished);
    const decodeNs = active === 0 ? 0 : times.decodeNs(Math.ceil(active / times.groups));
    for (const id of finished) {
      firstNs[id] = now + decodeNs + times.chunkNs(tokens);
      emerging.push(id);
    }
    const ns = decodeNs + (tokens === 0 ? 0 : times.nextChunkNs(tokens));
    used += (within(steady, now, ns) * active) / times.slots;
    now += ns;
    if (active === 0) continue;
    gone.at(step++, (id) => {
      lastNs[id] = now;
      active--;
    });
  }
  return used;
}

/** The q-quantile of a sample, linear between its order statistics. */
export function quantileOf(values: Float64Array, q: number): number {
  const sorted = values.slice().sort();
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}
