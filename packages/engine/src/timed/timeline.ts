/**
 * The layers of one step one after another as events per rank and stream, and the rates of the busiest links:
 * what a trace viewer shows. Layers start together on all ranks, as they do in the step time.
 */
import type { Link } from '@epsim/network';
import type { TraceCounter, TraceEvent } from '@epsim/results';
import type { OpSpan } from './schedule.js';
import type { TimedLayer } from './time-layer.js';

/** To 1/1024 ns: sums of such times are exact, so that the end of one thing meets the start of the next. */
const onGrid = (ns: number) => Math.round(ns * 1024) / 1024;

/** Links that get a counter. */
const COUNTED_LINKS = 8;

/** Events of `layers`, and a counter for each of the links that carry most. */
export function timelineOf(
  layers: readonly TimedLayer[],
  links: readonly Link[],
): { events: TraceEvent[]; counters: TraceCounter[] } {
  const events: TraceEvent[] = [];
  const busiest = busiestLinks(layers, links.length);
  const samples = busiest.map((): { timeNs: number; value: number }[] => []);
  let startNs = 0;
  layers.forEach((layer, index) => {
    for (const span of layer.schedule.spans) {
      for (let rank = 0; rank < span.startNs.length; rank++) {
        const from = onGrid(startNs + span.startNs[rank]);
        const durationNs = onGrid(startNs + span.endNs[rank]) - from;
        if (durationNs <= 0) continue;
        const name = `${span.name} of layer ${index}`;
        events.push({ rank, stream: span.stream, name, startNs: from, durationNs });
      }
      addRates(span, layer, startNs, busiest, samples);
    }
    startNs += layer.stepNs;
  });
  const counters = busiest.map((link, i) => ({ name: links[link].name, unit: 'GB/s', samples: samples[i] }));
  return { events, counters };
}

function busiestLinks(layers: readonly TimedLayer[], linkCount: number): number[] {
  const bytes = new Float64Array(linkCount);
  for (const layer of layers) for (let i = 0; i < linkCount; i++) bytes[i] += layer.linkBytes[i];
  return Array.from(bytes.keys())
    .filter((link) => bytes[link] > 0)
    .sort((a, b) => bytes[b] - bytes[a] || a - b)
    .slice(0, COUNTED_LINKS)
    .sort((a, b) => a - b);
}

/** The mean rate of an exchange, from the first rank's start to the last rank's end. */
function addRates(
  span: OpSpan,
  layer: TimedLayer,
  startNs: number,
  links: readonly number[],
  samples: readonly { timeNs: number; value: number }[][],
): void {
  if (span.name !== 'dispatch' && span.name !== 'combine') return;
  const from = Math.min(...span.startNs);
  const to = Math.max(...span.endNs);
  if (to === from) return;
  const bytes = layer.exchanges[span.batch][span.name];
  links.forEach((link, i) => {
    samples[i].push(
      { timeNs: startNs + from, value: bytes[link] / (to - from) },
      { timeNs: startNs + to, value: 0 },
    );
  });
}
