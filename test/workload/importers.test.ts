import {
  detectImporter,
  type ImportHints,
  importers,
  importTrace,
  type Trace,
  type TraceFile,
  totalLoads,
} from '@epsim/workload';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { base64, file, msgpackArray, npy, raw, safetensors, torchFile } from './files.js';
import { layerBad, layerShort, layerThree, layerTwo } from './flame-files.js';
import { choices, loads, refuses } from './import-support.js';

describe('TensorRT-LLM', () => {
  const meta = file('stat/meta_info.json', '{"num_experts": 4, "num_experts_per_token": 2}');
  const counts = (rank: number, values: number[], key = '7_3') =>
    file(
      `stat/rank${rank}.safetensors`,
      safetensors({ [key]: { values: BigInt64Array.from(values.map(BigInt)), shape: [values.length] } }),
    );
  const ids = (rank: number, values: number[], k = 2) =>
    file(
      `stat/rank${rank}_raw.safetensors`,
      safetensors({ '7_3': { values: Int32Array.from(values), shape: [values.length / k, k] } }),
    );

  test('counts are summed over ranks', async () => {
    const trace = await loads([meta, counts(0, [1, 2, 3, 4]), counts(1, [10, 0, 0, 0])]);
    expect(trace).toMatchObject({ expertCount: 4, topK: 2, layerIds: [3], frameCount: 1 });
    expect([...trace.loads]).toEqual([11, 2, 3, 4]);
  });

  test('raw ids are preferred, and stay with their ranks', async () => {
    const trace = await choices([meta, counts(0, [1, 1, 1, 1]), ids(0, [0, 1, 2, 3]), ids(1, [3, 0])]);
    expect(trace).toMatchObject({ rankCount: 2, topK: 2, layerIds: [3] });
    expect([...trace.frameTokens]).toEqual([2, 1]);
    expect([...trace.experts]).toEqual([0, 1, 2, 3, 3, 0]);
  });

  test('refuses missing ranks, missing keys, wrong shapes, experts beyond the count and cut-off files', async () => {
    await refuses(
      [meta, counts(0, [1, 2, 3, 4]), counts(2, [1, 2, 3, 4])],
      {},
      /rank 1 is missing: there are files of ranks 0, 2/,
    );
    await refuses(
      [meta, counts(0, [1, 0, 0, 1]), counts(1, [1, 0, 0, 1]), ids(0, [0, 3])],
      {},
      /rank 1 is missing: it has counts/,
    );
    await refuses([counts(0, [1, 2, 3, 4])], {}, /meta_info.json is missing/);
    await refuses([meta], {}, /no rank\*\.safetensors/);
    await refuses(
      [meta, counts(0, [1, 2, 3, 4]), counts(1, [1, 2, 3, 4], '7_4')],
      {},
      /rank1.safetensors: no 7_3; another rank or layer has it/,
    );
    await refuses([meta, counts(0, [1, 2, 3])], {}, /7_3 is \[3\]; meta_info.json says 4 experts/);
    await refuses(
      [meta, ids(0, [0, 1, 2], 3)],
      {},
      /7_3 is \[1 x 3\]; \[1 x 2\] by its first layer and meta_info.json/,
    );
    await refuses(
      [meta, ids(0, [0, 1, 2, 4])],
      {},
      /rank0_raw.safetensors: 7_3, token 1: expert 4 of 4 experts/,
    );
    const whole = counts(0, [1, 2, 3, 4]);
    await refuses(
      [meta, { ...whole, bytes: whole.bytes.subarray(0, -8) }],
      {},
      /rank0.safetensors: byte \d+: truncated: 32 bytes wanted, 24 left/,
    );
    await refuses([meta, whole], { expertCount: 8 }, /num_experts is 4 here; 8 was stated/);
    await refuses([meta, file('rank0.safetensors', 'abc')], {}, /byte 0: truncated: 8 bytes wanted, 3 left/);
  });
});

