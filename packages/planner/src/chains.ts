/**
 * The longest chain through a stage's layer of experts: rows out, experts, rows back.
 * One idea: a chain is worked out once for each number of tokens, for all layouts that place experts alike.
 */
import { type DeviceProfile, expertTimer } from '@epsim/model';
import type { Scenario } from '@epsim/spec';
import { exchangeNs } from './exchanges.js';
import { type Layout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';
import { memo, memoBy } from './memo.js';
import { cutExpertSizes, expertTimes } from './placed-experts.js';
import { type Stage, type StageOf, type Stages, type StepPhase, stageKey } from './stages.js';

/** Mean over sampled layers of the longest chain: its exchanges and experts; and all ranks' experts. */
export interface Chain {
  readonly dispatch: number;
  readonly experts: number;
  readonly combine: number;
  readonly cases: readonly Float64Array[];
}

/** The chain of `tokens` of a whole stage. Throws RangeError where placement or topology refuse the layout. */
export type FindChain = (layout: Layout, tokens: number, phase: StepPhase) => Chain;

export function createChains(
  { model, cluster }: Scenario,
  sample: LoadSample,
  profile: DeviceProfile,
  stages: Stages,
): FindChain {
  const { device } = cluster;
  const timers = memo((expertTensor: number) =>
    expertTimer(cutExpertSizes(model, expertTensor, profile), device, profile.experts),
  );
  const alike = memoBy(stageKey, ({ layout, phase }: StageOf) =>
    memo((tokens: number): Chain => {
      const stage = stages.coarse(layout, phase);
      const { expertTensor } = layout;
      const cases = expertTimes(stage.placed, sample, tokens, timers(expertTensor));
      return meanChain(stage, cases, tokens / stageRanks(layout), expertTensor);
    }),
  );
  // Asked for every step: by the layout itself, without a key to spell.
  const chainsOf = memo((layout: Layout) => memo((phase: StepPhase) => alike({ layout, phase })));
  return (layout, tokens, phase) => chainsOf(layout)(phase)(tokens);
}

function meanChain(
  stage: Stage,
  cases: readonly Float64Array[],
  tokens: number,
  expertTensor: number,
): Chain {
  const longest = cases.map((experts) => longestChain(stage, experts, tokens, expertTensor));
  const mean = (part: 'dispatch' | 'experts' | 'combine') =>
    longest.reduce((sum, chain) => sum + chain[part], 0) / longest.length;
  return { dispatch: mean('dispatch'), experts: mean('experts'), combine: mean('combine'), cases };
}

/** Of all ranks the one whose rows, experts and results take longest one after another. */
function longestChain(stage: Stage, experts: Float64Array, tokens: number, expertTensor: number) {
  let longest = { dispatch: 0, experts: 0, combine: 0 };
  let most = -1;
  for (let rank = 0; rank < experts.length * expertTensor; rank++) {
    const own = experts[Math.floor(rank / expertTensor)];
    const dispatch = exchangeNs(stage.dispatch, rank, tokens);
    const combine = exchangeNs(stage.combine, rank, tokens);
    if (dispatch + own + combine <= most) continue;
    most = dispatch + own + combine;
    longest = { dispatch, experts: own, combine };
  }
  return longest;
}
