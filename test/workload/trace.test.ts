import { NO_EXPERT } from '@epsim/spec';
import {
  type ChoiceTrace,
  decodeTrace,
  encodeTrace,
  importTrace,
  type LoadTrace,
  type Trace,
  type WorkloadContext,
  workloadKinds,
} from '@epsim/workload';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { file, npy } from './files.js';
import { loadsOf, logitsOf, maxOverMean, rankLoads, sum, topK } from './support.js';

const head = { model: 'moonshotai/Kimi-K3', source: 'a test', notes: ['one note'] };

/** Choices without repetition, some rows padding, frames and ranks of different sizes. */
const anyChoices: fc.Arbitrary<ChoiceTrace> = fc
  .record({
    expertCount: fc.integer({ min: 4, max: 12 }),
    topK: fc.integer({ min: 1, max: 4 }),
    layers: fc.integer({ min: 1, max: 3 }),
    ranks: fc.integer({ min: 1, max: 3 }),
    frames: fc.integer({ min: 1, max: 3 }),
    seed: fc.nat(),
  })
  .map(({ expertCount, topK: k, layers, ranks, frames, seed }) => {
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const frameTokens = Int32Array.from({ length: frames * ranks }, () => 1 + random(5));
    const experts: number[] = [];
    for (let f = 0; f < frames; f++) {
      const rows = sum(frameTokens.subarray(f * ranks, (f + 1) * ranks));
      const padded = Array.from({ length: rows }, () => random(6) === 0);
      for (let layer = 0; layer < layers; layer++) {
        for (let row = 0; row < rows; row++) {
          const first = random(expertCount);
          for (let i = 0; i < k; i++) experts.push(padded[row] ? NO_EXPERT : (first + i) % expertCount);
        }
      }
    }
    const layerIds = Array.from({ length: layers }, (_, i) => i + 1);
    return {
      kind: 'choices',
      ...head,
      expertCount,
      layerIds,
      topK: k,
      rankCount: ranks,
      frameTokens,
      experts: Int16Array.from(experts),
    };
  });

const loadTrace: LoadTrace = {
  kind: 'loads',
  ...head,
  expertCount: 8,
  topK: 2,
  layerIds: [1, 2],
  frameCount: 2,
  loads: Float64Array.from({ length: 32 }, (_, i) => (i % 8 === 3 ? 90 : 30)),
};

function contextFor(
  trace: { expertCount: number; topK: number | null; layerIds: readonly number[] },
  bytes: Uint8Array,
) {
  const context: WorkloadContext = {
    seed: 1,
    rankCount: 2,
    tokensPerRank: 3,
    expertCount: trace.expertCount,
    topK: trace.topK ?? 2,
    layers: trace.layerIds.length,
    readFile: () => bytes,
  };
  return context;
}

const replayOf = (
  trace: ChoiceTrace | LoadTrace,
  change: Partial<WorkloadContext> = {},
  options: object = {},
) =>
  workloadKinds.trace.create(
    { ...contextFor(trace, encodeTrace(trace)), ...change },
    { file: 't', ...options },
  );

describe('a trace file', () => {
  test('gives back what was put in, and the same bytes for the same trace', () => {
    fc.assert(
      fc.property(anyChoices, (trace) => {
        expect(decodeTrace(encodeTrace(trace), 't')).toEqual(trace);
        expect(encodeTrace(trace)).toEqual(encodeTrace({ ...trace }));
      }),
      { numRuns: 30 },
    );
    const balance: Trace = {
      kind: 'balance',
      ...head,
      meanTokens: Float64Array.of(1.5, 2),
      maxTokens: Float64Array.of(2, 3),
    };
    const fractions = { ...loadTrace, loads: loadTrace.loads.map((load) => load + 0.25) };
    for (const trace of [balance, loadTrace, fractions])
      expect(decodeTrace(encodeTrace(trace), 't')).toEqual(trace);
  });

  test('that is cut off anywhere is refused with its name', () => {
    const bytes = encodeTrace(loadTrace);
    for (let length = 0; length < bytes.length; length += 7) {
      expect(() => decodeTrace(bytes.subarray(0, length), 'x.epsim-trace')).toThrow(
        /^x.epsim-trace: byte \d+: /,
      );
    }
  });

  test('with ids beyond the experts, or a header that is no trace, is refused', () => {
    const wrong: ChoiceTrace = {
      kind: 'choices',
      ...head,
      expertCount: 4,
      layerIds: [0],
      topK: 2,
      rankCount: 1,
      frameTokens: Int32Array.of(2),
      experts: Int16Array.of(0, 1, 2, 4),
    };
    expect(() => decodeTrace(encodeTrace(wrong), 't')).toThrow('expert 4 of 4, id 3 of experts');
    const short = { ...wrong, experts: Int16Array.of(0, 1) };
    expect(() => decodeTrace(encodeTrace(short), 't')).toThrow('experts has 2 ids where 2 rows need 4');
    expect(() => decodeTrace(new TextEncoder().encode('not one at all, no'), 't')).toThrow(
      'not an epsim trace',
    );
    const text = encodeTrace(wrong);
    text[16] = 0x20;
    expect(() => decodeTrace(text, 't')).toThrow('the header is not JSON');
  });
});

