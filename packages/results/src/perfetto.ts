/**
 * A timeline as `trace.json`, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 * One idea: a rank is a process, its streams are threads, and everything that is counted over time, such as
 * the rate on a link, is a counter of one further process.
 * Source of the format: "Trace Event Format", Google, events M, X and C; times in microseconds.
 */

/** Something that a stream of a rank does. */
export interface TraceEvent {
  readonly rank: number;
  /** "compute", "network", ...: one row in the viewer. */
  readonly stream: string;
  readonly name: string;
  readonly startNs: number;
  readonly durationNs: number;
}

/** A value over time; each sample holds until the next. */
export interface TraceCounter {
  readonly name: string;
  readonly unit: string;
  readonly samples: readonly { readonly timeNs: number; readonly value: number }[];
}

/**
 * JSON text, equal for equal timelines in any order of events.
 * Throws RangeError when a time is not finite or a duration is negative, and when two events of one stream
 * overlap without one holding the other, which no viewer can draw.
 */
export function perfettoTrace(events: readonly TraceEvent[], counters: readonly TraceCounter[] = []): string {
  const sorted = [...events].sort(inOrder);
  const ranks = [...new Set(events.map((event) => event.rank))].sort((a, b) => a - b);
  const streams = [...new Set(events.map((event) => event.stream))].sort();
  checkNesting(sorted);
  const counterProcess = (ranks[ranks.length - 1] ?? -1) + 1;
  const lines = [
    ...ranks.flatMap((rank) => [
      meta('process_name', rank, 0, { name: `rank ${rank}` }),
      meta('process_sort_index', rank, 0, { sort_index: rank }),
      ...streams.map((name, tid) => meta('thread_name', rank, tid, { name })),
    ]),
    ...(counters.length === 0 ? [] : [meta('process_name', counterProcess, 0, { name: 'links' })]),
    ...sorted.map(({ rank, stream, name, startNs, durationNs }) => ({
      ph: 'X',
      name,
      pid: rank,
      tid: streams.indexOf(stream),
      ts: startNs / 1e3,
      dur: durationNs / 1e3,
    })),
    ...counters.flatMap(({ name, unit, samples }) =>
      samples.map(({ timeNs, value }) => ({
        ph: 'C',
        name,
        pid: counterProcess,
        ts: timeNs / 1e3,
        args: { [unit]: value },
      })),
    ),
  ];
  const text = lines.map((line) => JSON.stringify(line)).join(',\n');
  return `{"displayTimeUnit":"ns","traceEvents":[\n${text}\n]}\n`;
}

function meta(name: string, pid: number, tid: number, args: Readonly<Record<string, string | number>>) {
  return { ph: 'M', name, pid, tid, args };
}

/** By rank, stream and start; of two that start together the longer first, because it holds the other. */
function inOrder(a: TraceEvent, b: TraceEvent): number {
  return (
    a.rank - b.rank ||
    compareText(a.stream, b.stream) ||
    a.startNs - b.startNs ||
    b.durationNs - a.durationNs ||
    compareText(a.name, b.name)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function checkNesting(sorted: readonly TraceEvent[]): void {
  let open: TraceEvent[] = [];
  let row = '';
  for (const event of sorted) {
    if (!Number.isFinite(event.startNs) || !(event.durationNs >= 0 && event.durationNs < Infinity)) {
      throw new RangeError(
        `${placeOf(event)}: an event needs a finite start and a duration that is not negative`,
      );
    }
    if (row !== `${event.rank} ${event.stream}`) open = [];
    row = `${event.rank} ${event.stream}`;
    while (open.length > 0 && endOf(open[open.length - 1]) <= event.startNs) open.pop();
    const outer = open[open.length - 1];
    if (outer !== undefined && endOf(event) > endOf(outer)) {
      throw new RangeError(`${placeOf(event)} overlaps ${placeOf(outer)} on one stream; give them two`);
    }
    open.push(event);
  }
}

function endOf(event: TraceEvent): number {
  return event.startNs + event.durationNs;
}

function placeOf({ rank, stream, name, startNs, durationNs }: TraceEvent): string {
  return `${name} on ${stream} of rank ${rank} at ${startNs} ns for ${durationNs} ns`;
}
