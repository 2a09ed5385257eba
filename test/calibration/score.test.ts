import {
  balancedLoads,
  calibrate,
  type Experiment,
  type FittedProfile,
  linkCosts,
  linkProfiles,
  measurementsIn,
  median,
  parseCsv,
  type SystemFigures,
  scoreTables,
  shippedTables,
  shippedValues,
  systemFigures,
} from '@epsim/calibration';
import { expertComputeTime, expertProfileOf } from '@epsim/model';
import { modelPresets } from '@epsim/spec';
import { describe, expect, test } from 'vitest';

const scores = scoreTables(shippedTables, { leaveOut: 'none' });

function fileNamed(name: string) {
  const file = shippedTables.find((one) => one.name === name);
  if (file === undefined) throw new Error(`no shipped table ${name}`);
  return file;
}

function experimentsOf(name: string): readonly Experiment[] {
  return measurementsIn(fileNamed(name)).reading?.experiments ?? [];
}

/** Time that the shipped profile predicts for the one experiment with this label. */
function predicted(name: string, label: string): { predicted: number; measured: number } {
  const found = experimentsOf(name).find((one) => one.label === label);
  if (found === undefined) throw new Error(`no row ${label}`);
  const values = shippedValues(found.profile, found.model)?.values ?? [];
  return { predicted: found.predict(values), measured: found.measured };
}

describe('the shipped profiles on the shipped tables', () => {
  test('the median error of each table is within its target', () => {
    const targets: Readonly<Record<string, number>> = {
      'deepep_low_latency.csv': 0.08,
      'deepep_v1_h800.csv': 0.08,
      'nvlink_onesided_gb200.csv': 0.1,
      'hybrid_ep.csv': 0.15,
      'nccl_collectives.csv': 0.15,
      'k3_experts_b200_sxm.csv': 0.15,
      'k3_experts_h200_sxm.csv': 0.15,
      'k3_experts_gb200.csv': 0.15,
      'k3_routed_layer_b200_ep8.csv': 0.1,
      'dsv3_grouped_gemm_h800.csv': 0.15,
      'deepgemm_h800.csv': 0.15,
      'mla_h800.csv': 0.15,
    };
    for (const score of scores)
      expect(score.medianError, score.file).toBeLessThan(targets[score.file] as number);
    expect(scores.length).toBe(Object.keys(targets).length);
  });

  test('no table is predicted too fast or too slow as a whole', () => {
    for (const score of scores) expect(Math.abs(score.bias as number), score.file).toBeLessThan(0.08);
  });

  test('drawn loads are faster than balanced ones at small batches and slower at large ones, as measured', () => {
    for (const [tokens, sign] of [
      [64, -1],
      [16_384, 1],
    ] as const) {
      const row = (law: string) =>
        predicted('k3_experts_b200_sxm.csv', `trtllm-w4a16 tp 1 ep 8 ${law} tokens ${tokens}`);
      const drawn = row('power_law_1.01');
      const even = row('balanced');
      expect(Math.sign(drawn.measured - even.measured)).toBe(sign);
      expect(Math.sign(drawn.predicted - even.predicted)).toBe(sign);
    }
  });

  test('times that are all doubled show as a bias of a half', () => {
    const file = fileNamed('mla_h800.csv');
    const text = file.text.replace(
      /^(decode|prefill),(\d+),(\d+),([\d.]+)$/gm,
      (_, phase, batch, length, us) => [phase, batch, length, 2 * Number(us)].join(','),
    );
    const [before] = scoreTables([file], { leaveOut: 'none' });
    const [after] = scoreTables([{ ...file, text }], { leaveOut: 'none' });
    expect(1 + (after?.bias as number)).toBeCloseTo((1 + (before?.bias as number)) / 2, 6);
  });

  test('every line of a table is either scored or skipped', () => {
    for (const score of scores) {
      const { table } = measurementsIn(fileNamed(score.file));
      expect(score.rows + score.skippedRows, score.file).toBe(table?.rows.length);
      expect(score.predictions, score.file).toBe(score.points.length);
    }
  });

  test('the worst rows are the largest errors, worst first', () => {
    for (const score of scores) {
      const sizes = score.worstRows.map((row) => Math.abs(row.error));
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
      expect(sizes[0]).toBe(Math.max(...score.points.map((point) => Math.abs(point.error))));
    }
  });
});