describe('routed_experts', () => {
  /** Tokens x layers x top-k = 2 x 2 x 2. */
  const values = [0, 1, 2, 3, 3, 2, 1, 0];
  const expected = [0, 1, 3, 2, 2, 3, 1, 0];
  const shape = [2, 2, 2];
  const hints = { expertCount: 4 };
  const ids = Int16Array.from(values);

  test.each<[string, TraceFile, ImportHints]>([
    ['.npy of int16', file('a.npy', npy(ids, shape)), {}],
    ['.npy of int32', file('a.npy', npy(Int32Array.from(values), shape)), {}],
    ['.npy of uint8, where that suffices', file('a.npy', npy(Uint8Array.from(values), shape)), {}],
    ['msgpack', file('a.msgpack', msgpackArray('<i2', shape, raw(ids))), {}],
    [
      'base64 of .npy',
      file('a.json', JSON.stringify({ choices: [{ routed_experts: base64(npy(ids, shape)) }] })),
      {},
    ],
    [
      'base64 with a shape',
      file(
        'a.json',
        JSON.stringify({ choices: [{ routed_experts: { data: base64(raw(ids)), shape, dtype: 'int16' } }] }),
      ),
      {},
    ],
    [
      'bare base64 of int32',
      file('a.json', JSON.stringify({ meta_info: { routed_experts: base64(raw(Int32Array.from(values))) } })),
      { layers: 2, topK: 2 },
    ],
  ])('are read from %s', async (_name, one, more) => {
    const trace = await choices([one], { ...hints, ...more });
    expect(trace).toMatchObject({ expertCount: 4, topK: 2, layerIds: [0, 1], rankCount: 1 });
    expect([...trace.experts]).toEqual(expected);
  });

  test('of several requests are a frame each, from files or lines', async () => {
    const line = JSON.stringify({ routed_experts: { data: base64(raw(ids)), shape, dtype: 'int16' } });
    const trace = await choices(
      [file('a.jsonl', `${line}\n${line}\n`), file('b.npy', npy(ids.subarray(0, 4), [1, 2, 2]))],
      hints,
    );
    expect([...trace.frameTokens]).toEqual([2, 2, 1]);
  });

  test('in uint8 are refused for models with more than 256 experts', async () => {
    const wrapped = file('a.npy', npy(Uint8Array.from(values), shape));
    await refuses(
      [wrapped],
      { expertCount: 896 },
      'a.npy: uint8 ids cannot name 896 experts: ids above 255 have wrapped',
    );
    const json = file(
      'a.json',
      JSON.stringify({ routed_experts: { data: base64(Uint8Array.from(values)), shape } }),
    );
    await refuses([json], { expertCount: 896 }, /uint8 ids cannot name 896 experts/);
  });

  test('that contradict what is stated, or are cut off, are refused with the place', async () => {
    const one = file('a.npy', npy(ids, shape));
    await refuses([one], {}, /a.npy: the format does not say the number of experts; state it/);
    await refuses([one], { ...hints, topK: 16 }, /top-k is 2 here; 16 was stated/);
    await refuses([one], { expertCount: 3 }, /a.npy: token 1, layer 0: expert 3 of 3 experts/);
    await refuses(
      [{ ...one, bytes: one.bytes.subarray(0, -2) }],
      hints,
      /a.npy: byte \d+: truncated: 16 bytes wanted, 14 left/,
    );
    await refuses([file('a.npy', npy(ids, shape, { descr: '>i2' }))], hints, /element type >i2/);
    await refuses([file('a.npy', npy(ids, shape, { descr: '|O' }))], hints, /element type \|O/);
    await refuses([file('a.npy', npy(ids, shape, { fortran: true }))], hints, /column-major/);
    await refuses([file('a.npy', npy(Float32Array.from(values), shape))], hints, /ids are integers/);
    await refuses([file('a.json', JSON.stringify({ routed_experts: 'AAA!' }))], hints, /not base64/);
    await refuses(
      [file('a.json', JSON.stringify({ routed_experts: base64(raw(ids)) }))],
      hints,
      /state layers and top-k/,
    );
    await refuses(
      [file('a.msgpack', msgpackArray('<i2', shape, raw(ids)).subarray(0, 40))],
      hints,
      /truncated/,
    );
    await refuses(
      [one, file('b.npy', npy(ids, [4, 1, 2]))],
      hints,
      /\[4 x 1 x 2\] where the first array has 2 layers, top-2/,
    );
  });

  test('padding is counted, not wrapped: 5 tokens of 8 rows load experts 3, 2, 2, 3', async () => {
    const real = [0, 1, 0, 2, 1, 3, 0, 3, 2, 3];
    const padded = await choices(
      [file('a.npy', npy(Int16Array.from([...real, -1, -1, -1, -1, -1, -1]), [8, 1, 2]))],
      hints,
    );
    expect([...totalLoads(padded)]).toEqual([3, 2, 2, 3]);
    expect(padded.notes).toContain('3 of 8 rows only pad and are not counted as tokens');
    const stale = file('b.npy', npy(Int16Array.from([...real, 0, 0, 0, 0, 0, 0]), [8, 1, 2]));
    expect([...totalLoads(await choices([stale], { ...hints, realTokens: 5 }))]).toEqual([3, 2, 2, 3]);
    await refuses([stale], { ...hints, realTokens: 9 }, /9 real tokens stated, 8 rows recorded/);
    await refuses([file('c.npy', npy(Int16Array.of(-2, 1), [1, 1, 2]))], hints, /expert -2 of 4 experts/);
  });
});

