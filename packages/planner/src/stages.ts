/**
 * The exchanges of one stage: rows out, results back, and the collectives of its tensor-parallel groups.
 * One idea: placements and exchanges are worked out once for all layouts that place experts alike, and serve every
 * step on the same network, whatever its devices compute and its requests ask.
 */
import { exchanges, kernelCosts } from '@epsim/engine';
import { buildTopology, networkModels } from '@epsim/network';
import type { Scenario } from '@epsim/spec';
import { type ExchangeLine, exchangeLine, groupBytes, stageCluster } from './exchanges.js';
import { type Layout, stageRanks } from './layout.js';
import type { LoadSample } from './load-sample.js';
import { memo, memoBy } from './memo.js';
import { type PlacedExperts, placeExperts } from './placed-experts.js';

/** One stage's exchanges of a layout. */
export interface Stage {
  readonly placed: PlacedExperts;
  readonly dispatch: ExchangeLine;
  readonly combine: ExchangeLine;
}

/** What a step does; the kernels that move rows depend on it. */
export type StepPhase = Scenario['phase'];

/** Places the experts of layouts, each kind of them once. */
export type Placer = (layout: Layout) => PlacedExperts;

/** Throw RangeError where placement or topology refuse the layout. */
export interface Stages {
  readonly placer: Placer;
  /** Exchanges by the network's bound. */
  coarse(layout: Layout, phase: StepPhase): Stage;
  /** Exchanges by fair shares of links. */
  fine(layout: Layout, phase: StepPhase): Stage;
  /** A reduce-scatter after a mixer, or the gather before it, of one token of every attention group. */
  group(layout: Layout): ExchangeLine;
}

export interface StageOf {
  readonly layout: Layout;
  readonly phase: StepPhase;
}

export function createPlacer(scenario: Scenario, sample: LoadSample): Placer {
  return memoBy(expertKey, (layout: Layout) => placeExperts(scenario, sample, layout));
}

/** The stages of a scenario's network and kernels. `placer` may be shared where only speeds of the cluster differ. */
export function createStages(scenario: Scenario, placer: Placer): Stages {
  const { model, cluster } = scenario;
  const clusters = memo((ranks: number) => stageCluster(cluster, ranks));
  const stagesBy = (network: keyof typeof networkModels) =>
    memoBy(stageKey, ({ layout, phase }: StageOf): Stage => {
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
  const coarse = stagesBy('bound');
  const fine = stagesBy('fair-share');
  return {
    placer,
    coarse: (layout, phase) => coarse({ layout, phase }),
    fine: (layout, phase) => fine({ layout, phase }),
    group: memoBy(
      (layout: Layout) => `${stageRanks(layout)} ${layout.attentionTensor}`,
      (layout: Layout): ExchangeLine => {
        const ranks = stageRanks(layout);
        const bytes = groupBytes(ranks, layout.attentionTensor, 2 * model.hiddenSize);
        return exchangeLine(networkModels.bound, buildTopology(clusters(ranks)), bytes);
      },
    ),
  };
}

/** What tells the experts of two layouts apart. */
function expertKey({ expertRanks, expertTensor, redundantExperts }: Layout): string {
  return `${expertRanks} ${expertTensor} ${redundantExperts}`;
}

/** What tells the exchanges of two steps apart. */
export function stageKey({ layout, phase }: StageOf): string {
  return `${expertKey(layout)} ${phase}`;
}
