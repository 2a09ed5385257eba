import {
  clusterPresets,
  type DevicePreset,
  devicePresets,
  exactQuantity,
  type ModelShape,
  modelPresets,
  parseScenario,
  resolvedYaml,
} from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { stubCatalog } from './stub-catalog.js';

const read = (text: string) => parseScenario(text, { file: 'preset.yaml', catalog: stubCatalog });

describe.each(Object.entries<ModelShape>(modelPresets))('model %s', (name, model) => {
  test('has a source, layers of experts that share one shape, and numbers that fit together', () => {
    expect(model.name).toBe(name);
    expect(model.source).toMatch(/20\d\d|none is published/);
    const experts = model.layers.flatMap((layer) => (layer.ffn?.kind === 'moe' ? [layer.ffn] : []));
    expect(experts.length).toBeGreaterThan(0);
    expect(new Set(experts.map((ffn) => JSON.stringify(ffn)))).toEqual(new Set([JSON.stringify(model.moe)]));
    const { moe } = model;
    expect(moe.topK).toBeLessThanOrEqual((moe.expertCount / moe.groupCount) * moe.topGroupCount);
    expect(moe.latent).toBe(moe.expertWidth < model.hiddenSize);
    expect(moe.sharedExpertCount > 0).toBe(moe.sharedInnerSize > 0);
    expect((model.activation === 'situ') === (model.situ !== null)).toBe(true);
  });

  test('survives being written and read', () => {
    const scenario = read(`model: ${name}\ncluster: h100-8\n`);
    expect(read(resolvedYaml(scenario))).toEqual(scenario);
    const changed = read(
      `model: { preset: ${name}, topK: 1, latent: false, expertInnerSize: 8 }\ncluster: h100-8\n`,
    );
    expect(read(resolvedYaml(changed))).toEqual(changed);
    expect(resolvedYaml(changed)).toContain('expertInnerSize: 8');
  });
});

describe.each(Object.entries<DevicePreset>(devicePresets))('device %s', (_name, { device, ...preset }) => {
  test('has a dated source and figures of the right size', () => {
    expect(device.source).toMatch(/20\d\d/);
    expect(device.memoryBytes).toBeGreaterThan(50e9);
    expect(device.memoryBytes).toBeLessThan(500e9);
    expect(device.memoryBytesPerSec).toBeGreaterThan(1e12);
    expect(device.memoryBytesPerSec).toBeLessThan(20e12);
    expect(device.flopsPerSec.bf16).toBeGreaterThan(1e14);
    expect(device.flopsPerSec.bf16).toBeLessThan(5e15);
    for (const rate of [preset.scaleUpBytesPerSec, preset.nicBytesPerSec]) {
      if (rate !== null) expect(rate).toBeGreaterThan(5e9);
      if (rate !== null) expect(rate).toBeLessThan(2e12);
    }
  });
});

describe.each(Object.entries(clusterPresets))('cluster %s', (name, { cluster }) => {
  test('keeps what kernels reach apart from nominal rates, each with its source', () => {
    expect(cluster.name).toBe(name);
    const { scaleUp, scaleOut } = cluster.topology;
    for (const link of [scaleUp, scaleOut]) {
      expect(link?.achieved.fraction).toBeGreaterThan(0.3);
      expect(link?.achieved.fraction).toBeLessThanOrEqual(1);
      expect(link?.achieved.source).not.toBe('');
      expect(link?.source).toMatch(/20\d\d/);
    }
    expect(cluster.rankCount).toBe(cluster.topology.domainRanks);
  });

  test('can be read with another number of ranks', () => {
    expect(read(`model: kimi-k3\ncluster: { preset: ${name}, ranks: 144 }\n`).cluster.rankCount).toBe(144);
  });
});

test('figures of the devices are those of their vendors', () => {
  const shown = (name: keyof typeof devicePresets) => {
    const { device, scaleUpBytesPerSec }: DevicePreset = devicePresets[name];
    return [
      exactQuantity('bytes', device.memoryBytes),
      exactQuantity('bandwidth', device.memoryBytesPerSec),
      exactQuantity('flops', device.flopsPerSec.bf16),
      scaleUpBytesPerSec === null ? null : exactQuantity('bandwidth', scaleUpBytesPerSec),
    ];
  };
  expect(shown('h100-sxm')).toEqual(['80 GB', '3.35 TB/s', '989 TFLOPS', '450 GB/s']);
  expect(shown('h800-sxm')).toEqual(['80 GB', '3352 GB/s', '989 TFLOPS', '200 GB/s']);
  expect(shown('gb200')).toEqual(['186 GB', '8 TB/s', '2.5 PFLOPS', '900 GB/s']);
  expect(shown('tpu-v5p')).toEqual(['95 GiB', '2765 GB/s', '459 TFLOPS', '600 GB/s']);
});

test('eight devices of 80 GB hold no 700 GB, and eight of 80 GiB would hold 687', () => {
  const eight = 8 * devicePresets['h100-sxm'].device.memoryBytes;
  expect(eight).toBe(640e9);
  const gibibytes = read('model: kimi-k3\ncluster: { preset: h100-8, device: { memory: 80 GiB } }\n');
  expect(8 * gibibytes.cluster.device.memoryBytes).toBe(687_194_767_360);
  expect(gibibytes.cluster.device.source).toContain('changed by the scenario');
});