describe('vLLM EPLB log', () => {
  test('gives the mean and the busiest rank of each step, idle steps apart', async () => {
    const log = [
      'INFO [eplb_state.py:390] EPLB step: avg_tokens=100.50, max_tokens=120, balancedness=0.8375',
      'INFO something else',
      'INFO EPLB step: avg_tokens=0.00, max_tokens=0, balancedness=0.0000',
      'INFO EPLB step: avg_tokens=90.00, max_tokens=100, balancedness=0.9000, imbalanceness=0.1',
    ].join('\n');
    const trace = await importTrace([file('engine.log', log)]);
    expect(trace).toMatchObject({ kind: 'balance', notes: ['1 step without tokens left out'] });
    expect([...(trace as Extract<Trace, { kind: 'balance' }>).maxTokens]).toEqual([120, 100]);
    const wrong = 'EPLB step: avg_tokens=90.00, max_tokens=100, balancedness=0.5';
    await refuses([file('x.log', `\n${wrong}`)], {}, 'x.log:2: balancedness=0.5 is not 90 / 100');
  });
});

describe('EPLB weights', () => {
  test.each([
    ['JSON', file('w.json', '[[1,2,3],[4,5,6]]')],
    ['a case object', file('w.json', '{"name":"x","weight":[[1,2,3],[4,5,6]]}')],
    ['CSV', file('w.csv', '1,2,3\n4,5,6\n')],
    ['.npy', file('w.npy', npy(BigInt64Array.of(1n, 2n, 3n, 4n, 5n, 6n), [2, 3]))],
  ])('are read from %s', async (_name, one) => {
    const trace = await loads([one]);
    expect(trace).toMatchObject({ expertCount: 3, layerIds: [0, 1], frameCount: 1 });
    expect([...trace.loads]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('of another number of experts than stated, or not numbers, are refused', async () => {
    await refuses(
      [file('w.json', '[[1,2,3]]')],
      { expertCount: 4 },
      /number of experts is 3 here; 4 was stated/,
    );
    await refuses([file('w.csv', '1,2,3\n4,,6\n')], {}, 'w.csv:2: column 2: not a load: ""');
  });
});

describe('FLAME-MoE', () => {
  const two = file('flame/540/layer_02/part.parquet', layerTwo);
  const three = file('flame/540/layer_03/part.parquet', layerThree);

  test('is read layer by layer with its tokens aligned', async () => {
    const trace = await choices([three, two], { model: 'CMU-FLAME/FLAME-MoE-290M' });
    expect(trace).toMatchObject({
      expertCount: 64,
      topK: 6,
      layerIds: [2, 3],
      model: 'CMU-FLAME/FLAME-MoE-290M',
    });
    expect([...trace.experts.subarray(0, 6)]).toEqual([3, 0, 17, 40, 63, 9]);
    expect([...trace.experts.subarray(18, 24)]).toEqual([9, 8, 7, 6, 5, 4]);
  });

  test('refuses layers of different length, experts beyond 64, no layer in the name and damage', async () => {
    await refuses(
      [two, file('layer_03.parquet', layerShort)],
      {},
      /layer_03.parquet: 2 tokens where .* has 3/,
    );
    await refuses(
      [file('layer_04.parquet', layerBad)],
      {},
      /layer_04.parquet: row 0: expert 64 of 64 experts/,
    );
    await refuses([file('x.parquet', layerTwo)], {}, /no layer in its path/);
    await refuses(
      [file('layer_2.parquet', layerTwo.subarray(0, 300))],
      {},
      /layer_2.parquet: not readable parquet/,
    );
  });
});

describe('the registry of importers', () => {
  test.each(Object.entries(importers))(
    '%s says what it reads and leaves other files alone',
    (_name, importer) => {
      expect(importer.summary).not.toBe('');
      expect(importer.detect(file('notes.txt', 'some words\n'))).toBe(false);
      expect(importer.detect(file('empty', ''))).toBe(false);
    },
  );

  test('knows formats by their files, and refuses unknown and mixed ones', () => {
    expect(detectImporter([file('w.csv', '1,2\n')])).toBe('eplb-weights');
    expect(() => detectImporter([file('x.bin', 'hello')])).toThrow(
      /x.bin: unknown trace format; known: sglang-stat/,
    );
    expect(() =>
      detectImporter([file('w.csv', '1,2\n'), file('a.npy', npy(Int16Array.of(1), [1, 1, 1]))]),
    ).toThrow(/w.csv is eplb-weights, a.npy is routed-experts/);
    expect(() => detectImporter([])).toThrow('no files');
  });
});

describe('damaged files', () => {
  const ids = Int16Array.of(0, 1, 2, 3, 3, 2, 1, 0);
  const line = JSON.stringify({
    routed_experts: { data: base64(raw(ids)), shape: [2, 2, 2], dtype: 'int16' },
  });
  const counts = { tensor: Int32Array.of(1, 2, 3, 4), shape: [1, 1, 4] };
  const wholes: readonly (readonly TraceFile[])[] = [
    [file('a.npy', npy(ids, [2, 2, 2]))],
    [file('a.msgpack', msgpackArray('<i2', [2, 2, 2], raw(ids)))],
    [file('a.json', line)],
    [file('w.csv', '1,2,3,4\n5,6,7,8\n')],
    [file('s.pt', torchFile({ rank: 0, logical_count: counts }))],
    [file('layer_02.parquet', layerTwo)],
    [
      file('meta_info.json', '{"num_experts": 4, "num_experts_per_token": 2}'),
      file('rank0.safetensors', safetensors({ '7_3': { values: Int32Array.of(1, 2, 3, 4), shape: [4] } })),
    ],
  ];

  test('give a trace or a RangeError that says why, never another fault', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...wholes),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat()),
        async (files, changes, cut) => {
          const last = files[files.length - 1];
          let bytes = Uint8Array.from(last.bytes);
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          if (cut !== null) bytes = bytes.subarray(0, cut % bytes.length);
          const damaged = [...files.slice(0, -1), { name: last.name, bytes }];
          const error = await importTrace(damaged, { expertCount: 4 }).then(
            () => null,
            (reason: unknown) => reason,
          );
          if (error !== null) expect(error).toBeInstanceOf(RangeError);
        },
      ),
      { numRuns: 400 },
    );
  });
});
