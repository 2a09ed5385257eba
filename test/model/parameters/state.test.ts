import { shardByBlocks, stateBytes, stateShareOfRank } from '@epsim/model';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deepseekV3, gptOss, gqa, kimiK3, mla } from './shapes.js';

describe('state of a sequence', () => {
  test('K3 caches 13,824 elements a token and keeps 434 MB + 15 MB whatever the length', () => {
    const k3 = kimiK3();
    expect(stateBytes(k3, 1, 'fp8').cache).toBe(13_824);
    expect(stateBytes(k3, 1_048_576, 'bf16').cache / 1e9).toBeCloseTo(29, 1);
    expect(stateBytes(k3, 0, 'bf16').recurrent / 1e6).toBeCloseTo(434, 0);
    expect(stateBytes(k3, 0, 'bf16').conv / 1e6).toBeCloseTo(15.3, 1);
    expect(stateBytes(k3, 5000, 'bf16').recurrent).toBe(stateBytes(k3, 0, 'bf16').recurrent);
  });

  test('gpt-oss holds windows or whole sequences, as the engine has it', () => {
    const big = gptOss(36, 128);
    expect(stateBytes(big, 1, 'bf16').total).toBe(73_728);
    expect(stateBytes(big, 131_072, 'bf16').total).toBe(4_836_556_800);
    expect(stateBytes(big, 131_072, 'bf16', { windows: 'unified' }).total).toBe(9_663_676_416);
    const small = gptOss(24, 32);
    expect((32 * stateBytes(small, 8192, 'bf16').total) / 2 ** 30).toBeCloseTo(6.09, 2);
    expect((32 * stateBytes(small, 8192, 'bf16', { windows: 'unified' }).total) / 2 ** 30).toBe(12);
  });

  test('latents are whole on each tensor-parallel rank', () => {
    const v3 = deepseekV3();
    const free = 40e9;
    const perToken = stateBytes(v3, 1, 'bf16').total;
    expect(perToken).toBe(70_272);
    expect(stateBytes(v3, 1, 'bf16', { tensorWays: 8 }).total).toBe(perToken);
    expect(Math.floor(free / perToken)).toBe(569_216);
    expect(8 * Math.floor(free / perToken)).toBe(4_553_728);
    expect(stateBytes(v3, 1, 'bf16', { mtpLayers: 1 }).total).toBe(71_424);
  });

  test('key-value heads are cut until one is left on each rank, then repeated', () => {
    expect(stateShareOfRank(gqa(64, 8, 64), 4)).toBe(1 / 4);
    expect(stateShareOfRank(gqa(64, 8, 64), 8)).toBe(1 / 8);
    expect(stateShareOfRank(gqa(64, 8, 64), 16)).toBe(1 / 8);
    expect(stateShareOfRank(mla(128, 1536), 8)).toBe(1);
  });

  test('ranks together hold at least one copy of the state and never less with more tokens', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 32 }),
        fc.nat(1000),
        fc.nat(1000),
        (ways, heads, tokens, more) => {
          expect(ways * stateShareOfRank(gqa(heads, heads, 8), ways)).toBeGreaterThanOrEqual(1 - 1e-12);
          const shape = gptOss(4, 4);
          const longer = stateBytes(shape, tokens + more, 'bf16').total;
          expect(longer).toBeGreaterThanOrEqual(stateBytes(shape, tokens, 'bf16').total);
        },
      ),
    );
  });
});

describe('widths in blocks', () => {
  test('cuts that break a block are not legal, and padding has its price', () => {
    expect(shardByBlocks(1536, 4, 128).legal).toBe(true);
    expect(shardByBlocks(1536, 8, 128)).toMatchObject({ legal: false, sizePerRank: 192 });
    expect(shardByBlocks(18432, 16, 128).legal && shardByBlocks(2048, 16, 128).legal).toBe(true);
    expect(shardByBlocks(18432, 32, 128).legal || shardByBlocks(2048, 32, 128).legal).toBe(false);
    expect(shardByBlocks(2880, 2, 32).legal).toBe(true);
    expect(shardByBlocks(2880, 4, 32)).toMatchObject({ legal: false, paddedSize: 736 });
    expect(shardByBlocks(2880, 4, 32).overhead).toBeCloseTo(0.022, 3);
    expect(shardByBlocks(2880, 8, 32)).toMatchObject({ legal: false, paddedSize: 384 });
    expect(shardByBlocks(2880, 8, 32).overhead).toBeCloseTo(0.067, 3);
  });

  test('impossible widths are refused with the values', () => {
    expect(() => shardByBlocks(0, 4, 32)).toThrow(/size 0, ways 4 and block 32/);
  });
});
