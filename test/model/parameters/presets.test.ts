import { activeParamCount, checkpointBytes, paramCount, parameterTotals } from '@epsim/model';
import { type ModelShape, modelPresets } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { deepseekV3, kimiK2, kimiK3 } from './shapes.js';

/**
 * Published counts in 10^9: total, and active with the digits that the publisher gives. Some count the input
 * embedding as active. Kimi K3 and K2 are checked closer below; MiniMax-M3's counts are not published.
 */
const published: Readonly<Record<string, { total: number; active: [number, number]; embedding: boolean }>> = {
  'kimi-k3': { total: 2779.5, active: [104.185, 104.195], embedding: false },
  'kimi-k2': { total: 1026, active: [31.65, 31.75], embedding: false },
  'kimi-k2.5': { total: 1026, active: [31.65, 31.75], embedding: false },
  'kimi-linear-48b-a3b': { total: 49.1, active: [3, 3.5], embedding: false },
  'deepseek-v3': { total: 671, active: [36.5, 37.5], embedding: false },
  'deepseek-r1': { total: 671, active: [36.5, 37.5], embedding: false },
  'deepseek-v3.2': { total: 671, active: [36.5, 37.5], embedding: false },
  'qwen3-235b-a22b': { total: 235, active: [21.5, 22.5], embedding: true },
  'qwen3-30b-a3b': { total: 30.5, active: [3.3, 3.4], embedding: true },
  'qwen3.5-397b-a17b': { total: 397, active: [16.5, 17.5], embedding: true },
  'gpt-oss-120b': { total: 116.83, active: [5.125, 5.135], embedding: false },
  'gpt-oss-20b': { total: 20.91, active: [3.605, 3.615], embedding: false },
  // Z.ai cuts the decimals off.
  'glm-4.5': { total: 355, active: [32, 33], embedding: false },
  'glm-5': { total: 744, active: [40, 41], embedding: false },
  'minimax-m2.5': { total: 230, active: [9.5, 10.5], embedding: false },
  'llama-4-maverick': { total: 400, active: [16.5, 17.5], embedding: true },
  'nemotron-3-super-120b-a12b': { total: 120.6, active: [11.5, 12.8], embedding: false },
  'nemotron-3-ultra-550b-a55b': { total: 550, active: [54.5, 55.5], embedding: false },
  'mixtral-8x7b': { total: 46.7, active: [12.85, 12.95], embedding: true },
};

describe('model presets', () => {
  test('totals are within 1 % of the published ones and active counts round to them', () => {
    for (const [name, { total, active, embedding }] of Object.entries(published)) {
      const preset: ModelShape | undefined = (modelPresets as Record<string, ModelShape>)[name];
      if (preset === undefined) throw new Error(`no preset ${name}`);
      expect(Math.abs(paramCount(preset) / 1e9 / total - 1), name).toBeLessThan(0.01);
      const looked = embedding ? preset.vocabSize * preset.hiddenSize : 0;
      const count = (activeParamCount(preset) + looked) / 1e9;
      expect(count, name).toBeGreaterThanOrEqual(active[0]);
      expect(count, name).toBeLessThanOrEqual(active[1]);
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
