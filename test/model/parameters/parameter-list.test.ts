import {
  activeParamCount,
  checkpointBytes,
  expertElements,
  paramCount,
  parameterList,
  parameterTotals,
  storedBytes,
} from '@epsim/model';
import type { ModelShape } from '@epsim/spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bf16,
  deepseekV3,
  experts,
  glm5,
  gptOss,
  gqa,
  int4,
  kimiK2,
  kimiK3,
  maverick,
  model,
  nvfp4,
} from './shapes.js';

function classTotal(shape: ModelShape, tensorClass: string) {
  const found = parameterTotals(shape).find((total) => total.tensorClass === tensorClass);
  if (found === undefined) throw new Error(`no ${tensorClass} in ${shape.name}`);
  return found;
}

describe('published counts', () => {
  test('Kimi K3 has 2.7795 T parameters, 104.19 B of them active', () => {
    const k3 = kimiK3();
    expect(paramCount(k3) / 1e12).toBeCloseTo(2.7795, 4);
    expect(activeParamCount(k3) / 1e9).toBeCloseTo(104.19, 2);
    expect(classTotal(k3, 'routed-expert').elements).toBe(92 * 896 * 33_030_144);
    expect(classTotal(k3, 'routed-expert').activeElements / 1e9).toBeCloseTo(48.6, 1);
  });

  test('one K3 expert in MXFP4 is 17.547 MB and the checkpoint 1.56 TB', () => {
    const k3 = kimiK3();
    expect(storedBytes(expertElements(k3.moe), k3.precision.routedExperts)).toBe(17_547_264);
    expect(classTotal(k3, 'routed-expert').bytes).toBe(92 * 896 * 17_547_264);
    expect(checkpointBytes(k3) / 1e12).toBeCloseTo(1.56, 2);
  });

  test('each block of K3 has its published size', () => {
    const perLayer = (layer: number, tensorClass: string): number =>
      parameterList(kimiK3())
        .filter((t) => t.layer === layer && t.tensorClass === tensorClass)
        .reduce((sum, t) => sum + t.elements, 0);
    expect(perLayer(1, 'attention') / 1e6).toBeCloseTo(443.74, 2);
    expect(perLayer(3, 'attention') / 1e6).toBeCloseTo(232.2, 1);
    expect(perLayer(92, 'attention')).toBe(perLayer(3, 'attention'));
    expect(perLayer(1, 'shared-expert') / 1e6).toBeCloseTo(132.12, 2);
    expect(perLayer(1, 'latent-projection') / 1e6).toBeCloseTo(51.38, 2);
    expect(perLayer(1, 'router') / 1e6).toBeCloseTo(6.42, 2);
    expect(perLayer(0, 'dense') / 1e6).toBeCloseTo(726.7, 1);
  });

  test('the vision tower of K3 has 401 M parameters and is not counted as language', () => {
    const tower = parameterList(kimiK3()).filter(
      (t) => t.part === 'vision' && !t.name.startsWith('projector'),
    );
    expect(tower.reduce((sum, t) => sum + t.elements, 0) / 1e6).toBeCloseTo(401, 0);
    expect(paramCount({ ...kimiK3(), vision: null })).toBe(paramCount(kimiK3()));
  });

  test('Kimi K2 has 1.026 T parameters, 31.7 B active', () => {
    expect(paramCount(kimiK2()) / 1e12).toBeCloseTo(1.026, 3);
    expect(activeParamCount(kimiK2()) / 1e9).toBeCloseTo(31.7, 1);
  });

  test('DeepSeek-V3 has 671 B parameters without its prediction layer', () => {
    expect(paramCount(deepseekV3()) / 1e9).toBeCloseTo(671, 0);
    expect(parameterList(deepseekV3()).some((t) => t.part === 'mtp')).toBe(true);
  });

  test('Maverick counts experts in every second layer only', () => {
    expect(classTotal(maverick(), 'routed-expert').elements).toBe(386_547_056_640);
    expect(paramCount(maverick()) / 1e9).toBeCloseTo(400.71, 2);
    expect(activeParamCount(maverick()) / 1e9).toBeCloseTo(16.15, 2);
  });
});

