import { activeParamCount, checkpointBytes, paramCount, parameterTotals } from '@epsim/model';
import { modelPresets } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { deepseekV3, kimiK2, kimiK3 } from './shapes.js';

describe('model presets', () => {
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
