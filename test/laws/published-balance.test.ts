import { catalog, Simulation } from '@epsim/engine';
import { parseScenario } from '@epsim/spec';
import { describe, expect, test } from 'vitest';

/** Mean over layers and the steps after the first placement from statistics of max / mean over ranks. */
async function rankMaxOverMean(text: string, fromStep: number): Promise<number> {
  const scenario = parseScenario(text, { file: 'published.yaml', catalog });
  const values: number[] = [];
  for await (const record of new Simulation(scenario).records()) {
    if (record.step >= fromStep) values.push(record.rankLoadMeasures.maxOverMean);
  }
  return values.reduce((a, b) => a + b, 0) / values.length;
}

describe('DeepSeek-R1 on 32 ranks, as TensorRT-LLM published it', () => {
  const scenario = (placement: string) => `
name: r1
model: deepseek-v3
cluster: { preset: gb200-nvl72, ranks: 32 }
workload: { preset: deepseek-r1-32, tokensPerRank: 256 }
routing: { policy: top-k, baseline: null }
placement: ${placement}
layers: 4
steps: 8
`;

  test('has a rank imbalance of 1.564 with experts in order', async () => {
    const imbalance = (await rankMaxOverMean(scenario('{ policy: contiguous }'), 4)) - 1;
    expect(Math.abs(imbalance / 1.564 - 1)).toBeLessThan(0.2);
  });

  test('is left with about 0.11 by EPLB with 9 slots a rank and statistics of earlier steps', async () => {
    const imbalance =
      (await rankMaxOverMean(scenario('{ policy: eplb, slotsPerRank: 9, everySteps: 4 }'), 4)) - 1;
    expect(Math.abs(imbalance / 0.109 - 1)).toBeLessThan(0.2);
  });
});

describe('Kimi K3 on 16 ranks, as vLLM published it', () => {
  const scenario = (placement: string) => `
name: k3
model: kimi-k3
cluster: { preset: gb200-nvl72, ranks: 16 }
workload: { preset: kimi-k3-16, tokensPerRank: 1024 }
routing: { policy: top-k, baseline: null }
placement: ${placement}
layers: 2
steps: 4
`;

  test('has max / mean of 1.069 over ranks with experts in order', async () => {
    expect(Math.abs((await rankMaxOverMean(scenario('{ policy: contiguous }'), 2)) / 1.069 - 1)).toBeLessThan(
      0.05,
    );
  });

  test('falls below 1.02 under EPLB with two spare slots a rank', async () => {
    const placement = '{ policy: eplb, slotsPerRank: 58, everySteps: 2 }';
    expect(await rankMaxOverMean(scenario(placement), 2)).toBeLessThan(1.02);
  });
});