describe('leaving a group out', () => {
  test('a degree that the fit did not see is predicted within the targets', () => {
    const left = (name: string): number =>
      scoreTables([fileNamed(name)])[0]?.leaveGroupOutMedianError ?? Number.POSITIVE_INFINITY;
    expect(left('nvlink_onesided_gb200.csv')).toBeLessThan(0.1);
    expect(left('dsv3_grouped_gemm_h800.csv')).toBeLessThan(0.15);
    expect(left('deepep_low_latency.csv')).toBeLessThan(0.08);
    expect(left('deepep_v1_h800.csv')).toBeLessThan(0.15);
  });

  test('every kind of groups can be left out, and other systems speak for one that is left out', () => {
    const [score] = scoreTables([fileNamed('deepep_low_latency.csv')], { leaveOut: 'all' });
    expect(score?.leaveOut.map((line) => line.by).sort()).toEqual(['ep', 'hidden', 'system', 'tokens']);
    for (const line of score?.leaveOut ?? []) expect(line.medianError, line.by).toBeLessThan(0.25);
    const systems = score?.leaveOut.find((line) => line.by === 'system');
    expect(systems?.predictions).toBe(score?.predictions);
  });

  test('values that a table states twice show how near any model can come', () => {
    const file = fileNamed('deepep_low_latency.csv');
    const repeated = file.text
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('h200'))
      .map((line) => {
        const cells = line.split(',');
        return [...cells.slice(0, 6), 1.25 * Number(cells[6]), cells[7]].join(',');
      });
    const text = `${file.text.trim()}\n${repeated.join('\n')}\n`;
    const [once] = scoreTables([file], { leaveOut: 'none' });
    const [twice] = scoreTables([{ ...file, text }], { leaveOut: 'none' });
    expect(once?.repeats).toBeNull();
    expect(twice?.repeats?.cases).toBe(2 * repeated.length);
    expect(twice?.repeats?.medianSpread).toBeCloseTo(0.125, 6);
  });

  test('a system measured inside one node states nothing of the network, and borrows it where it crosses', () => {
    for (const phase of ['dispatch', 'combine'] as const) {
      const stated = linkProfiles[`h200/low-latency-${phase}`]?.parameters ?? {};
      expect(Object.keys(stated)).toEqual(['startNs', 'perMessageNs', 'upFraction', 'rowNs']);
      const costs = linkCosts({ name: 'H200 SXM' }, 'low-latency', phase, { ep: 32 });
      expect(costs?.link.startNs).toBe(stated.startNs);
      expect(costs?.link.outFraction).toBe(linkProfiles[`h100/low-latency-${phase}`]?.parameters.outFraction);
      expect(costs?.relErrorBar).toBe(
        2 * (linkProfiles[`h200/low-latency-${phase}`]?.leaveOutError as number),
      );
    }
  });

  test('it says which group was left out of which profile', () => {
    const [score] = scoreTables([fileNamed('deepep_low_latency.csv')]);
    const of = (profile: string) => score?.profiles.find((one) => one.profile === profile)?.groupedBy;
    expect(of('h100/low-latency-dispatch')).toBe('ep');
    expect(of('b200/low-latency-dispatch')).toBe('hidden');
  });
});

