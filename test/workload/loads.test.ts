import { workloadKinds } from '@epsim/workload';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { npy } from './files.js';
import { loadsOf, small, sum } from './support.js';

const { loads } = workloadKinds;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Largest gap between realised and wanted loads, in standard deviations of sampling plus 2 % of the load. */
function worstGap(realised: Float64Array, wanted: ArrayLike<number>, choices: number): number {
  const total = sum(wanted);
  let worst = 0;
  realised.forEach((count, e) => {
    const expected = (wanted[e] / total) * choices;
    worst = Math.max(worst, Math.abs(count - expected) / (Math.sqrt(expected) + 0.02 * expected + 0.5));
  });
  return worst;
}

describe('the loads that scores realise', () => {
  test('follow any table, within sampling and 2 %', () => {
    const row = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(row, fc.integer({ min: 1, max: 4 }), fc.nat(1000), (weights, topK, seed) => {
        // Every expert can take at most one choice of a token: keep shares below that.
        const wanted = weights.map((weight) => weight + 100);
        const context = { ...small, seed, expertCount: 24, topK, tokensPerRank: 1024, layers: 1 };
        const realised = loadsOf(loads.create(context, { table: [wanted] }).batch(0, 0), topK);
        expect(worstGap(realised, wanted, 4096 * topK)).toBeLessThan(4.5);
      }),
      { numRuns: 15 },
    );
  });

  test('follow a table with a hot expert on the shape of Kimi K3', () => {
    const wanted = Float64Array.from({ length: 896 }, (_, e) =>
      e === 500 ? 20 : Math.exp(Math.sin(e * 12.9898)),
    );
    const context = { seed: 5, rankCount: 8, tokensPerRank: 512, expertCount: 896, topK: 16, layers: 1 };
    const realised = loadsOf(loads.create(context, { table: [[...wanted]] }).batch(0, 0), 16);
    expect(worstGap(realised, wanted, 4096 * 16)).toBeLessThan(4.5);
  });

  test('follow the table with topics and rank differences too, over many requests', () => {
    const wanted = Array.from({ length: 32 }, (_, e) => 1 + (e % 8));
    const context = { ...small, tokensPerRank: 4096, layers: 1 };
    const options = {
      table: [wanted],
      topics: { count: 4, strength: 0.5, tokensPerRequest: 1 },
      perRank: 0.2,
    };
    const realised = loadsOf(loads.create(context, options).batch(0, 0), 4);
    const expected = wanted.map((weight) => (weight / sum(wanted)) * 4 * 4096 * 4);
    realised.forEach((count, e) => {
      expect(Math.abs(count / expected[e] - 1)).toBeLessThan(0.06);
    });
  });

  test('leave an expert without load alone', () => {
    const row = [10, 0, 10, 0, 10, 0, 10, 10];
    const context = { ...small, expertCount: 8, topK: 2, layers: 1 };
    const realised = loadsOf(loads.create(context, { table: [row] }).batch(0, 0), 2);
    expect([realised[1], realised[3], realised[5]]).toEqual([0, 0, 0]);
  });

  test('cap an expert at one choice of every token and give the rest to the others', () => {
    const context = { ...small, expertCount: 4, topK: 2, layers: 1, tokensPerRank: 500 };
    const realised = loadsOf(loads.create(context, { table: [[1000, 10, 10, 10]] }).batch(0, 0), 2);
    expect(realised[0]).toBe(2000);
    for (const e of [1, 2, 3]) expect(Math.abs(realised[e] - 667)).toBeLessThan(90);
  });
});