describe('replayed choices', () => {
  test('are the recorded rows in order, and plain top-k of the scores gives them back', () => {
    fc.assert(
      fc.property(anyChoices, fc.nat(4), (trace, step) => {
        const workload = replayOf(trace);
        const { topK: k, expertCount } = trace;
        for (let layer = 0; layer < trace.layerIds.length; layer++) {
          const batch = workload.batch(step, layer);
          const all = recordedRows(trace, layer);
          for (const rank of [0, 1]) {
            const out = new Int32Array(3 * k);
            batch.readChoices?.(rank, out);
            const best = topK(logitsOf(batch, rank), expertCount, k);
            for (let token = 0; token < 3; token++) {
              const expected = all[(step * 6 + rank * 3 + token) % all.length];
              expect([...out.subarray(token * k, (token + 1) * k)]).toEqual(expected);
              if (expected[0] !== NO_EXPERT)
                expect([...best.subarray(token * k, (token + 1) * k)]).toEqual(expected);
            }
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('stay on the ranks that had them when asked', () => {
    fc.assert(
      fc.property(anyChoices, (trace) => {
        const workload = replayOf(
          trace,
          { rankCount: trace.rankCount, tokensPerRank: 5 },
          { rows: 'recorded' },
        );
        const rows = recordedRows(trace, 0);
        let next = 0;
        for (let step = 0; step * trace.rankCount < trace.frameTokens.length; step++) {
          const batch = workload.batch(step, 0);
          for (let rank = 0; rank < trace.rankCount; rank++) {
            const tokens = batch.tokenOffsets[rank + 1] - batch.tokenOffsets[rank];
            expect(tokens).toBe(trace.frameTokens[step * trace.rankCount + rank]);
            const out = new Int32Array(tokens * trace.topK);
            batch.readChoices?.(rank, out);
            expect([...out]).toEqual(rows.slice(next, next + tokens).flat());
            next += tokens;
          }
        }
        expect(next).toBe(rows.length);
      }),
      { numRuns: 30 },
    );
  });

  test('on other ranks or more rows than fit are refused with the numbers', () => {
    const trace = fc.sample(
      anyChoices.filter((one) => one.rankCount === 2),
      { numRuns: 1, seed: 4 },
    )[0];
    expect(() => replayOf(trace, { rankCount: 4 }, { rows: 'recorded' })).toThrow(
      'recorded on 2 ranks, the scenario has 4',
    );
    expect(() => replayOf({ ...trace }, { tokensPerRank: 1 }, { rows: 'recorded' })).toThrow(
      /has \d rows on rank \d; tokensPerRank is 1/,
    );
  });

  test('with padding keep it apart: 5 tokens of 8 rows, loads 3, 2, 2, 3, both ranks 5', async () => {
    const ids = Int16Array.from([0, 1, 0, 2, 1, 3, 0, 3, 2, 3, -1, -1, -1, -1, -1, -1]);
    const trace = await importTrace([file('a.npy', npy(ids, [8, 1, 2]))], { expertCount: 4 });
    const bytes = encodeTrace(trace);
    const context = {
      seed: 1,
      rankCount: 2,
      tokensPerRank: 4,
      expertCount: 4,
      topK: 2,
      layers: 1,
      readFile: () => bytes,
    };
    const workload = workloadKinds.trace.create(context, { file: 't' });
    const loads = new Float64Array(4);
    let padded = 0;
    for (const rank of [0, 1]) {
      const out = new Int32Array(8);
      workload.batch(0, 0).readChoices?.(rank, out);
      for (const expert of out) {
        if (expert === NO_EXPERT) padded += 0.5;
        else loads[expert]++;
      }
    }
    expect([...loads]).toEqual([3, 2, 2, 3]);
    expect([...rankLoads(loads, 2)]).toEqual([5, 5]);
    expect(padded).toBe(3);
    expect(workload.description.join('. ')).toContain('5 of its rows are tokens, 3 are padding');
  });
});

describe('recorded loads', () => {
  test('are followed by the scores, all frames or one a step', () => {
    const uneven = { ...loadTrace, loads: loadTrace.loads.map((load, i) => (i < 16 ? load : 30)) };
    const big = { tokensPerRank: 2048, topK: 2 };
    const mean = loadsOf(replayOf(uneven, big).batch(1, 0), 2);
    const each = replayOf(uneven, big, { frames: 'each' });
    // 90 against 30 in frame 0, even in frame 1: 120 against 60 in the sum.
    expect(mean[3] / mean[0]).toBeGreaterThan(1.85);
    expect(mean[3] / mean[0]).toBeLessThan(2.15);
    expect(maxOverMean(loadsOf(each.batch(1, 0), 2))).toBeLessThan(1.1);
    const first = loadsOf(each.batch(2, 1), 2);
    expect(first[3] / first[0]).toBeGreaterThan(2.75);
    expect(first[3] / first[0]).toBeLessThan(3.25);
  });
});

describe('a log of balance', () => {
  test('becomes the skew that shows the median of what was logged', () => {
    const trace: Trace = {
      kind: 'balance',
      ...head,
      meanTokens: Float64Array.of(100, 100, 100),
      maxTokens: Float64Array.of(110, 130, 200),
    };
    const bytes = encodeTrace(trace);
    const context = {
      seed: 1,
      rankCount: 8,
      tokensPerRank: 512,
      expertCount: 64,
      topK: 4,
      layers: 2,
      readFile: () => bytes,
    };
    const workload = workloadKinds.trace.create(context, { file: 't' });
    expect(maxOverMean(rankLoads(loadsOf(workload.batch(0, 1), 4), 8))).toBeGreaterThan(1.25);
    expect(maxOverMean(rankLoads(loadsOf(workload.batch(0, 1), 4), 8))).toBeLessThan(1.35);
    expect(workload.description.join('. ')).toContain('median of 3 samples is max / mean 1.300');
  });
});

describe('a trace that does not match the scenario', () => {
  test.each<[Partial<WorkloadContext>, string]>([
    [{ expertCount: 16 }, 't: 8 experts, the model has 16'],
    [{ topK: 4 }, 't: top-2, the model has top-4'],
    [{ layers: 3 }, 't: 2 layers of experts, 3 are asked for'],
    [{ modelName: 'kimi-k2' }, "t: recorded from moonshotai/Kimi-K3, the scenario's model is kimi-k2"],
  ])('is an error: %o', (change, message) => {
    expect(() => replayOf(loadTrace, change)).toThrow(message);
  });

  test('is let through by name only when asked, and names compare without owner and punctuation', () => {
    expect(() => replayOf(loadTrace, { modelName: 'kimi-k2' }, { anyModel: true })).not.toThrow();
    expect(() => replayOf(loadTrace, { modelName: 'kimi-k3' })).not.toThrow();
  });

  test('and one that nothing can read, say so', () => {
    const { readFile: _readFile, ...context } = contextFor(loadTrace, new Uint8Array());
    expect(() => workloadKinds.trace.create(context, { file: 't' })).toThrow(
      't: nothing here can read files',
    );
  });
});

/** Choices of every row in order, by the plain reading of the layout. */
function recordedRows(trace: ChoiceTrace, layer: number): number[][] {
  const rows: number[][] = [];
  let start = 0;
  for (let f = 0; f * trace.rankCount < trace.frameTokens.length; f++) {
    const count = sum(trace.frameTokens.subarray(f * trace.rankCount, (f + 1) * trace.rankCount));
    for (let row = 0; row < count; row++) {
      const at = start + (layer * count + row) * trace.topK;
      rows.push([...trace.experts.subarray(at, at + trace.topK)]);
    }
    start += count * trace.layerIds.length * trace.topK;
  }
  return rows;
}
