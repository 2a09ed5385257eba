import {
  attentionParts,
  attentionWork,
  coreWork,
  denseLayerParts,
  denseLayerWork,
  parameterList,
  profileFor,
  projectionWork,
  rooflineNs,
  visiblePairs,
} from '@epsim/model';
import type { AttentionShape } from '@epsim/spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deepseekV3, gqa, kimiK3, mla } from '../parameters/shapes.js';
import { b200, h800 } from './devices.js';

const k3 = kimiK3();
const kda = k3.layers[1]?.attention as AttentionShape;
const global = k3.layers[3]?.attention as AttentionShape;

describe('attention', () => {
  test('visible pairs are those that a loop over tokens counts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.nat(40),
        fc.option(fc.integer({ min: 1, max: 50 })),
        (fresh, past, window) => {
          let pairs = 0;
          for (let position = past; position < past + fresh; position++) {
            pairs += Math.min(position + 1, window ?? Number.POSITIVE_INFINITY);
          }
          expect(visiblePairs(fresh, past + fresh, window)).toBe(pairs);
        },
      ),
    );
  });

  test('a recurrent mixer costs the same at any context and softmax attention grows with it', () => {
    const at = (attention: AttentionShape, contextTokens: number): number =>
      coreWork(attention, { sequences: 4, newTokens: 1, contextTokens }).flops;
    expect(at(kda, 1_000_000)).toBe(at(kda, 1000));
    expect(at(global, 1_000_000)).toBeCloseTo(1000 * at(global, 1000), -3);
  });

  test('prefill in two chunks computes the pairs of one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 500 }), (first, second) => {
        const whole = visiblePairs(first + second, first + second);
        expect(visiblePairs(first, first) + visiblePairs(second, first + second)).toBe(whole);
      }),
    );
  });

  test('decode with latents reads 1,152 bytes a token and multiplies in the latent', () => {
    const attention = mla(128, 1536);
    const work = coreWork(attention, { sequences: 1, newTokens: 1, contextTokens: 32768 });
    expect(work.flops).toBe(2 * 128 * 32768 * (2 * 512 + 64));
    expect(work.bytes).toBe(32768 * 1152 + 2 * 128 * (128 + 64 + 128));
  });

  test('a window bounds the cost of a layer', () => {
    const wide = coreWork(gqa(64, 8, 64), { sequences: 1, newTokens: 1, contextTokens: 10_000 });
    const window = coreWork(gqa(64, 8, 64, 128), { sequences: 1, newTokens: 1, contextTokens: 10_000 });
    expect(window.flops / wide.flops).toBeCloseTo(128 / 10_000, 12);
  });

  test('projections multiply each matrix of the parameter list once per token', () => {
    const listed = parameterList(k3).filter((t) => t.layer === 1 && t.tensorClass === 'attention');
    const flops = projectionWork(k3, kda, 10).flops;
    const all = 20 * listed.reduce((sum, t) => sum + t.elements, 0);
    expect(flops / all).toBeGreaterThan(0.999);
    expect(flops).toBeLessThanOrEqual(all);
  });

  test('parts add up to the work of the mixer', () => {
    const batch = { sequences: 3, newTokens: 5, contextTokens: 70 };
    const whole = attentionWork(k3, global, batch);
    expect(whole.flops).toBe(projectionWork(k3, global, 15).flops + coreWork(global, batch).flops);
    const parts = attentionParts(k3, b200, global, batch);
    expect(parts.core.ns).toBeGreaterThan(0);
    expect(parts.projections.ns).toBeGreaterThan(0);
  });
});

describe('unrouted parts of a layer of experts', () => {
  test('FLOPs are twice the active elements of the parameter list', () => {
    const work = denseLayerWork(k3, 7);
    expect(work.router.flops).toBe(14 * 896 * 7168);
    expect(work.downProjection.flops + work.upProjection.flops).toBe(14 * 2 * 7168 * 3584);
    expect(work.sharedExperts.flops).toBe(14 * 3 * 7168 * 6144);
  });

  test('a model without latents has no projections, and no tokens take no time', () => {
    expect(denseLayerParts(deepseekV3(), h800, 64).downProjection.ns).toBe(0);
    for (const part of Object.values(denseLayerParts(k3, b200, 0))) expect(part.ns).toBe(0);
  });

  test('a roofline is never faster than either of its sides at nominal figures', () => {
    const profile = profileFor(b200, k3.precision.routedExperts);
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e9), fc.nat(5), (flops, bytes, kernels) => {
        const ns = rooflineNs({ flops, bytes, kernels }, b200, profile.dense);
        expect(ns).toBeGreaterThanOrEqual((1e9 * flops) / 2250e12);
        expect(ns).toBeGreaterThanOrEqual((1e9 * bytes) / 7700e9);
      }),
    );
  });
});
