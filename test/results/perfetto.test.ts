import { perfettoTrace, type TraceEvent } from '@epsim/results';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const events: TraceEvent[] = [
  { rank: 1, stream: 'compute', name: 'experts', startNs: 1500, durationNs: 3000 },
  { rank: 0, stream: 'network', name: 'dispatch', startNs: 0, durationNs: 1500 },
  { rank: 0, stream: 'compute', name: 'layer 3', startNs: 0, durationNs: 9000 },
  { rank: 0, stream: 'compute', name: 'router', startNs: 0, durationNs: 700 },
];
const counters = [
  {
    name: 'rank 0 nic out',
    unit: 'GB/s',
    samples: [
      { timeNs: 0, value: 40 },
      { timeNs: 1500, value: 0 },
    ],
  },
];

describe('a trace', () => {
  const { traceEvents } = JSON.parse(perfettoTrace(events, counters));

  test('has a process per rank, a thread per stream, and microseconds', () => {
    expect(traceEvents).toContainEqual({
      ph: 'M',
      name: 'process_name',
      pid: 1,
      tid: 0,
      args: { name: 'rank 1' },
    });
    expect(traceEvents).toContainEqual({
      ph: 'M',
      name: 'thread_name',
      pid: 0,
      tid: 1,
      args: { name: 'network' },
    });
    expect(traceEvents).toContainEqual({ ph: 'X', name: 'experts', pid: 1, tid: 0, ts: 1.5, dur: 3 });
  });

  test('shows links as counters beside the ranks', () => {
    const samples = traceEvents.filter((event: { ph: string }) => event.ph === 'C');
    expect(samples.map((event: { args: unknown }) => event.args)).toEqual([{ 'GB/s': 40 }, { 'GB/s': 0 }]);
    expect(samples[0].pid).toBe(2);
  });

  test('puts what holds before what is held', () => {
    const names = traceEvents
      .filter((event: { ph: string }) => event.ph === 'X')
      .map((event: { name: string }) => event.name);
    expect(names).toEqual(['layer 3', 'router', 'dispatch', 'experts']);
  });

  test('is equal for the same events in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: events.length }), (shuffled) => {
        expect(perfettoTrace(shuffled, counters)).toBe(perfettoTrace(events, counters));
      }),
    );
  });

  test('events that cross on one stream, and times that run backwards, are refused', () => {
    const late = { rank: 0, stream: 'network', name: 'combine', startNs: 1000, durationNs: 1500 };
    expect(() => perfettoTrace([...events, late])).toThrow(/combine on network .* overlaps dispatch/);
    expect(() => perfettoTrace([{ ...late, durationNs: -1 }])).toThrow(RangeError);
  });

  test('nothing at all is a trace too', () => {
    expect(JSON.parse(perfettoTrace([])).traceEvents).toEqual([]);
  });
});
