import {
  calibrate,
  foreignReaders,
  measurementsIn,
  parseCsv,
  scoreTables,
  shippedTables,
  systemFigures,
  tableReaders,
} from '@epsim/calibration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const cell = fc.string({ maxLength: 8 }).map((text) => text.replace(/[\r\n]/g, '').trim());

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

describe('tables as text', () => {
  test('quoted cells come back as they were written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 6 }), (rows) => {
        const text = ['# note', 'a,b', ...rows.map(([a, b]) => `${quoted(a)},${quoted(b)}`)].join('\n');
        const table = parseCsv(text);
        expect(table.rows.map((row) => [row.cells.a, row.cells.b])).toEqual(rows);
        expect(table.notes).toEqual(['note']);
      }),
    );
  });

  test('a byte order mark and carriage returns are not part of a name', () => {
    expect(parseCsv('\uFEFFa,b\r\n1,2\r\n')).toMatchObject({
      columns: ['a', 'b'],
      rows: [{ cells: { a: '1', b: '2' } }],
    });
  });

  test('a line with too few cells is counted, not guessed', () => {
    const table = parseCsv('a,b\n1,2\n3\n');
    expect(table.rows.length).toBe(1);
    expect(table.broken).toEqual([3]);
  });

  test('names of one device find the same figures and unknown ones find none', () => {
    for (const name of ['b200_sxm', 'B200 SXM', 'NVIDIA B200'])
      expect(systemFigures(name)?.system).toBe('b200');
    expect(systemFigures('gb200')?.domainRanks).toBe(72);
    expect(systemFigures('abacus')).toBeNull();
  });
});

