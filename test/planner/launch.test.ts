import { type LaunchPool, launchers, launchText, layoutRanks, stageRanks } from '@epsim/planner';
import { expect, test } from 'vitest';
import { planOf, planScenario } from './support.js';

const pool: LaunchPool = {
  role: 'decode',
  layout: {
    attentionTensor: 2,
    attentionData: 16,
    expertRanks: 32,
    expertTensor: 1,
    pipeline: 2,
    redundantExperts: 32,
  },
  sequencesPerGroup: 48,
  chunkTokens: 8192,
  twoMicroBatches: true,
  cacheFormat: 'fp8',
  memoryFraction: 0.9,
  mostTokens: 9000,
  expertCount: 896,
  dispatch: 'per-rank',
};

/** The number after a flag, 1 where the flag is absent. */
function degree(command: readonly string[], flag: string): number {
  const found = command.find((part) => part.startsWith(`${flag} `));
  return found === undefined ? 1 : Number(found.slice(flag.length + 1));
}

test('every engine is given as many ranks as the layout has', () => {
  const ranks = {
    vllm: (c: readonly string[]) =>
      degree(c, '--tensor-parallel-size') *
      degree(c, '--data-parallel-size') *
      degree(c, '--pipeline-parallel-size'),
    sglang: (c: readonly string[]) => degree(c, '--tp-size') * degree(c, '--pp-size'),
    'tensorrt-llm': (c: readonly string[]) => degree(c, '--tp_size') * degree(c, '--pp_size'),
  };
  for (const [name, { launch }] of Object.entries(launchers)) {
    const { command } = launch(pool, 'moonshotai/Kimi-K3');
    expect(ranks[name as keyof typeof ranks](command)).toBe(layoutRanks(pool.layout));
    expect(command[0] + command[1]).toContain('moonshotai/Kimi-K3');
  }
});

test("redundant experts, cache format, batch and role are said in each engine's own words", () => {
  const text = (name: keyof typeof launchers) => launchText(pool, launchers[name].launch(pool, '$MODEL'));
  expect(text('vllm')).toContain(`--eplb-config '{"num_redundant_experts":32}'`);
  expect(text('vllm')).toMatch(/--enable-dbo[\s\S]*--max-num-seqs 48[\s\S]*--kv-cache-dtype fp8/);
  expect(text('sglang')).toMatch(/--dp-size 16[\s\S]*--enable-dp-attention[\s\S]*--ep-size 32/);
  expect(text('sglang')).toMatch(/--ep-num-redundant-experts 32[\s\S]*--disaggregation-mode decode/);
  expect(text('tensorrt-llm')).toMatch(/# config\.yaml[\s\S]*num_slots: 928/);
});

test('what an engine has no argument for is a note', () => {
  const cut = { ...pool, layout: { ...pool.layout, expertRanks: 16, expertTensor: 2 } };
  expect(stageRanks(cut.layout)).toBe(32);
  expect(launchers.vllm.launch(cut, 'm').notes.join()).toMatch(/deals them over all 32 ranks/);
  expect(launchers['tensorrt-llm'].launch(pool, 'm').notes.join()).toMatch(
    /attention cut 2 ways in 16 groups/,
  );
  expect(launchers.sglang.launch(pool, 'm').notes).toEqual([]);
});

test('a plan comes with the launch arguments of its pools', () => {
  const { best } = planOf(planScenario('plan.engine.serving=split'));
  expect(best?.launch.map(({ pool: { role } }) => role)).toEqual(['prefill', 'decode']);
  expect(Object.keys(best!.launch[0].engines)).toEqual(Object.keys(launchers));
});

test('the longest request is let in: mean lengths where they do not vary, at most what the model takes', () => {
  const most = (spread: number, inputTokens = 8000) =>
    planOf(
      planScenario(`plan.requests={ inputTokens: ${inputTokens}, outputTokens: 1000, spread: ${spread} }`),
    ).best?.launch[0].pool.mostTokens;
  expect(most(0)).toBe(9000);
  expect(most(1)).toBeGreaterThan(5 * 8000);
  expect(most(4, 200_000)).toBe(1_048_576);
});

test('a prefill pool lets in as many prompts as fill its chunks when a cache holds most of each', () => {
  const requests = 'plan.requests={ inputTokens: 8000, outputTokens: 1000, cacheHitRate: 0.75 }';
  const { best } = planOf(planScenario('plan.engine.serving=split', requests));
  const { pool: feed } = best!.launch[0];
  expect(feed.sequencesPerGroup).toBeGreaterThanOrEqual((feed.layout.pipeline * feed.chunkTokens) / 2000);
});
