import { type MicroBatch, overlaps, schedule, timelineOf } from '@epsim/engine';
import { perfettoTrace } from '@epsim/results';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const times = (ranks: number) =>
  fc
    .array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: ranks, maxLength: ranks })
    .map((a) => Float64Array.from(a));

/** A micro-batch with random durations; received is never before sent would allow, as network models promise nothing of it. */
const anyBatch = (ranks: number): fc.Arbitrary<MicroBatch> =>
  fc.record({
    pre: times(ranks),
    shared: times(ranks),
    experts: times(ranks),
    post: times(ranks),
    dispatchSentNs: times(ranks),
    dispatchReceivedNs: times(ranks),
    combineSentNs: times(ranks),
    combineReceivedNs: times(ranks),
    sends: fc
      .array(fc.constantFrom(0, 1), { minLength: ranks * ranks, maxLength: ranks * ranks })
      .map((a) => Uint8Array.from(a)),
  });
const anyCase = fc
  .integer({ min: 1, max: 6 })
  .chain((ranks) =>
    fc.tuple(
      fc.constant(ranks),
      fc.constantFrom(...Object.values(overlaps)),
      anyBatch(ranks),
      anyBatch(ranks),
    ),
  );

describe('a schedule', () => {
  test('never turns a clock back, and never runs two things of one stream of a rank at once (law 5)', () => {
    fc.assert(
      fc.property(anyCase, ([ranks, overlap, a, b]) => {
        const { spans } = schedule(overlap.program, [a, b, a, b].slice(0, overlap.microBatches), ranks);
        for (let r = 0; r < ranks; r++) {
          const clock = new Map<string, number>();
          for (const span of spans) {
            expect(span.endNs[r]).toBeGreaterThanOrEqual(span.startNs[r]);
            expect(span.startNs[r]).toBeGreaterThanOrEqual(clock.get(span.stream) ?? 0);
            clock.set(span.stream, span.endNs[r]);
          }
        }
      }),
    );
  });

  test('is never shorter than any one thing that a rank does, nor than what its compute stream adds up to', () => {
    fc.assert(
      fc.property(anyCase, ([ranks, overlap, a, b]) => {
        const batches = [a, b, a, b].slice(0, overlap.microBatches);
        const { endNs } = schedule(overlap.program, batches, ranks);
        for (let r = 0; r < ranks; r++) {
          const busy = batches.reduce((sum, m) => sum + m.pre[r] + m.experts[r] + m.post[r], 0);
          expect(endNs[r]).toBeGreaterThanOrEqual(busy * (1 - 1e-12));
        }
      }),
    );
  });

  test('with shared experts under dispatch is never slower than one thing after another, where they take all ranks equally long', () => {
    fc.assert(
      fc.property(anyCase, ([ranks, , any]) => {
        const a = { ...any, shared: new Float64Array(ranks).fill(any.shared[0]) };
        const last = (name: keyof typeof overlaps) =>
          Math.max(...schedule(overlaps[name].program, [a], ranks).endNs);
        expect(last('shared-experts')).toBeLessThanOrEqual(last('none') * (1 + 1e-12));
      }),
    );
  });

  test('one thing after another adds up where ranks are alike', () => {
    const same = (ns: number) => new Float64Array(3).fill(ns);
    const batch: MicroBatch = {
      pre: same(1),
      shared: same(20),
      experts: same(300),
      post: same(4000),
      dispatchSentNs: same(50_000),
      dispatchReceivedNs: same(50_000),
      combineSentNs: same(600_000),
      combineReceivedNs: same(600_000),
      sends: new Uint8Array(9).fill(1),
    };
    expect([...schedule(overlaps.none.program, [batch], 3).endNs]).toEqual([654_321, 654_321, 654_321]);
    expect(schedule(overlaps['shared-experts'].program, [batch], 3).endNs[0]).toBe(654_301);
  });

  test('delays those who wait for a straggler and nobody else', () => {
    const batch: MicroBatch = {
      pre: new Float64Array(4),
      shared: new Float64Array(4),
      experts: Float64Array.of(10, 10, 10, 1000),
      post: new Float64Array(4),
      dispatchSentNs: new Float64Array(4),
      dispatchReceivedNs: new Float64Array(4),
      combineSentNs: new Float64Array(4),
      combineReceivedNs: new Float64Array(4),
      // Ranks 0 and 1 use each other's experts; 2 uses rank 3's.
      sends: Uint8Array.of(1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1),
    };
    expect([...schedule(overlaps['shared-experts'].program, [batch], 4).endNs]).toEqual([10, 10, 1000, 1000]);
  });
});

describe('a timeline', () => {
  test('can be drawn by a trace viewer, whatever the durations', () => {
    fc.assert(
      fc.property(anyCase, fc.integer({ min: 1, max: 4 }), ([ranks, overlap, a, b], layerCount) => {
        const result = schedule(overlap.program, [a, b, a, b].slice(0, overlap.microBatches), ranks);
        const exchange = { dispatch: Float64Array.of(5), combine: Float64Array.of(6) };
        const layer = {
          stepNs: Math.max(...result.endNs),
          phases: {},
          stragglerIdleFraction: 0,
          linkBytes: Float64Array.of(11),
          schedule: result,
          exchanges: [exchange, exchange, exchange, exchange],
        };
        const link = { name: 'rank0.out', tier: 'scale-up', bytesPerSec: 1, latencyNs: 0 } as const;
        const { events, counters } = timelineOf(new Array(layerCount).fill(layer), [link]);
        const trace = JSON.parse(perfettoTrace(events, counters));
        expect(trace.traceEvents.filter((event: { ph: string }) => event.ph === 'X')).toHaveLength(
          events.length,
        );
      }),
    );
  });
});