describe('kinds of tables', () => {
  test('every shipped table is read by its reader without a skipped row, and carries its source', () => {
    expect(shippedTables.map((file) => file.name).sort()).toEqual(Object.keys(tableReaders).sort());
    for (const file of shippedTables) {
      const { reading, table } = measurementsIn(file);
      expect(reading?.experiments.length, file.name).toBeGreaterThan(0);
      expect(reading?.skipped, file.name).toEqual([]);
      expect(
        table?.notes.some((note) => note.startsWith('source: ')),
        file.name,
      ).toBe(true);
    }
  });

  test('a known table under another name is recognised by its columns', () => {
    const file = shippedTables.find((one) => one.name === 'mla_h800.csv');
    const { reading } = measurementsIn({ name: 'mine.csv', text: file?.text ?? '' });
    expect(reading?.experiments[0]?.profile).toBe('h800/latent-attention');
  });

  test('a table of another system is predicted with borrowed fractions', () => {
    const file = shippedTables.find((one) => one.name === 'k3_experts_gb200.csv');
    const [score] = scoreTables([{ name: 'k3_experts_gb300.csv', text: file?.text ?? '' }], {
      leaveOut: 'none',
    });
    expect(score?.rows).toBeGreaterThan(50);
    expect(score?.profiles[0]?.borrowedFrom).toMatch(/^gb200\//);
  });

  test('an unknown table is scored with no rows, and its rows are counted with the reason', () => {
    const [score] = scoreTables([{ name: 'prices.csv', text: 'fruit,price\napple,1\npear,2\n' }]);
    expect(score).toMatchObject({ rows: 0, skippedRows: 2, medianError: null });
    expect(score?.skipped[0]?.reason).toMatch(/no time model/);
  });

  test('rows that cannot be predicted are skipped by reason and the others scored', () => {
    const text = [
      'system,ep,hidden,tokens_per_rank,topk,experts,dispatch_us,combine_us',
      'h100_sxm,8,7168,128,8,256,39.8,72.4',
      'abacus,8,7168,128,8,256,39.8,72.4',
      'h100_sxm,8,,128,8,256,39.8,72.4',
      'h100_sxm,8,7168',
    ].join('\n');
    const [score] = scoreTables([{ name: 'll.csv', text }], { leaveOut: 'none' });
    expect(score).toMatchObject({ rows: 1, predictions: 2, skippedRows: 3 });
    expect(score?.skipped.map((part) => part.reason).sort()).toEqual([
      'a number is missing',
      'no figures for system abacus',
      'wrong number of cells',
    ]);
  });

  const tables = {
    'll.csv': [
      'system,ep,hidden,tokens_per_rank,topk,experts,dispatch_us,combine_us',
      'h100,8,7168,128,8,256,40,70',
    ],
    'experts.csv': [
      'system,kernel,dtype,moe_tp,moe_ep,distribution,num_tokens,latency_us',
      'gb200,sglang_flashinfer_trtllm_moe,w4a16_mxfp4,1,8,power_law_1.01,64,90',
    ],
    'nccl.csv': ['system,op,num_gpus,bytes,latency_us', 'h100,alltoall,8,4096,20'],
    'layer_ep8.csv': ['phase,ep,tokens_per_rank,balanced_us', 'context,8,64,200'],
  };

  test.each(
    Object.entries(tables).flatMap(([name, [header, sound]]) =>
      header
        .split(',')
        .flatMap((column, at) =>
          ['0', '-1', 'nan', 'Infinity', '1e308', '0.37', '']
            .filter(() => !Number.isNaN(Number(sound.split(',')[at])))
            .map((cell) => [name, column, cell, header, sound, sound.split(',').with(at, cell).join(',')]),
        ),
    ),
  )('%s: a row whose %s is "%s" spoils no other row', (name, _column, _cell, header, sound, spoilt) => {
    const table = (rows: string[]) => ({ name, text: [header, ...rows].join('\n') });
    const [alone] = scoreTables([table([sound, sound])]);
    const [score] = scoreTables([table([sound, spoilt, sound])]);
    for (const point of score.points) expect(Number.isFinite(point.error), point.label).toBe(true);
    const others = score.points.filter(({ label }) => label === alone.points[0].label);
    expect(others[0]).toEqual(alone.points[0]);
    for (const { parameters } of calibrate(table([sound, spoilt, sound]).text, name).profiles)
      expect(Object.values(parameters).every(Number.isFinite)).toBe(true);
  });

  test('impossible layouts are skipped with the reason', () => {
    const [header, sound] = tables['experts.csv'];
    const rows = [
      sound.replace(',1,8,', ',1,1000,'),
      sound.replace(',64,', ',1e12,'),
      sound.replace('1.01', '1.0.1'),
    ];
    const [score] = scoreTables([{ name: 'experts.csv', text: [header, ...rows].join('\n') }]);
    expect(score.skipped.map(({ reason }) => reason)).toEqual([
      'more ranks than experts',
      'more than 4194304 tokens',
      'unknown law of loads: power_law_1.0.1',
    ]);
    const [alone] = scoreTables([
      { name: 'nccl.csv', text: 'system,op,num_gpus,bytes,latency_us\nh100,alltoall,1,8,9' },
    ]);
    expect(alone.skipped).toEqual([{ reason: 'fewer than two ranks', values: 1 }]);
  });
});

describe('outputs of other tools', () => {
  const lowLatencyOutput = [0, 1, 2, 3, 4, 5, 6, 7]
    .map(
      (rank) =>
        `[rank ${rank}] Dispatch + combine bandwidth: 100.00 GB/s, avg_t=120.00 us, min_t=1 us, max_t=2 us\n` +
        `[rank ${rank}] Dispatch bandwidth: 190.00 GB/s, avg_t=${39 + rank / 10} us | Combine bandwidth: 200.00 GB/s, avg_t=72.40 us`,
    )
    .join('\n');

  test('the low-latency test of DeepEP becomes one row per direction, averaged over ranks', () => {
    const { reading } = measurementsIn({
      name: 'h100 low latency.txt',
      text: `num_tokens=128\n${lowLatencyOutput}`,
    });
    expect(reading?.experiments.map((one) => one.profile)).toEqual([
      'h100/low-latency-dispatch',
      'h100/low-latency-combine',
    ]);
    expect(reading?.experiments[0]?.measured).toBeCloseTo(39_350, 6);
    expect(reading?.experiments[0]?.groups[0]).toBe('ep 8');
  });

  test('the normal tests of DeepEP give the bandwidth of the bottleneck link', () => {
    const text =
      '[config] num_tokens=4096, hidden=7168, num_ranks=32\n' +
      '[tuning] Best dispatch (BF16): SMs 24, NVL chunk 20, RDMA chunk 28, 50.00 GB/s (RDMA), 160.00 GB/s (NVL)\n' +
      '[tuning] Best dispatch (FP8): SMs 24, NVL chunk 20, RDMA chunk 28, 58.00 GB/s (RDMA), 189.00 GB/s (NVL)\n' +
      '[tuning] Best combine: SMs 24, NVL chunk 4, RDMA chunk 12: 57.00 GB/s (RDMA), 186.00 GB/s (NVL)\n';
    const { reading } = measurementsIn({ name: 'h800.log', text });
    expect(reading?.experiments.map((one) => one.measured)).toEqual([58e9, 57e9]);
    expect(reading?.experiments[0]?.profile).toBe('h800/normal-dispatch');
  });

  test('nccl-tests give a row per size', () => {
    const text = [
      '# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728',
      '# Collective test starting: alltoall_perf',
      '#  Rank  0 Group  0 Pid 1 on node device  0 [0x07] NVIDIA H100 80GB HBM3',
      '#  Rank  1 Group  0 Pid 1 on node device  1 [0x0a] NVIDIA H100 80GB HBM3',
      '#       size         count      type   redop    root     time   algbw   busbw #wrong     time',
      '    33554432       1048576     float    none      -1    151.2  221.92  110.96      0    150.9',
      '   134217728       4194304     float    none      -1    447.7  299.79  149.90      0    447.1',
    ].join('\n');
    const { reading } = measurementsIn({ name: 'run.txt', text });
    expect(reading?.experiments.map((one) => one.measured)).toEqual([151_200, 447_700]);
    expect(reading?.experiments[0]).toMatchObject({
      profile: 'h100/nccl-alltoall',
      groups: ['ranks 2', 'bytes 33554432'],
    });
  });

  test('files of the collectors are read in their own units', () => {
    const experts =
      'framework,version,device,op_name,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n' +
      'SGLang,0.5,NVIDIA B200,moe,sglang_flashinfer_trtllm_moe,w4a8_mxfp4_mxfp8,64,3584,3072,16,896,1,8,balanced,0.306\n';
    const { reading } = measurementsIn({ name: 'moe_perf.txt', text: experts });
    expect(reading?.experiments[0]).toMatchObject({ profile: 'b200/trtllm-w4a8', measured: 306_000 });
    const exchange =
      'framework,version,device,op_name,kernel_source,node_num,hidden_size,num_token,num_topk,num_experts,combine_avg_t_us,combine_bandwidth_gbps,dispatch_avg_t_us,dispatch_bandwidth_gbps\n' +
      'sglang,0.5,NVIDIA H200,ll,deepep,2,7168,128,8,256,200,70,110,66\n';
    const ll = measurementsIn({ name: 'wideep_deepep_ll_perf.txt', text: exchange }).reading;
    expect(ll?.experiments[0]).toMatchObject({ profile: 'h200/low-latency-dispatch', measured: 110_000 });
    expect(ll?.experiments[0]?.groups[0]).toBe('ep 16');
    const normal =
      'framework,version,device,op_name,kernel_source,node_num,hidden_size,num_token,num_topk,num_experts,dispatch_sms,dispatch_transmit_us,dispatch_notify_us,combine_sms,combine_transmit_us,combine_notify_us\n' +
      'sglang,0.5,NVIDIA H800,normal,deepep,4,7168,4096,8,256,20,1900,40,20,3700,30\n';
    const [dispatch, combine] =
      measurementsIn({ name: 'wideep_deepep_normal_perf.txt', text: normal }).reading?.experiments ?? [];
    expect(dispatch).toMatchObject({ profile: 'h800/normal-dispatch', measured: 1_900_000 });
    expect(combine).toMatchObject({ profile: 'h800/normal-combine', measured: 3_700_000 });
  });

  test('every foreign reader leaves the shipped tables alone', () => {
    for (const reader of Object.values(foreignReaders)) {
      for (const file of shippedTables) expect(reader.matches(file.text), file.name).toBe(false);
    }
  });

  test('calibrating a table of which no row can be used says why, and makes no profile', () => {
    const header = 'system,ep,hidden,tokens_per_rank,topk,experts,dispatch_us,combine_us';
    expect(() => calibrate(header, 'x.csv')).toThrow(/x\.csv: no row can be fitted: there is none/);
    expect(() => calibrate(`${header}\nabacus,8,7168,128,8,256,1,1`, 'x.csv')).toThrow(
      /no row can be fitted: 2 x no figures for system abacus/,
    );
  });

  test('calibrating text of an unknown kind says which columns it has', () => {
    expect(() => calibrate('fruit,price\napple,1\n', 'x.csv')).toThrow(/x\.csv: unknown kind.*fruit, price/);
  });
});