describe('tables', () => {
  const read = (text: string, layers: number, extra: object = {}) => {
    const context = { ...small, expertCount: 4, topK: 1, layers, readFile: () => encode(text) };
    return loads.create(context, { file: 'table', ...extra });
  };
  const hottest = (text: string, extra: object = {}): number[] => {
    const workload = read(text, 2, extra);
    return [0, 1].map((layer) => {
      const counts = loadsOf(workload.batch(0, layer), 1);
      return counts.indexOf(Math.max(...counts));
    });
  };

  test.each([
    ['JSON rows', '[[9,1,1,1],[1,1,9,1]]'],
    ['an object with weight', '{"weight": [[9,1,1,1],[1,1,9,1]]}'],
    ['recorded steps of JSON', '{"logical_count": [[[4,1,1,1],[0,1,4,1]],[[5,0,0,0],[1,0,5,0]]]}'],
    ['CSV, a row a layer', '# loads\n9,1,1,1\n1,1,9,1\n'],
    ['CSV with a header', 'e0,e1,e2,e3\r\n9,1,1,1\r\n1,1,9,1'],
    ['long CSV', 'layer_id,expert_id,count\n0,0,9\n0,3,1\n1,2,9\n1,3,1\n'],
    ['rows of dense layers between', '[[9,1,1,1],[0,0,0,0],[1,1,9,1]]'],
  ])('are read from %s', (_name, text) => {
    expect(hottest(text)).toEqual([0, 2]);
  });

  test('are read from .npy, and a trace is sent where it belongs', () => {
    const context = (bytes: Uint8Array) => ({
      ...small,
      expertCount: 4,
      topK: 1,
      layers: 2,
      readFile: () => bytes,
    });
    const table = npy(Int32Array.of(9, 1, 1, 1, 1, 1, 9, 1), [2, 4]);
    const counts = loadsOf(loads.create(context(table), { file: 'w.npy' }).batch(0, 1), 1);
    expect(counts.indexOf(Math.max(...counts))).toBe(2);
    const flat = npy(Int32Array.of(9, 1, 1, 1), [4]);
    expect(() => loads.create(context(flat), { file: 'w.npy' })).toThrow(
      'w.npy: [4]; a load table is [layers x experts]',
    );
    const trace = new TextEncoder().encode('EPTRACE1........');
    expect(() => loads.create(context(trace), { file: 't' })).toThrow('loads: t is a trace; write trace: t');
  });

  test('are chosen by name among cases', () => {
    const text = '[{"name":"a","weight":[[1,9,1,1],[1,9,1,1]]},{"name":"b","weight":[[9,1,1,1],[1,1,9,1]]}]';
    expect(hottest(text, { case: 'b' })).toEqual([0, 2]);
    expect(() => hottest(text)).toThrow('2 cases; choose one with case: a, b');
    expect(() => hottest(text, { case: 'c' })).toThrow('unknown case: c; known: a, b');
  });

  test.each([
    ['[[1,2,3,4],[1,2,3]]', 'table: row 1: 3 experts where row 0 has 4'],
    ['[[1,2,-3,4]]', 'table: row 0, column 2: not a load: -3'],
    ['[[1,2,"x",4]]', 'table: row 0, column 2: not a load: "x"'],
    ['[[1,2,', 'table: not JSON'],
    ['{"rows": 1}', 'table: no load table'],
    ['[[[1,2,3,4]],[[1,2,3,4],[1,2,3,4]]]', 'table: step 1: [2 x 4], step 0 is [1 x 4]'],
    ['1,2,3,4\n1,2,3\n', 'table:2: 3 columns where line 1 has 4'],
    ['1,2,3,4\n\n1,2,abc,4\n', 'table:3: column 3: not a load: "abc"'],
    ['layer_id,expert_id,count\n0,-1,5\n', 'table:2: column 2: not a load: -1'],
    ['layer_id,expert_id,count\n0,1.5,5\n', 'table:2: column 2: not an id: 1.5'],
    ['', 'table: empty'],
    ['[[1,2,3,4,5]]', 'table: 5 experts; the model has 4'],
    ['[[1,2,3,4]]', 'table: 2 layers asked, 1 of its 1 rows have load'],
  ])('with a fault are refused with its place: %s', (text, message) => {
    expect(() => read(text, 2)).toThrow(message);
  });

  test('need as many experts with load as a token chooses', () => {
    const context = { ...small, expertCount: 4, topK: 2, layers: 1 };
    expect(() => loads.create(context, { table: [[5, 0, 0, 0]] }).batch(0, 0)).toThrow(
      '1 of 4 experts have load, top-2',
    );
  });

  test('in files need a reader', () => {
    expect(() => loads.create(small, { file: 'x.csv' })).toThrow('x.csv: nothing here can read files');
    expect(() => loads.create(small, {})).toThrow('either a file or the table itself');
    expect(() => loads.create(small, { file: 'x.csv', table: [[1]] })).toThrow(
      'either a file or the table itself',
    );
  });
});
