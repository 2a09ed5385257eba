import { NO_EXPERT, type TokenBatch } from '@epsim/spec';
import { lintRules, lintWorkload, presets, workloadKinds } from '@epsim/workload';
import { describe, expect, test } from 'vitest';

/** A batch with given choices, all ranks equally long. */
function batchOf(
  rows: readonly (readonly number[])[],
  rankCount: number,
  expertCount: number,
  layer = 0,
): TokenBatch {
  const each = rows.length / rankCount;
  return {
    step: 0,
    layer,
    expertCount,
    tokenOffsets: Int32Array.from({ length: rankCount + 1 }, (_, r) => r * each),
    readLogits: () => {
      throw new Error('choices are recorded');
    },
    readChoices: (rank, out) => {
      out.set(rows.slice(rank * each, (rank + 1) * each).flat());
    },
  };
}

/** Distinct experts drawn by a small generator, [rows x k]. */
function randomRows(count: number, expertCount: number, k: number, seed = 1): number[][] {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: count }, () => {
    const row = new Set<number>();
    while (row.size < k) row.add(random(expertCount));
    return [...row];
  });
}

const rulesOf = (batches: TokenBatch[], topK: number): string[] =>
  lintWorkload(batches, { topK }).map(({ rule, severity }) => `${severity} ${rule}`);

