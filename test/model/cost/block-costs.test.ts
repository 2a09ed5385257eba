import {
  activeParamCount,
  blockCosts,
  checkpointBytes,
  contextCosts,
  parameterList,
  stateBytes,
  withSoftmaxEverywhere,
} from '@epsim/model';
import type { ModelShape } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { deepseekV3, glm5, gptOss, kimiK2, kimiK3, maverick, nvfp4 } from '../parameters/shapes.js';

const models: readonly ModelShape[] = [
  kimiK3(),
  kimiK2(),
  deepseekV3(),
  glm5(nvfp4),
  gptOss(36, 128),
  maverick(),
];

describe('blocks at full size', () => {
  test('blocks add up to the parameter list, the active count, the checkpoint and the state', () => {
    for (const model of models) {
      const blocks = blockCosts(model, 4096);
      const sum = (of: (block: (typeof blocks)[number]) => number): number =>
        blocks.reduce((s, b) => s + of(b), 0);
      expect(
        sum((b) => b.parameters),
        model.name,
      ).toBe(parameterList(model).reduce((s, t) => s + t.elements, 0));
      expect(
        sum((b) => b.activeParameters),
        model.name,
      ).toBe(activeParamCount(model));
      expect(
        sum((b) => b.weightBytes),
        model.name,
      ).toBe(checkpointBytes(model));
      expect(
        sum((b) => b.stateBytes),
        model.name,
      ).toBe(stateBytes(model, 4096, 'bf16').total);
    }
  });

  test('FLOPs of a token are about twice the active parameters while the context is short', () => {
    for (const model of models) {
      const flops = blockCosts(model, 1).reduce((sum, block) => sum + block.flopsPerToken, 0);
      expect(flops / (2 * activeParamCount(model)), model.name).toBeGreaterThanOrEqual(1);
      expect(flops / (2 * activeParamCount(model)), model.name).toBeLessThan(1.02);
    }
  });

  test('K3 has 69 recurrent and 24 global layers, and windows are told apart in gpt-oss', () => {
    const layers = Object.fromEntries(blockCosts(kimiK3(), 1).map((block) => [block.block, block.layers]));
    expect(layers).toMatchObject({ kda: 69, mla: 24, 'routed-expert': 92, dense: 1, router: 92 });
    const names = blockCosts(gptOss(36, 128), 1).map((block) => block.block);
    expect(names).toContain('gqa window 128');
    expect(names).toContain('gqa');
  });
});

describe('the cost of context', () => {
  test('from 1 K to 1 M tokens K3 grows by its 24 caches only; softmax everywhere would hold 93 of them', () => {
    const lengths = [1024, 1_048_576];
    const [short, long] = contextCosts(kimiK3(), lengths);
    expect(long?.recurrentBytes).toBe(short?.recurrentBytes);
    expect(long?.cacheBytes).toBe(1024 * (short?.cacheBytes as number));
    const [, everywhere] = contextCosts(withSoftmaxEverywhere(kimiK3()), lengths);
    expect((everywhere?.cacheBytes as number) / (long?.cacheBytes as number)).toBeCloseTo(93 / 24, 12);
    expect(everywhere?.contextFlopsPerToken).toBeGreaterThan(3.5 * (long?.contextFlopsPerToken as number));
  });
});
