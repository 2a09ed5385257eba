import {
  collectiveModel,
  distinctGroups,
  type Experiment,
  exchangeNs,
  fitParameters,
  linkMaker,
  lowLatencyModel,
  type SystemFigures,
  systemFigures,
  toldParameters,
} from '@epsim/calibration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const h100 = systemFigures('h100') as SystemFigures;
const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });

/** Experiments of a known truth: exchanges of many sizes, timed by the model itself and then disturbed. */
function synthetic(truth: readonly number[], disturb: (ns: number, index: number) => number): Experiment[] {
  const linkOf = linkMaker(lowLatencyModel);
  const cases = [1, 8, 64, 256, 1024].flatMap((tokens) =>
    [8, 128, 512].flatMap((experts) => [8, 32].map((ep) => ({ tokens, experts, ep }))),
  );
  return cases.map(({ tokens, experts, ep }, index) => {
    const payload = tokens * 8 * 7408;
    const exchange = {
      scaleUpBytes: (payload * 7) / ep,
      scaleOutBytes: (payload * (ep - 8)) / ep,
      messages: experts,
      rowsPerUnit: tokens / Math.min(experts, 132),
    };
    const predict = (values: readonly number[]): number => exchangeNs(exchange, h100, linkOf(values));
    return {
      profile: 'h100/synthetic',
      model: lowLatencyModel,
      groups: [`ep ${ep}`],
      label: `${index}`,
      line: index + 1,
      measured: disturb(predict(truth), index),
      predict,
    };
  });
}

describe('fitting', () => {
  test('the parameters behind undisturbed measurements are found', () => {
    const truth = [9000, 15, 0.6, 14_000, 0.85, 2000];
    const experiments = synthetic(truth, (ns) => ns);
    const values = fitParameters(lowLatencyModel, experiments);
    for (const one of experiments) expect(one.predict(values) / one.measured).toBeCloseTo(1, 2);
    expect(values[2]).toBeCloseTo(0.6, 1);
    expect(values[4]).toBeCloseTo(0.85, 1);
  });

  test('one row in ten that is three times too slow moves the others by less than 1 %', () => {
    const truth = [9000, 15, 0.6, 14_000, 0.85, 2000];
    const experiments = synthetic(truth, (ns, index) => (index % 10 === 3 ? 3 * ns : ns));
    const values = fitParameters(lowLatencyModel, experiments, { rounds: 8 });
    const errors = experiments
      .filter((_, index) => index % 10 !== 3)
      .map((one) => Math.abs(one.predict(values) / one.measured - 1));
    expect(errors.sort((a, b) => a - b)[Math.floor(errors.length / 2)]).toBeLessThan(0.01);
  });

  test('values stay within their bounds whatever was measured', () => {
    fc.assert(
      fc.property(fc.array(between(0.01, 100), { minLength: 30, maxLength: 30 }), (factors) => {
        const experiments = synthetic(
          [9000, 15, 0.6, 14_000, 0.85, 2000],
          (ns, i) => ns * (factors[i] as number),
        );
        const values = fitParameters(lowLatencyModel, experiments, { rounds: 1, iterations: 5 });
        lowLatencyModel.parameters.forEach(({ min, max }, i) => {
          expect(values[i]).toBeGreaterThanOrEqual(min);
          expect(values[i]).toBeLessThanOrEqual(max);
        });
      }),
      { numRuns: 20 },
    );
  });

  test('what the rows do not tell stays as on the related system, and is told apart', () => {
    const truth = [9000, 15, 0.6, 14_000, 0.85, 2000];
    const related = [11_000, 20, 0.5, 10_000, 0.7, 1500];
    const inside = synthetic(truth, (ns) => ns).filter((one) => one.groups[0] === 'ep 8');
    const values = fitParameters(lowLatencyModel, inside, { start: related });
    for (const one of inside) expect(Math.abs(one.predict(values) / one.measured - 1)).toBeLessThan(0.02);
    expect(values[3]).toBeCloseTo(10_000, 3);
    expect(values[4]).toBeCloseTo(0.7, 9);
    expect(toldParameters(inside, values)).toEqual([0, 1, 2, 5]);
  });

  test('a few rows of one degree move numbers that they barely tell less than a system differs from another', () => {
    const truth = [9000, 15, 0.6, 14_000, 0.85, 2000];
    const related = [8000, 12, 0.7, 12_000, 0.9, 2400];
    const across = synthetic(truth, (ns, index) => ns * (index % 2 === 0 ? 1.05 : 0.95)).filter(
      (one) => one.groups[0] === 'ep 32',
    );
    const values = fitParameters(lowLatencyModel, across, { start: related });
    related.forEach((value, i) => {
      expect(Math.abs((values[i] as number) / value - 1), lowLatencyModel.parameters[i]?.name).toBeLessThan(
        0.3,
      );
    });
  });

  test('a single row teaches nothing and the start comes back', () => {
    const [one] = synthetic([9000, 15, 0.6, 14_000, 0.85, 2000], (ns) => ns);
    expect(fitParameters(lowLatencyModel, [one as Experiment])).toEqual(
      lowLatencyModel.parameters.map((parameter) => parameter.start),
    );
  });
});

describe('the link model', () => {
  test('no exchange is faster than its bytes at nominal rates or than its start', () => {
    fc.assert(
      fc.property(
        between(0, 1e9),
        between(0, 1e9),
        fc.nat(512),
        between(0.1, 1),
        (up, out, messages, fraction) => {
          const exchange = { scaleUpBytes: up, scaleOutBytes: out, messages, rowsPerUnit: 0 };
          const link = { ...linkMaker(lowLatencyModel)([10_000, 10, fraction, 5000, fraction, 0]) };
          const ns = exchangeNs(exchange, h100, link);
          expect(ns).toBeGreaterThanOrEqual(10_000 + 10 * messages);
          expect(ns).toBeGreaterThanOrEqual((1e9 * up) / 450e9);
          expect(ns).toBeGreaterThanOrEqual((1e9 * out) / 50e9);
        },
      ),
    );
  });

  test('with an exponent of 1 it is start plus bytes over rate, exactly', () => {
    const link = linkMaker(collectiveModel)([1000, 10, 0.5, 1]);
    const exchange = { scaleUpBytes: 450e3, scaleOutBytes: 0, messages: 4, rowsPerUnit: 0 };
    expect(exchangeNs(exchange, h100, link)).toBeCloseTo(1040 + 2000, 9);
  });
});

describe('occupancy', () => {
  test('distinct ranks of a K3 token match the closed form', () => {
    expect(distinctGroups(8, 896, 16)).toBeCloseTo(7.07, 2);
    expect(distinctGroups(64, 896, 16)).toBeCloseTo(14.36, 2);
  });

  test('it is what counting every choice gives', () => {
    const choose = (from: number[], count: number): number[][] =>
      count === 0
        ? [[]]
        : from.flatMap((first, i) => choose(from.slice(i + 1), count - 1).map((rest) => [first, ...rest]));
    for (const [groups, perGroup, choices] of [
      [2, 3, 2],
      [3, 2, 3],
      [4, 2, 5],
    ] as const) {
      const experts = Array.from({ length: groups * perGroup }, (_, i) => i);
      const all = choose(experts, choices);
      const touched = all.map(
        (picked) => new Set(picked.map((expert) => Math.floor(expert / perGroup))).size,
      );
      const mean = touched.reduce((sum, count) => sum + count, 0) / all.length;
      expect(distinctGroups(groups, groups * perGroup, choices)).toBeCloseTo(mean, 12);
    }
  });
});
