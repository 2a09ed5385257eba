/** Where the points of a sweep or comparison are measured: here, one after another, or by the workers of a cluster. */
import type { Measured } from '@epsim/engine';
import type { Scenario } from '@epsim/spec';
import { Interrupted } from './failure.js';
import { measurePoint } from './measure-point.js';
import { version } from './version.js';

export interface Measuring {
  /** Throws Interrupted when the signal aborts. `onRecord` is called as often as the scenario has records. */
  measure(
    scenario: Scenario,
    readFile: (path: string) => Uint8Array,
    signal: AbortSignal,
    onRecord?: () => void,
  ): Promise<Measured>;
  /** How many are worth measuring at a time, now. */
  width(): Promise<number>;
  close(): Promise<void>;
}

export interface MeasuringOptions {
  /** Address of Redis; absent, points are measured here. */
  readonly redis: string | undefined;
  readonly name: string;
  /** Longest wait for Redis or a worker, and for one point. */
  readonly patienceMs: number;
  readonly pointMs: number;
  readonly note: (text: string) => void;
}

export async function openMeasuring(options: MeasuringOptions): Promise<Measuring> {
  const { redis, name, patienceMs, pointMs, note } = options;
  if (redis === undefined) return { measure: measurePoint, width: async () => 1, close: async () => {} };
  const { openPoints } = await import('@epsim/cluster');
  const points = await openPoints({ url: redis, name, version, patienceMs, phaseMs: pointMs, note });
  return {
    width: () => points.width(),
    close: () => points.close(),
    async measure(scenario, readFile, signal, onRecord) {
      const measured = await unlessAborted(points.measure(scenario, readFile), signal);
      for (const _ of measured.records) onRecord?.();
      return measured;
    },
  };
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new Interrupted('interrupted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Works on all items in order, at most `width()` at a time. The first failure ends it; nothing new is begun then. */
export async function inParallel<T>(
  items: readonly T[],
  width: () => Promise<number>,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { readonly thrown: unknown } | null = null;
  for (const [index, item] of items.entries()) {
    while (running.size >= (await width())) await Promise.race(running);
    if (failure) break;
    const one: Promise<void> = work(item, index)
      .catch((thrown: unknown) => {
        failure ??= { thrown };
      })
      .finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  if (failure) throw (failure as { readonly thrown: unknown }).thrown;
}