describe('lint', () => {
  test.each(Object.keys(presets) as (keyof typeof presets)[])(
    'finds nothing wrong with preset %s',
    (preset) => {
      const { expertCount, topK } = presets[preset];
      const context = { seed: 3, rankCount: 8, tokensPerRank: 128, expertCount, topK, layers: 2 };
      const workload = workloadKinds.synthetic.create(context, { preset });
      expect(lintWorkload([workload.batch(0, 0), workload.batch(0, 1)], { topK })).toEqual([]);
    },
  );

  test('notes that uniform popularity is unlike real models, and nothing graver', () => {
    const context = { seed: 3, rankCount: 4, tokensPerRank: 256, expertCount: 64, topK: 4, layers: 2 };
    const workload = workloadKinds.synthetic.create(context, { skew: { kind: 'uniform' } });
    expect(rulesOf([workload.batch(0, 0), workload.batch(0, 1)], 4)).toEqual(['note far-skew']);
  });

  test('finds an expert twice in a token', () => {
    const rows = randomRows(64, 32, 4);
    rows[41] = [7, 3, 9, 7];
    const [finding] = lintWorkload([batchOf(rows, 4, 32)], { topK: 4 });
    expect(finding).toMatchObject({ rule: 'duplicate-experts', severity: 'error', step: 0, seen: 1, of: 1 });
    expect(finding.message).toBe('expert 7 twice in one token: layer 0, rank 2, row 9');
  });

  test('finds ranks that no token reaches', () => {
    // Only the first 24 of 32 experts, as a generator that forgets the last ranks does.
    const findings = lintWorkload([batchOf(randomRows(256, 24, 4), 8, 32)], { topK: 4 });
    expect(findings.find(({ rule }) => rule === 'idle-ranks')).toMatchObject({
      severity: 'error',
      message: '2 of 8 ranks get no token (6, 7): layer 0, 128.0 choices a rank on average',
    });
  });

  test('finds the same tokens on every rank, or on some', () => {
    const own = randomRows(32, 64, 6);
    const other = randomRows(32, 64, 6, 9);
    const all = lintWorkload([batchOf([...own, ...own, ...own], 3, 64)], { topK: 6 });
    expect(all.map(({ rule }) => rule)).toContain('repeated-tokens');
    expect(all[0]).toMatchObject({ rule: 'same-tokens-on-ranks', severity: 'error' });
    expect(all[0].message).toContain('all ranks have the same 32 tokens as rank 0');
    const some = lintWorkload([batchOf([...own, ...other, ...own], 3, 64)], { topK: 6 });
    expect(some[0].message).toContain('ranks 2 have the same 32 tokens as rank 0');
  });

  test('finds fewer distinct tokens than reported', () => {
    const few = randomRows(40, 64, 6);
    const rows = Array.from({ length: 400 }, (_, i) => few[(i * 7) % 40]);
    const finding = lintWorkload([batchOf(rows, 1, 64)], { topK: 6 }).find(
      ({ rule }) => rule === 'repeated-tokens',
    );
    expect(finding?.message).toBe('400 tokens, 40 of them distinct in their choices');
  });

  test('does not take agreement by chance among few experts for repetition', () => {
    expect(
      rulesOf([batchOf(randomRows(512, 8, 1), 2, 8)], 1).filter((rule) => !rule.includes('far-skew')),
    ).toEqual([]);
  });

  test('finds stale rows that stand where padding should', () => {
    const rows = randomRows(256, 64, 4);
    for (let i = 100; i < 167; i++) rows[i] = rows[99];
    const finding = lintWorkload([batchOf(rows, 1, 64)], { topK: 4 }).find(
      ({ rule }) => rule === 'repeated-rows',
    );
    expect(finding).toMatchObject({ severity: 'warning' });
    expect(finding?.message).toContain('68 identical consecutive rows from rank 0, row 99');
    const stale = [
      [0, 1],
      [0, 2],
      [1, 3],
      [0, 3],
      [2, 3],
      [2, 3],
      [2, 3],
      [2, 3],
    ];
    expect(rulesOf([batchOf(stale, 1, 4)], 2)).toContain('note repeated-rows');
  });

  test('counts padding and sees only tokens in the other rules', () => {
    const pad = [NO_EXPERT, NO_EXPERT];
    const rows = [[0, 1], [0, 2], [1, 3], [0, 3], [2, 3], pad, pad, pad];
    expect(lintWorkload([batchOf(rows, 2, 4)], { topK: 2 })).toEqual([
      { rule: 'padding', severity: 'note', message: '5 tokens, 3 rows of padding', step: 0, seen: 1, of: 1 },
    ]);
    expect(rulesOf([batchOf([pad, pad], 1, 4)], 2)).toEqual(['error padding']);
  });

  test('finds loads far from published ones, and loads more even than chance', () => {
    const hot = randomRows(512, 896, 16).map((row, i) =>
      i % 10 < 9 && !row.includes(5) ? [5, ...row.slice(1)] : row,
    );
    const finding = lintWorkload([batchOf(hot, 4, 896)], { topK: 16 }).find(
      ({ rule }) => rule === 'far-skew',
    );
    expect(finding?.message).toMatch(
      /busiest expert 5\d\.\d\d x the mean.*published for real models: at most 11.948 and 2.564/,
    );
    const dealt = Array.from({ length: 256 }, (_, i) => [0, 1, 2, 3].map((k) => (i * 4 + k) % 64));
    const even = lintWorkload([batchOf(dealt, 4, 64)], { topK: 4 }).find(({ rule }) => rule === 'far-skew');
    expect(even).toMatchObject({ severity: 'warning' });
    expect(even?.message).toContain('0.00 x as much as chance');
  });

  test('says once what several steps show, with the gravest first', () => {
    const rows = randomRows(64, 32, 4);
    rows[0] = [1, 1, 2, 3];
    const later = { ...batchOf(rows, 4, 32), step: 5 };
    const findings = lintWorkload(
      [later, batchOf(rows, 4, 32), { ...batchOf(randomRows(64, 32, 4), 4, 32), step: 9 }],
      { topK: 4 },
    );
    expect(findings[0]).toMatchObject({ rule: 'duplicate-experts', step: 0, seen: 2, of: 3 });
  });

  test('refuses layers of one step that differ in rows', () => {
    const one = batchOf(randomRows(8, 8, 2), 2, 8);
    expect(() => lintWorkload([one, batchOf(randomRows(4, 8, 2), 2, 8, 1)], { topK: 2 })).toThrow(
      'layers 0 and 1 differ',
    );
  });

  test.each(Object.entries(lintRules))('rule %s says what it looks for', (_name, rule) => {
    expect(rule.summary).not.toBe('');
  });
});
