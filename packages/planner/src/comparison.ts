/**
 * The best layouts side by side, for charts: what fills their memory, where their steps go, and what fleets they take.
 * One idea: small parts are joined, so that a picture shows what matters.
 */
import { exchanges, kernelCosts } from '@epsim/engine';
import { profileFor } from '@epsim/model';
import type { Provenance, Scenario } from '@epsim/spec';
import { instancesFor } from './economics.js';
import { stageCluster } from './exchanges.js';
import { layoutName, layoutRanks, stageRanks } from './layout.js';
import type { RankMemory } from './memory.js';
import type { Evaluated } from './search.js';

const MOST_LAYOUTS = 6;
const MOST_PARTS = 8;
const RATES = 40;
/** The largest rate of the curve over the asked one, or over that of one decode instance. */
const LARGEST_RATE = 3;

export interface ComparedLayout {
  readonly layout: string;
  /** Bytes of the fullest rank by what they are for, the largest first. */
  readonly memory: Readonly<Record<string, number>>;
  /** Parts of a decode step, with where their times come from; overlapped parts count in full. */
  readonly step: Readonly<Record<string, { readonly ns: number; readonly provenance: Provenance }>>;
}

export interface FleetAtRate {
  readonly requestsPerSec: number;
  readonly rankCount: number;
}

/** The first layouts of a list that were refined. */
export function comparedLayouts(scenario: Scenario, fit: readonly Evaluated[]): readonly ComparedLayout[] {
  const shown = fit.filter(({ fidelity }) => fidelity === 'refined').slice(0, MOST_LAYOUTS);
  const memories = shown.map(({ memory }) => memoryParts(memory));
  const kept = largestNames(memories);
  return shown.map((one, i) => ({
    layout: layoutName(one.layout),
    memory: joined(memories[i], kept),
    step: stepParts(scenario, one),
  }));
}

/** Ranks that the fleet of a layout takes at rates from little to three times the asked one. */
export function fleetByRate({ decode, prefill, economics }: Evaluated): readonly FleetAtRate[] {
  const most = LARGEST_RATE * (economics.fleet?.ratePerSec ?? decode.requestsPerSec);
  return Array.from({ length: RATES }, (_, i) => {
    const requestsPerSec = (most * (i + 1)) / RATES;
    const feed = prefill === null ? 0 : layoutRanks(prefill.layout) * instancesFor(requestsPerSec, prefill);
    return {
      requestsPerSec,
      rankCount: layoutRanks(decode.layout) * instancesFor(requestsPerSec, decode) + feed,
    };
  });
}

function memoryParts(memory: RankMemory): Readonly<Record<string, number>> {
  const { weights, redundantExperts, cache, recurrent, conv, activations, dispatchBuffers, reserve } = memory;
  return { ...weights, redundantExperts, cache, recurrent, conv, activations, dispatchBuffers, reserve };
}

/** Names of the parts that are largest over all layouts. */
function largestNames(memories: readonly Readonly<Record<string, number>>[]): readonly string[] {
  const sum = (name: string) => memories.reduce((bytes, parts) => bytes + (parts[name] ?? 0), 0);
  const names = [...new Set(memories.flatMap((parts) => Object.keys(parts)))];
  return names.sort((a, b) => sum(b) - sum(a)).slice(0, MOST_PARTS - 1);
}

/** The parts that are kept, and the others as one. */
function joined(
  parts: Readonly<Record<string, number>>,
  kept: readonly string[],
): Readonly<Record<string, number>> {
  const few = Object.fromEntries(kept.map((name) => [name, parts[name] ?? 0]));
  const others = Object.entries(parts).filter(([name]) => !kept.includes(name));
  return { ...few, other: others.reduce((sum, [, bytes]) => sum + bytes, 0) };
}

function stepParts(scenario: Scenario, { layout, decode }: Evaluated): ComparedLayout['step'] {
  const { model, cluster, time } = scenario;
  const { domainRanks, scaleUp, scaleOut } = cluster.topology;
  const link = stageRanks(layout) > domainRanks && scaleOut !== null ? scaleOut : scaleUp;
  const { provenance: experts } = profileFor(cluster.device, model.precision.routedExperts);
  const site: Scenario = { ...scenario, phase: 'decode', cluster: stageCluster(cluster, stageRanks(layout)) };
  const exchange = (direction: 'dispatch' | 'combine') =>
    kernelCosts(site, direction, exchanges[time.exchange])?.provenance ?? link.achieved.provenance;
  const from: Readonly<Record<string, Provenance>> = {
    experts,
    dispatch: exchange('dispatch'),
    combine: exchange('combine'),
  };
  const parts = Object.entries(decode.step.parts).filter(([, ns]) => ns > 0);
  return Object.fromEntries(parts.map(([name, ns]) => [name, { ns, provenance: from[name] ?? 'derived' }]));
}
