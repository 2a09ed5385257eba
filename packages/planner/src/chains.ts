/**
 * The longest chain through a stage's layer of experts: rows out, experts, rows back.
 * One idea: placements, exchanges and loads are worked out once for all layouts that place experts alike, and a
 * chain once for each number of tokens.
 */
import { exchanges, kernelCosts } from '@epsim/engine';
import type { DeviceProfile } from '@epsim/model';
import { buildTopology, networkModels } from '@epsim/network';
import type { Scenario } from '@epsim/spec';
import { type ExchangeLine, exchangeLine, exchangeNs, groupBytes, stageCluster } from './exchanges.js';
import { type Layout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';
import { memo, memoBy } from './memo.js';
import { cutExpertSizes, expertTimes, type PlacedExperts, placeExperts } from './placed-experts.js';

/** One stage's exchanges of a layout. */
export interface Stage {
  readonly placed: PlacedExperts;
  readonly dispatch: ExchangeLine;
  readonly combine: ExchangeLine;
}

/** Mean over sampled layers of the longest chain: its exchanges and experts; and all ranks' experts. */
export interface Chain {
  readonly dispatch: number;
  readonly experts: number;
  readonly combine: number;
  readonly cases: readonly Float64Array[];
}

/** Places the experts of layouts, each kind of them once. */
export type Placer = (layout: Layout) => PlacedExperts;

export function createPlacer(scenario: Scenario, sample: LoadSample): Placer {
  return memoBy(expertKey, (layout: Layout) => placeExperts(scenario, sample, layout));
}

/** What a step does; the kernels that move rows depend on it. */
export type StepPhase = Scenario['phase'];

export interface Chains {
  /** Exchanges of a layout's stage by fair shares of links; chains go by the bound. */
  fineStage(layout: Layout, phase: StepPhase): Stage;
  /** The chain of `tokens` of a whole stage. Throws RangeError where placement or topology refuse the layout. */
  chain(layout: Layout, tokens: number, phase: StepPhase): Chain;
  /** A reduce-scatter after a mixer, or the gather before it, of the tokens of an attention group. */
  groupNs(layout: Layout, tokens: number): number;
}

export function createChains(
  scenario: Scenario,
  sample: LoadSample,
  profile: DeviceProfile,
  placer: Placer,
): Chains {
  const { model, cluster } = scenario;
  const clusters = memo((ranks: number) => stageCluster(cluster, ranks));
  const stageBy = (network: keyof typeof networkModels) =>
    memoBy(stepKey, ({ layout, phase }: StepOf): Stage => {
      const placed = placer(layout);
      const site = { ...scenario, phase, cluster: clusters(stageRanks(layout)) };
      const line = (direction: 'dispatch' | 'combine', bytes: Float64Array) => {
        const kernel = kernelCosts(site, direction, exchanges[scenario.time.exchange]);
        const topology = buildTopology(kernel?.cluster ?? site.cluster);
        return exchangeLine(networkModels[network], topology, bytes, kernel);
      };
      return {
        placed,
        dispatch: line('dispatch', placed.dispatchBytes),
        combine: line('combine', placed.combineBytes),
      };
    });
  const stageOf = stageBy('bound');
  const sizes = memoBy(
    ({ expertTensor }: Layout) => expertTensor,
    (layout: Layout) => cutExpertSizes(scenario, layout, profile),
  );
  const chainOf = memoBy(
    (step: StepOf & { readonly tokens: number }) => `${stepKey(step)} ${step.tokens}`,
    (step) => {
      const { layout, tokens } = step;
      const { device } = cluster;
      const stage = stageOf(step);
      const cases = expertTimes(stage.placed, sample, tokens, sizes(layout), device, profile);
      return meanChain(stage, cases, tokens / stageRanks(layout), layout.expertTensor);
    },
  );
  const groups = memoBy(
    (layout: Layout) => `${stageRanks(layout)} ${layout.attentionTensor}`,
    (layout: Layout): ExchangeLine => {
      const ranks = stageRanks(layout);
      const bytes = groupBytes(ranks, layout.attentionTensor, 2 * model.hiddenSize);
      return exchangeLine(networkModels.bound, buildTopology(clusters(ranks)), bytes);
    },
  );
  const fineStageOf = stageBy('fair-share');
  return {
    fineStage: (layout, phase) => fineStageOf({ layout, phase }),
    chain: (layout, tokens, phase) => chainOf({ layout, tokens, phase }),
    groupNs: (layout, tokens) => (layout.attentionTensor === 1 ? 0 : exchangeNs(groups(layout), 0, tokens)),
  };
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

interface StepOf {
  readonly layout: Layout;
  readonly phase: StepPhase;
}

function stepKey({ layout, phase }: StepOf): string {
  return `${expertKey(layout)} ${phase}`;
}

/** What tells the experts of two layouts apart. */
function expertKey({ expertRanks, expertTensor, redundantExperts }: Layout): string {
  return `${expertRanks} ${expertTensor} ${redundantExperts}`;
}
