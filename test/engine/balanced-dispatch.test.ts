import { catalog } from '@epsim/engine';
import { parseScenario, resolvedYaml, UserError } from '@epsim/spec';
import { expect, test } from 'vitest';

const read = (placement: string) =>
  parseScenario(
    `model: kimi-k3-mini
cluster: { preset: h100-8, ranks: 4 }
workload: { tokensPerRank: 16, skew: { kind: uniform } }
dispatch: { kind: balanced, dispatchFormat: bf16 }
${placement}`,
    { file: 'balanced.yaml', catalog },
  );

test.each(['', 'placement: { policy: balanced }', 'placement: { slotsPerRank: 200 }'])(
  'balanced dispatch is rows for each rank and the placement of that name: %j',
  (placement) => {
    const scenario = read(placement);
    expect(scenario.dispatch).toMatchObject({ kind: 'per-rank', dispatchFormat: 'bf16' });
    expect(scenario.placement.policy).toBe('balanced');
    const again = parseScenario(resolvedYaml(scenario), { file: 'resolved.yaml', catalog });
    expect(again.placement).toEqual(scenario.placement);
    expect(again.dispatch).toEqual(scenario.dispatch);
  },
);

test('another placement beside it is refused where it stands', () => {
  expect(() => read('placement: { policy: eplb }')).toThrow(UserError);
  expect(() => read('placement: { policy: eplb }')).toThrow(
    /balanced.yaml:5: placement.policy: .*eplb.*write policy: balanced/,
  );
  expect(() => read('placement: eplb')).toThrow(/balanced.yaml:5: placement: wrong type: eplb/);
});
