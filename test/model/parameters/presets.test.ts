import {
  activeParamCount,
  checkpointBytes,
  countedParameters,
  paramCount,
  parameterTotals,
} from '@epsim/model';
import {
  type ModelPresetName,
  type ModelShape,
  modelPresets,
  type PublishedCounts,
  publishedCounts,
  publishedRange,
} from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { deepseekV3, kimiK2, kimiK3 } from './shapes.js';

/** What the sizes give in 10^9, in the parts that each published figure holds: total, active. */
const counted: Readonly<Record<Exclude<ModelPresetName, 'kimi-k3-mini'>, readonly [number, number]>> = {
  'kimi-k3': [2779.48, 104.19],
  'kimi-k2': [1026.41, 31.69],
  'kimi-k2.5': [1026.41, 31.69],
  'kimi-linear-48b-a3b': [48.37, 2.73],
  'deepseek-v3': [671.03, 36.63],
  'deepseek-r1': [671.03, 36.63],
  'deepseek-v3.2': [683.5, 37.48],
  'deepseek-v4-pro': [1598.87, 48.85],
  'deepseek-v4-flash': [284.33, 13.27],
  'qwen3-235b-a22b': [235.09, 22.19],
  'qwen3-30b-a3b': [30.53, 3.35],
  'qwen3.5-397b-a17b': [396.35, 17.35],
  'gpt-oss-120b': [116.83, 5.13],
  'gpt-oss-20b': [20.91, 3.61],
  'glm-4.5': [355.23, 32.08],
  'glm-5': [743.91, 39.88],
  'minimax-m2.5': [228.69, 9.8],
  'minimax-m3': [425.95, 23.28],
  'llama-4-maverick': [400.71, 17.18],
  'nemotron-3-super-120b-a12b': [120.67, 12.77],
  'nemotron-3-ultra-550b-a55b': [549.31, 54.99],
  'mixtral-8x7b': [46.7, 12.88],
};

const published = Object.entries(publishedCounts).flatMap(
  ([name, counts]): [keyof typeof counted, PublishedCounts][] =>
    counts === null ? [] : [[name as keyof typeof counted, counts]],
);

describe('model presets', () => {
  test.each(published)('%s counts what is published, in the parts that the figure holds', (name, counts) => {
    const preset: ModelShape = modelPresets[name];
    for (const [index, what] of (['total', 'active'] as const).entries()) {
      const count = countedParameters(preset, counts[what].holds, what);
      expect(Number((count / 1e9).toFixed(2)), what).toBe(counted[name][index]);
      const [least, most] = publishedRange(counts[what]);
      expect(count, what).toBeGreaterThanOrEqual(least);
      expect(count, what).toBeLessThanOrEqual(most);
    }
    expect(counts.source).toMatch(/20\d\d-\d\d$/);
  });

  test('a published figure stands for 1 % about it, or for what its digits leave open', () => {
    const range = (figure: string, cut = false) =>
      publishedRange({ figure, holds: ['layers'], cut }).map((count) => count / 1e9);
    expect(range('100 B')).toEqual([99, 101]);
    expect(range('37 B')).toEqual([36.5, 37.5]);
    expect(range('1.6 T')).toEqual([1550, 1650]);
    expect(range('104.2 B')[0]).toBeCloseTo(103.158);
    expect(range('3.3 B', true)).toEqual([3.267, 3.4]);
    expect(() => publishedRange({ figure: '37B', holds: [] })).toThrow('37B; a count is written as');
  });

  test('Nemotron-3 Super is the sum over the headers of its checkpoint, to the parameter', () => {
    const preset = modelPresets['nemotron-3-super-120b-a12b'];
    // BF16 tensors without the prediction layer, and 40 biases of 512 experts in FP32.
    expect(paramCount(preset)).toBe(123_611_012_096 - 2_942_324_736 + 40 * 512);
    const inactive = 107_898_470_400;
    expect(countedParameters(preset, ['layers', 'embedding', 'head'], 'active')).toBe(
      paramCount(preset) - inactive,
    );
  });

  test('the sum over the headers of the checkpoint of GLM-5 is 753.864 B with its prediction layer', () => {
    const parts = ['layers', 'embedding', 'head', 'prediction'] as const;
    expect(countedParameters(modelPresets['glm-5'], parts, 'total') / 1e9).toBeCloseTo(753.864, 3);
  });

  test('parts add up to the model', () => {
    for (const preset of Object.values<ModelShape>(modelPresets)) {
      const language = countedParameters(preset, ['layers', 'embedding', 'head'], 'total');
      expect(language).toBe(paramCount(preset));
      expect(countedParameters(preset, ['layers', 'head'], 'active')).toBe(activeParamCount(preset));
    }
  });

  test('they count what the same models spelled out by hand count', () => {
    const byHand = { 'kimi-k3': kimiK3(), 'kimi-k2': kimiK2(), 'deepseek-v3': deepseekV3() };
    for (const [name, shape] of Object.entries(byHand)) {
      const preset = modelPresets[name as keyof typeof byHand];
      expect(paramCount(preset), name).toBe(paramCount(shape));
      expect(activeParamCount(preset), name).toBe(activeParamCount(shape));
    }
  });

  test('the K3 preset stores its experts in MXFP4 and the rest in BF16', () => {
    const k3 = modelPresets['kimi-k3'];
    expect(checkpointBytes(k3) / 1e12).toBeCloseTo(1.56, 2);
    expect(parameterTotals(k3).find((t) => t.tensorClass === 'routed-expert')?.bytes).toBe(
      92 * 896 * 17_547_264,
    );
  });
});