describe('calibrating', () => {
  test('refitting a shipped table in full gives profiles that predict as the shipped ones do', () => {
    for (const name of ['nvlink_onesided_gb200.csv', 'deepep_v1_h800.csv', 'dsv3_grouped_gemm_h800.csv']) {
      const { profiles } = calibrate(fileNamed(name).text, name);
      for (const fitted of profiles) {
        const rows = experimentsOf(name).filter((one) => one.profile === fitted.profile);
        const shipped = shippedValues(fitted.profile, (rows[0] as Experiment).model);
        expect(shipped?.borrowedFrom).toBeNull();
        const values = Object.values(fitted.parameters);
        const apart = rows.map((one) =>
          Math.abs(one.predict(values) / one.predict(shipped?.values ?? []) - 1),
        );
        expect(median(apart), fitted.profile).toBeLessThan(0.03);
      }
    }
  });

  test('a profile says what it was fitted to, where, and how far off it is', () => {
    const { profiles, skipped } = calibrate(
      fileNamed('nvlink_onesided_gb200.csv').text,
      'nvlink_onesided_gb200.csv',
    );
    expect(skipped).toEqual([]);
    expect(profiles.map((one) => one.profile)).toEqual([
      'gb200/one-sided-dispatch',
      'gb200/one-sided-combine',
    ]);
    for (const one of profiles) {
      expect(one.range).toEqual({ ep: [8, 32], tokens: [1, 2048] });
      expect(one.source).toMatch(/TensorRT-LLM/);
      expect(one.medianError).toBeLessThan(0.1);
      expect(JSON.parse(JSON.stringify(one))).toEqual(one);
    }
  });

  test('a fit to experts becomes a device profile that predicts as the fit does, a fit to links does not', () => {
    const name = 'k3_experts_h200_sxm.csv';
    const fit = calibrate(fileNamed(name).text, name).profiles.find(
      (one) => one.profile === 'h200/marlin-w4a16',
    );
    const profile = expertProfileOf(fit as FittedProfile);
    expect(profile?.experts.startNs).toBe(fit?.parameters.startNs);
    expect(profile?.experts.tileRows).toEqual([8, 16, 32, 48, 64]);
    const k3 = modelPresets['kimi-k3'];
    const { device } = systemFigures('h200') as SystemFigures;
    const ns = expertComputeTime(
      k3,
      device,
      balancedLoads({ tokens: 64, expertCount: 896, topK: 16, ranks: 1 }),
      profile ?? undefined,
    ).ns;
    expect(Math.abs(ns / 5_735_000 - 1)).toBeLessThan(0.1);
    const link = calibrate(fileNamed('nvlink_onesided_gb200.csv').text).profiles[0];
    expect(expertProfileOf(link as FittedProfile)).toBeNull();
  });

  test('faster measurements give faster links', () => {
    const name = 'nvlink_onesided_gb200.csv';
    const file = fileNamed(name);
    const table = parseCsv(file.text);
    const halved = [
      table.columns.join(','),
      ...table.rows.map(({ cells }) =>
        [cells.ep, cells.batch_per_rank, Number(cells.dispatch_us) / 2, Number(cells.combine_us) / 2].join(
          ',',
        ),
      ),
    ].join('\n');
    const before = calibrate(file.text, name).profiles[0]?.parameters;
    const after = calibrate(halved, name).profiles[0]?.parameters;
    expect(after?.startNs).toBeLessThan(0.6 * (before?.startNs as number));
    expect(after?.upFraction).toBeGreaterThan(before?.upFraction as number);
  });
});

describe('costs of an exchange for a network model', () => {
  test('a measured system has its own and an unmeasured one borrows with twice the error bar', () => {
    const own = linkCosts({ name: 'H100 SXM' }, 'low-latency', 'dispatch');
    expect(own?.provenance).toBe('fitted');
    const far = linkCosts({ name: 'H100 SXM' }, 'low-latency', 'dispatch', { ep: 256, tokens: 128 });
    expect(far?.relErrorBar).toBe(2 * (own?.relErrorBar as number));
    const borrowed = linkCosts({ name: 'H20' }, 'low-latency', 'dispatch');
    expect(borrowed?.provenance).toBe('derived');
    expect(borrowed?.relErrorBar).toBe(2 * (linkProfiles[borrowed?.profile ?? '']?.leaveOutError as number));
  });

  test('every link profile has a source, a range, errors and fractions of at most 1', () => {
    for (const [name, profile] of Object.entries(linkProfiles)) {
      expect(profile.source.length, name).toBeGreaterThan(20);
      expect(Object.keys(profile.range).length, name).toBeGreaterThan(0);
      expect(profile.leaveOutError, name).toBeGreaterThan(0);
      for (const [key, value] of Object.entries(profile.parameters)) {
        if (key.endsWith('Fraction')) expect(value, name).toBeLessThanOrEqual(1);
      }
    }
  });
});