describe('stored bytes', () => {
  test('gpt-oss-120b is 65,248,815,744 B: biases are kept in 16 bits', () => {
    const shape = gptOss(36, 128);
    expect(checkpointBytes(shape)).toBe(65_248_815_744);
    expect(paramCount(shape) / 1e9).toBeCloseTo(116.83, 2);
    const matrices = parameterList(shape).filter((t) => t.precision.name === 'mxfp4');
    expect(matrices.reduce((sum, t) => sum + t.bytes, 0)).toBe(57_330_892_800 + 3_583_180_800);
  });

  test('GLM-5 experts take 9/16 B a weight in NVFP4', () => {
    const routed = classTotal(glm5(nvfp4), 'routed-expert');
    expect(routed.elements).toBe(724_775_731_200);
    expect(routed.bytes).toBe((724_775_731_200 * 9) / 16);
    expect(classTotal(glm5(bf16), 'routed-expert').bytes / 1e9).toBeCloseTo(1449.55, 2);
  });

  test('Kimi K2.5 experts take 4.5 bits a weight, all the rest BF16', () => {
    const shape = kimiK2(int4);
    expect(classTotal(shape, 'routed-expert').elements).toBe(1_014_686_023_680);
    expect(classTotal(shape, 'routed-expert').bytes / 1e9).toBeCloseTo(570.76, 2);
    expect((checkpointBytes(shape) - classTotal(shape, 'routed-expert').bytes) / 1e9).toBeCloseTo(23.44, 2);
    expect(checkpointBytes(shape) / 1e9).toBeCloseTo(594.2, 1);
  });

  test('a quantised rest leaves norms, routers and embeddings in 16 bits', () => {
    const plain = new Set(['norm', 'router', 'embedding', 'head']);
    for (const tensor of parameterList(deepseekV3())) {
      if (plain.has(tensor.tensorClass)) expect(tensor.precision.name).toBe('bf16');
    }
    expect(parameterList(deepseekV3()).find((t) => t.name === 'layers.0.out')?.precision.name).toBe('fp8');
  });
});

const anyModel = fc
  .record({
    hidden: fc.integer({ min: 1, max: 64 }),
    expertCount: fc.integer({ min: 1, max: 40 }),
    inner: fc.integer({ min: 1, max: 50 }),
    topK: fc.integer({ min: 1, max: 8 }),
    layerCount: fc.integer({ min: 1, max: 5 }),
    gated: fc.boolean(),
    bias: fc.boolean(),
  })
  .map(({ hidden, expertCount, inner, topK, layerCount, gated, bias }) => {
    const moe = experts({
      expertCount,
      topK: Math.min(topK, expertCount),
      expertWidth: hidden,
      expertInnerSize: inner,
      gated,
      bias,
    });
    const layers = Array.from({ length: layerCount }, () => ({ attention: gqa(4, 2, 8), ffn: moe }));
    return model({ name: 'random', hiddenSize: hidden, layers, moe });
  });

describe('laws', () => {
  test('a model that uses every expert is active in all but its input embedding', () => {
    fc.assert(
      fc.property(anyModel, (shape) => {
        const all = { ...shape.moe, topK: shape.moe.expertCount };
        const layers = shape.layers.map((layer) => ({ ...layer, ffn: all }));
        const dense = { ...shape, layers, moe: all };
        expect(activeParamCount(dense)).toBe(paramCount(dense) - shape.vocabSize * shape.hiddenSize);
      }),
    );
  });

  test('one more expert adds exactly its matrices, biases and router column to each layer', () => {
    fc.assert(
      fc.property(anyModel, (shape) => {
        const { moe } = shape;
        const more = { ...moe, expertCount: moe.expertCount + 1 };
        const layers = shape.layers.map((layer) => ({ ...layer, ffn: more }));
        const matrices = (moe.gated ? 3 : 2) * moe.expertWidth * moe.expertInnerSize;
        const biases = moe.bias ? (moe.gated ? 2 : 1) * moe.expertInnerSize + moe.expertWidth + 1 : 0;
        const added = shape.layers.length * (matrices + biases + shape.hiddenSize);
        expect(paramCount({ ...shape, layers, moe: more }) - paramCount(shape)).toBe(added);
      }),
    );
  });

  test('names are unique and bytes of a 16-bit model are twice its elements', () => {
    fc.assert(
      fc.property(anyModel, (shape) => {
        const list = parameterList(shape);
        expect(new Set(list.map((t) => t.name)).size).toBe(list.length);
        for (const tensor of list) expect(tensor.bytes).toBe(2 * tensor.elements);
      }),
    );
  });
});
