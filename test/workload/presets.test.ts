import { presets, workloadKinds } from '@epsim/workload';
import { describe, expect, test } from 'vitest';
import { loadsOf, maxOverMean, rankLoads, sum } from './support.js';

const { synthetic } = workloadKinds;

function meanOver<T>(values: readonly T[], measure: (value: T) => number): number {
  return sum(values.map(measure)) / values.length;
}

describe('presets', () => {
  test('deepseek-r1-32 shows the published imbalance of experts and ranks within 5 %', () => {
    const context = { seed: 1, rankCount: 32, tokensPerRank: 256, expertCount: 256, topK: 8, layers: 4 };
    const workload = synthetic.create(context, { preset: 'deepseek-r1-32' });
    expect(workload.description.join('. ')).toMatch(
      /fitted in layer 0: log-normal loads with sigma \d\.\d+, the hottest 11\.9/,
    );
    const layers = [0, 1, 2, 3].map((layer) => loadsOf(workload.batch(0, layer), 8));
    expect(Math.abs(meanOver(layers, maxOverMean) / 11.948 - 1)).toBeLessThan(0.05);
    expect(Math.abs(meanOver(layers, (loads) => maxOverMean(rankLoads(loads, 32))) / 2.564 - 1)).toBeLessThan(
      0.05,
    );
    const imbalance = meanOver(layers, (loads) => maxOverMean(rankLoads(loads, 32)) - 1);
    expect(Math.abs(imbalance / 1.564 - 1)).toBeLessThan(0.05);
  });

  test('kimi-k3-16 shows the published max / mean over ranks, its excess over 1 within a quarter', () => {
    const context = { seed: 1, rankCount: 16, tokensPerRank: 256, expertCount: 896, topK: 16, layers: 3 };
    const workload = synthetic.create(context, { preset: 'kimi-k3-16' });
    const layers = [0, 1, 2].map((layer) => loadsOf(workload.batch(0, layer), 16));
    const rank = meanOver(layers, (loads) => maxOverMean(rankLoads(loads, 16)));
    expect(Math.abs(rank / 1.069 - 1)).toBeLessThan(0.05);
    expect(Math.abs((rank - 1) / 0.069 - 1)).toBeLessThan(0.25);
  });

  test.each(Object.entries(presets))('%s states its source, and can be overridden', (name, preset) => {
    const context = {
      seed: 2,
      rankCount: 2,
      tokensPerRank: 8,
      expertCount: preset.expertCount,
      topK: preset.topK,
      layers: 1,
    };
    expect(synthetic.create(context, { preset: name }).description.join('. ')).toContain(preset.source);
    const overridden = synthetic.create(context, { preset: name, skew: { kind: 'uniform' } });
    expect(overridden.description[0]).toContain('equally popular');
  });

  test('a preset on another shape says for which it was fitted', () => {
    const context = { seed: 2, rankCount: 16, tokensPerRank: 8, expertCount: 384, topK: 8, layers: 1 };
    const { description } = synthetic.create(context, { preset: 'kimi-k3-16' });
    expect(description.join('. ')).toContain(
      'the fit is for 896 experts and top-16; here it is stretched to 384 and top-8',
    );
  });
});
