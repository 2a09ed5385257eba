import { totalLoads } from '@epsim/workload';
import { describe, expect, test } from 'vitest';
import { bytesOf, file, raw, torchArchive, torchFile } from './files.js';
import { choices, loads, refuses } from './import-support.js';

/** A record of SGLang's recorder; ids or counts are physical slots. */
const identity = { tensor: Int32Array.of(0, 1, 2, 3, 0, 1, 2, 3), shape: [2, 4] };
const recorder = (records: object[], map: object = identity) =>
  torchFile({ records, last_physical_to_logical_map: map } as never);

describe('SGLang, mode stat', () => {
  const stat = (tensor: Int32Array, shape: number[]) =>
    file(
      'expert_distribution_recorder_1.pt',
      torchFile({ rank: 0, logical_count: { tensor, shape }, average_utilization_rate_over_window: null }),
    );

  test('is read without its unused steps and dense layers', async () => {
    // Steps x layers x experts = 3 x 2 x 3; layer 0 is dense, step 2 unused.
    const trace = await loads([
      stat(Int32Array.of(0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0), [3, 2, 3]),
    ]);
    expect(trace).toMatchObject({ expertCount: 3, layerIds: [1], frameCount: 2, model: null });
    expect([...trace.loads]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(trace.notes).toEqual([
      '1 frame without load left out: unused buffers',
      '1 layer without load left out: dense layers',
    ]);
  });

  test('is read from what CPython pickles, transposed tensors included', async () => {
    // pickle.Pickler(protocol=2) of a dict with a torch tensor, numbers of every length, None, a tuple and a list.
    const pickle =
      'gAJ9cQAoWAQAAAByYW5rcQFLAFgNAAAAbG9naWNhbF9jb3VudHECY3RvcmNoLl91dGlscwpfcmVidWlsZF90ZW5zb3JfdjIKcQMoKFgHAAAAc3Rv' +
      'cmFnZXEEY3RvcmNoCkludFN0b3JhZ2UKcQVYAQAAADBxBlgDAAAAY3B1cQdLDHRxCFFLAEsCSwJLA4dxCUsGSwNLAYdxColjY29sbGVjdGlvbnMK' +
      'T3JkZXJlZERpY3QKcQspUnEMdHENUnEOWCQAAABhdmVyYWdlX3V0aWxpemF0aW9uX3JhdGVfb3Zlcl93aW5kb3dxD0c/6AAAAAAAAFgEAAAAbm90' +
      'ZXEQfXERKFgDAAAAYmlncRKKBgAAAAAAAVgDAAAAb25lcRNdcRRLAWFYBAAAAG5vbmVxFU5YAQAAAHRxFksBSwKIh3EXdXUu';
    const counts = raw(Int32Array.from({ length: 12 }, (_, i) => i));
    const archive = torchArchive(new Uint8Array(Buffer.from(pickle, 'base64')), [counts]);
    expect([...(await loads([file('s.pt', archive)])).loads]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const transposed = { tensor: Int32Array.of(0, 1, 2, 3, 4, 5), shape: [1, 3, 2], stride: [6, 1, 3] };
    expect([...(await loads([file('t.pt', torchFile({ logical_count: transposed }))])).loads]).toEqual([
      0, 3, 1, 4, 2, 5,
    ]);
  });

  test('refuses what a pickle must not do, by name, and executes nothing', async () => {
    const evil = (body: string, ...more: number[]) =>
      file(
        'expert_distribution_recorder_1.pt',
        torchArchive(bytesOf([0x80, 2], new TextEncoder().encode(body), more)),
      );
    await refuses(
      [evil('cposix\nsystem\n')],
      {},
      /data.pkl: byte 3: python name posix.system is refused; nothing is executed/,
    );
    await refuses([evil('cbuiltins\neval\n')], {}, /builtins.eval is refused/);
    await refuses([evil('(S')], {}, /byte 3: pickle instruction 0x53 is refused/);
    await refuses([evil('', 0x93)], {}, /0x93 \(STACK_GLOBAL\) is refused/);
    await refuses(
      [evil('ccollections\nOrderedDict\n(K', 5, 0x74, 0x52)],
      {},
      /OrderedDict with 1 arguments is refused/,
    );
    await refuses([evil('K', 1, 0x51)], {}, /persistent id that is no storage/);
    await refuses([evil('s')], {}, /damaged pickle/);
    const four = file('expert_distribution_recorder_1.pt', torchArchive(Uint8Array.of(0x80, 4, 0x4e, 0x2e)));
    await refuses([four], {}, /pickle protocol 4/);
  });

  test('refuses archives that are cut off or damaged, and tensors beyond their storage', async () => {
    const whole = stat(Int32Array.of(1, 2, 3), [1, 1, 3]);
    await refuses([{ ...whole, bytes: whole.bytes.subarray(0, whole.bytes.length - 40) }], {}, /truncated/);
    const flipped = Uint8Array.from(whole.bytes);
    // The first data byte of data/0, 1, stored little-endian.
    const at = flipped.findIndex(
      (_, i) => i > 200 && flipped[i] === 1 && flipped[i + 4] === 2 && flipped[i + 8] === 3,
    );
    flipped[at] = 9;
    await refuses(
      [{ ...whole, bytes: flipped }],
      {},
      /archive\/data\/0: damaged: the checksum does not match/,
    );
    await refuses([stat(Int32Array.of(1, 2, 3), [1, 2, 3])], {}, /reaches beyond its 3 elements/);
    const expanded = { tensor: Int32Array.of(1), shape: [1, 1, 5], stride: [0, 0, 0] };
    await refuses([file('e.pt', torchFile({ logical_count: expanded }))], {}, /expanded tensor/);
  });

  test('refuses another number of experts than stated, and negative counts', async () => {
    await refuses(
      [stat(Int32Array.of(1, 2, 3), [1, 1, 3])],
      { expertCount: 4 },
      /number of experts is 3 here; 4 was stated/,
    );
    await refuses(
      [stat(Int32Array.of(1, -2, 3), [1, 1, 3])],
      {},
      /frame 0, layer 0, expert 1: not a load: -2/,
    );
  });
});

describe('SGLang, mode per_pass', () => {
  const record = (rank: number, pass: number, counts: number[]) => ({
    forward_pass_id: pass,
    rank,
    gatherer_key: 'primary',
    global_physical_count: { tensor: Int32Array.from(counts), shape: [2, 4] },
  });
  // Layer 1 holds expert 0 in slots 0 and 3.
  const map = { tensor: Int32Array.of(0, 1, 2, 0, 0, 2, 1, 0), shape: [2, 4] };
  const rankFile = (rank: number, passes: number[]) =>
    file(
      `expert_distribution_recorder_1_${rank}.pt`,
      recorder(
        passes.map((pass) => record(rank, pass, [1, 2, 3, 4, 5, 6, 7, 8])),
        map,
      ),
    );

  test('is summed over ranks and over the slots of an expert', async () => {
    const trace = await loads([rankFile(1, [10, 11]), rankFile(0, [10, 11])]);
    expect(trace).toMatchObject({ expertCount: 3, layerIds: [0, 1], frameCount: 2 });
    expect([...trace.loads.subarray(0, 6)]).toEqual([2 * (1 + 4), 2 * 2, 2 * 3, 2 * (5 + 8), 2 * 7, 2 * 6]);
  });

  test('leaves out passes that a rank lacks, and says so', async () => {
    const trace = await loads([rankFile(0, [10, 11]), rankFile(1, [11])]);
    expect(trace.frameCount).toBe(1);
    expect(trace.notes).toContain('1 forward passes left out: not every rank recorded them');
  });

  test('refuses a missing rank, a rank twice, maps that differ and counts of another shape', async () => {
    await refuses(
      [rankFile(0, [1]), rankFile(2, [1])],
      {},
      /rank 1 is missing: there are files of ranks 0, 2/,
    );
    await refuses([rankFile(0, [1]), rankFile(0, [1])], {}, /rank 0 twice/);
    const other = file('b_1.pt', recorder([record(1, 1, [1, 2, 3, 4, 5, 6, 7, 8])]));
    await refuses([rankFile(0, [1]), other], {}, /b_1.pt: its physical to logical map differs/);
    const narrow = {
      ...record(0, 1, []),
      global_physical_count: { tensor: Int32Array.of(1, 2), shape: [2, 1] },
    };
    await refuses(
      [file('c_0.pt', recorder([narrow], map))],
      {},
      /counts are \[2 x 1\], the map is \[2 x 4\]/,
    );
    await refuses([rankFile(0, [1]), rankFile(1, [2])], {}, /no forward pass that every rank recorded/);
  });
});

describe('SGLang, mode per_token', () => {
  /** Layers x tokens x 3 columns, the last never used. */
  const record = (rank: number, ids: number[]) => ({
    forward_pass_id: 5,
    rank,
    input_ids: [1, 2],
    positions: [0, 1],
    extend_seq_lens: null,
    forward_mode: 2,
    topk_ids_of_layer: { tensor: Int32Array.from(ids), shape: [2, ids.length / 6, 3] },
    misc_objects: [],
  });
  // Layer 0 stays at -1; slots of layer 1 hold experts 3, 2, 1, 0.
  const map = { tensor: Int32Array.of(0, 1, 2, 3, 3, 2, 1, 0), shape: [2, 4] };
  const rankFile = (rank: number, ids: number[]) => file(`r_${rank}.pt`, recorder([record(rank, ids)], map));
  const unused = [-1, -1, -1, -1, -1, -1];

  test('gives logical experts of every rank, without unused columns, layers and padding counted', async () => {
    const trace = await choices([
      rankFile(0, [...unused, 0, 1, -1, 2, 3, -1]),
      rankFile(1, [-1, -1, -1, 3, 0, -1]),
    ]);
    expect(trace).toMatchObject({ expertCount: 4, topK: 2, rankCount: 2, layerIds: [1] });
    expect([...trace.frameTokens]).toEqual([2, 1]);
    expect([...trace.experts]).toEqual([3, 2, 1, 0, 0, 3]);
    expect(trace.notes).toEqual(['1 layer without choices left out: dense layers']);
    const padded = await choices([rankFile(0, [...unused, 0, 1, -1, -1, -1, -1])]);
    expect([...totalLoads(padded)]).toEqual([0, 0, 1, 1]);
    expect(padded.notes.join()).toContain('1 of 2 rows only pad');
  });

  test('refuses a slot beyond the map and another top-k than stated', async () => {
    await refuses(
      [rankFile(0, [...unused, 0, 1, -1, 4, 3, -1])],
      {},
      /r_0.pt: pass 5, layer 1, token 1: physical expert 4 of 4 slots/,
    );
    await refuses(
      [rankFile(0, [...unused, 0, 1, -1, 2, 3, -1])],
      { topK: 8 },
      /top-k is 2 here; 8 was stated/,
    );
  });
});

describe('SGLang, CSV', () => {
  test('is summed over the files of ranks', async () => {
    const one = file('a.csv', 'layer_id,expert_id,count\n0,0,0\n1,0,5\n1,2,1\n');
    const two = file('b.csv', 'layer_id,expert_id,count\n1,0,2\n1,1,3\n');
    const trace = await loads([one, two], { expertCount: 4 });
    expect(trace).toMatchObject({ expertCount: 4, layerIds: [1] });
    expect([...trace.loads]).toEqual([7, 3, 1, 0]);
    await refuses([one], { expertCount: 2 }, /a.csv: expert 2 of 2 experts/);
    await refuses(
      [file('c.csv', 'layer_id,expert_id,count\n0,0,x\n')],
      {},
      'c.csv:2: column 3: not a load: "x"',
    );
  });
});
