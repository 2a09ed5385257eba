import { loadMeasures, summarize, summarySchema } from '@epsim/results';
import { describe, expect, test } from 'vitest';
import { estimate, sampleRecord, sampleScenario } from './sample.js';

const extra = {
  version: '0.1.0',
  paramCount: 2e12,
  activeParamCount: 1e11,
  buffers: [{ quantile: 1, rows: 3 }],
  notes: ['a note'],
};

describe('a summary', () => {
  test('layers that lean opposite ways do not cancel', () => {
    const scenario = sampleScenario({ layers: 2 });
    const leaning = [
      sampleRecord([300, 0, 100, 0], [300, 100], { layer: 0 }),
      sampleRecord([0, 100, 0, 300], [100, 300], { layer: 1 }),
    ];
    const { ranks } = summarize(scenario, leaning, extra);
    expect(ranks.meanOverMax).toBeCloseTo(2 / 3, 12);
    expect(ranks.maxOverMean).toBe(1.5);
    expect(ranks.tokensPerRank).toEqual({ min: 100, mean: 200, max: 300 });
  });

  test('layers that lean alike keep their measure: ranks with 100 and 200 are 0.75 whatever the number of layers', () => {
    const layer = (n: number) => sampleRecord([50, 50, 100, 100], [100, 200], { layer: n });
    const { ranks } = summarize(sampleScenario({ layers: 2 }), [layer(0), layer(1)], extra);
    expect(ranks.meanOverMax).toBe(0.75);
    expect(ranks.maxOverMean).toBeCloseTo(4 / 3, 12);
    expect(ranks.maxMinusMeanOverMean).toBeCloseTo(1 / 3, 12);
  });

  test('the worst layer and the last step stand beside the mean', () => {
    const scenario = sampleScenario({ steps: 2 });
    const settling = [
      sampleRecord([8, 0, 0, 0], [8, 0], { step: 0 }),
      sampleRecord([2, 2, 2, 2], [4, 4], { step: 1 }),
    ];
    const { load } = summarize(scenario, settling, extra);
    expect(load.maxVio).toBe(1.5);
    expect(load.worst).toEqual({ step: 0, layer: 0, maxVio: 3, maxOverMean: 4, tokens: 8 });
    expect(load.lastStep).toEqual({ maxVio: 0, maxOverMean: 1, starvedExperts: 0 });
    expect(load.starvedExperts).toBe(1.5);
    expect(load.neverChosen).toBe(0);
  });

  test('padding is counted apart from tokens', () => {
    const padded = sampleRecord([3, 2, 2, 3], [5, 5], { paddedTokens: 3 });
    const { tokens, ranks } = summarize(sampleScenario(), [padded], extra);
    expect(tokens).toEqual({ total: 5, padded: 3, perStep: 5 });
    expect(ranks.meanOverMax).toBe(1);
  });

  test('a step without all its layers is left out and the run is not complete', () => {
    const scenario = sampleScenario({ steps: 2, layers: 2 });
    const records = [
      sampleRecord([1, 1, 1, 1], [2, 2], { step: 0, layer: 0 }),
      sampleRecord([1, 1, 1, 1], [2, 2], { step: 0, layer: 1 }),
      sampleRecord([4, 0, 0, 0], [4, 0], { step: 1, layer: 0 }),
    ];
    const summary = summarize(scenario, records, extra);
    expect(summary.steps).toEqual({ asked: 2, finished: 1 });
    expect(summary.complete).toBe(false);
    expect(summary.load.maxVio).toBe(0);
    expect(() => summarize(scenario, records.slice(2), extra)).toThrow(/no finished step among 1 records/);
  });

  test('bytes add up over layers and tokens of a step count once', () => {
    const layer = (n: number) => sampleRecord([2, 2, 2, 2], [4, 4], { layer: n });
    const { bytes, tokens, carried } = summarize(sampleScenario({ layers: 2 }), [layer(0), layer(1)], extra);
    expect(tokens.total).toBe(4);
    expect(bytes).toMatchObject({ dispatch: 600, combine: 1400, perToken: 250, dedupRatio: 0.75 });
    expect(bytes.dispatch + bytes.combine).toBe(bytes.scaleUp + bytes.scaleOut + bytes.local);
    expect(carried).toMatchObject({ transport: 'thread', workers: 2, tokens: 4, checked: true });
  });

  test('fields stand in the order of the schema, so that a summary that was read has the bytes of the one written', () => {
    const summary = summarize(sampleScenario(), [sampleRecord([2, 2, 2, 2], [4, 4])], extra);
    expect(JSON.stringify(summarySchema.parse(summary))).toBe(JSON.stringify(summary));
  });

  test('what was carried is checked only where all of it was compared with the reference', () => {
    const record = sampleRecord([2, 2, 2, 2], [4, 4]);
    const uncompared = { ...record.carried!, maxAbsError: null, maxRelError: null };
    const of = (...list: (typeof uncompared | typeof record.carried)[]) =>
      summarize(
        sampleScenario({ layers: list.length }),
        list.map((carried, layer) => ({ ...record, layer, carried })),
        extra,
      ).carried;
    expect(of(record.carried)).toMatchObject({ checked: true, checkedLayerSteps: 1, maxRelError: 1e-5 });
    expect(of(record.carried, uncompared)).toMatchObject({
      checked: false,
      checkedLayerSteps: 1,
      layerSteps: 2,
    });
    expect(of(uncompared)).toMatchObject({ checked: false, checkedLayerSteps: 0, maxRelError: null });
  });

  test('step time is the sum over layers, and each phase keeps its source and error bar', () => {
    const timed = (scored: number) => ({
      stepNs: 1000,
      phases: {
        dispatch: estimate(100, { provenance: 'fitted', source: 'a table', relErrorBar: scored }),
        experts: estimate(300),
      },
      stragglerIdleFraction: 0.25,
    });
    const records = [0.1, 0.2].map((bar, layer) =>
      sampleRecord([2, 2, 2, 2], [4, 4], { layer, timed: timed(bar) }),
    );
    const times = summarize(sampleScenario({ layers: 2 }), records, extra).timed;
    expect(times).toMatchObject({
      stepNs: 2000,
      phases: { dispatch: 200, experts: 600 },
      sources: { dispatch: { provenance: 'fitted', source: 'a table' }, experts: { relErrorBar: null } },
      unscoredFraction: 0.75,
    });
    expect(times?.relErrorBar).toBeCloseTo(0.15, 12);
    expect(times?.tokensPerSecPerRank).toBeCloseTo(2 / 2e-6, 6);
  });

  test('the baseline is measured like the run itself: per layer first', () => {
    const baseline = (over: readonly number[]) => ({
      policy: 'top-k',
      expertLoadMeasures: loadMeasures(over),
      rankLoadMeasures: loadMeasures(over),
      stepNs: 500,
    });
    const records = [
      sampleRecord([2, 2, 2, 2], [4, 4], { layer: 0, baseline: baseline([300, 100]) }),
      sampleRecord([2, 2, 2, 2], [4, 4], { layer: 1, baseline: baseline([100, 300]) }),
    ];
    const summary = summarize(sampleScenario({ layers: 2 }), records, extra);
    expect(summary.baseline).toMatchObject({ policy: 'top-k', load: { maxVio: 0.5 }, stepNs: 1000 });
    expect(summary.baseline?.ranks.meanOverMax).toBeCloseTo(2 / 3, 12);
    expect(summarize(sampleScenario(), [sampleRecord([1, 1], [1, 1])], extra).baseline).toBeNull();
  });

  test('a run that carried nothing or timed nothing says so', () => {
    const record = sampleRecord([2, 2, 2, 2], [4, 4], { carried: null, timed: null });
    const summary = summarize(sampleScenario(), [record], extra);
    expect(summary.timed).toBeNull();
    expect(summary.carried).toMatchObject({ transport: null, tokens: 0, maxRelError: null, checked: false });
    expect(summarySchema.parse(summary)).toEqual(summary);
  });
});
