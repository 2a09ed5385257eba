/**
 * What no single field can know: numbers that must fit together, and sizes that must fit a machine.
 * Each check takes what could be read and stays silent where something it needs could not.
 */
import type { ClusterSpec } from './cluster-spec.js';
import type { Path } from './document.js';
import type { ModelShape } from './model-shape.js';
import { formatBytes } from './quantity.js';
import type { Reader } from './reader.js';

/** What was read of a scenario, as far as it could be. */
export interface Readings {
  readonly model?: ModelShape | undefined;
  readonly cluster?: ClusterSpec | undefined;
  readonly rankCount?: number | undefined;
  readonly tokensPerRank?: number | undefined;
  readonly slotsPerRank?: number | readonly number[] | null | undefined;
  readonly slots?: number | null | undefined;
  readonly layers?: number | undefined;
  readonly steps?: number | undefined;
  readonly carry?:
    | {
        readonly tokensPerRank?: number | undefined;
        readonly expertInnerSize?: number | undefined;
        readonly steps?: number | undefined;
        readonly checkSteps?: number | undefined;
      }
    | undefined;
}

/** Largest arrays of a step, in elements, and of a run, in numbers written. */
const MOST_CHOICES = 2 ** 28;
const MOST_LOGITS = 2 ** 28;
const MOST_RECORDED = 2e9;
const MOST_CARRIED_BYTES = 256e9;

export function checkScenario(to: Reader, read: Readings): void {
  const refuse = (path: Path, kind: string, subject: string, value: string, help: string) =>
    to.report(path, { kind, subject, value, help });
  if (read.model) checkModel(read.model, refuse);
  checkCounts(read, refuse);
  checkSlots(read, refuse);
  if (read.cluster) checkCluster(read.cluster, refuse);
  checkSizes(read, refuse);
}

type Refuse = (path: Path, kind: string, subject: string, value: string, help: string) => void;

function checkModel({ moe }: ModelShape, refuse: Refuse): void {
  const { expertCount, topK, groupCount, topGroupCount } = moe;
  if (topK > expertCount) {
    refuse(
      ['model', 'topK'],
      'too many',
      'choices',
      `top-${topK} of ${expertCount} experts`,
      `use ${expertCount} or fewer`,
    );
  }
  if (expertCount % groupCount !== 0) {
    const value = `${expertCount} experts in ${groupCount} groups`;
    refuse(['model', 'groupCount'], 'uneven', 'groups', value, 'use a divisor of the number of experts');
  } else if (
    topGroupCount > groupCount ||
    (topK <= expertCount && topK > (expertCount / groupCount) * topGroupCount)
  ) {
    const value = `top-${topK} within ${topGroupCount} of ${groupCount} groups of ${expertCount / groupCount} experts`;
    refuse(['model', 'topGroupCount'], 'too few', 'groups', value, 'allow more groups or fewer choices');
  }
}

function checkSlots({ model, rankCount, slotsPerRank, slots }: Readings, refuse: Refuse): void {
  const expertCount = model?.moe.expertCount;
  if (typeof slots === 'number' && slotsPerRank !== undefined && slotsPerRank !== null) {
    const value = `${slots} beside slotsPerRank ${slotsPerRank}`;
    refuse(['placement', 'slots'], 'wrong', 'slots', value, 'write one of them');
  } else if (expertCount !== undefined && typeof slots === 'number' && slots < expertCount) {
    const value = `${slots} < ${expertCount} experts`;
    refuse(['placement', 'slots'], 'too few', 'slots', value, `use ${expertCount} or more`);
  } else if (expertCount !== undefined && rankCount !== undefined && typeof slotsPerRank === 'number') {
    const all = rankCount * slotsPerRank;
    if (all >= expertCount) return;
    const value = `${rankCount} ranks x ${slotsPerRank} = ${all} < ${expertCount} experts`;
    const least = Math.ceil(expertCount / rankCount);
    refuse(['placement', 'slotsPerRank'], 'too few', 'slots', value, `use ${least} or more`);
  } else if (expertCount !== undefined && rankCount !== undefined && Array.isArray(slotsPerRank)) {
    const all = slotsPerRank.reduce((sum, each) => sum + each, 0);
    if (slotsPerRank.length !== rankCount) {
      const value = `${slotsPerRank.length} numbers for ${rankCount} ranks`;
      refuse(['placement', 'slotsPerRank'], 'wrong', 'length', value, 'write one number for each rank');
    } else if (all < expertCount) {
      const value = `${all} in all < ${expertCount} experts`;
      refuse(['placement', 'slotsPerRank'], 'too few', 'slots', value, `use ${expertCount} or more in all`);
    }
  }
}

function checkCounts(read: Readings, refuse: Refuse): void {
  const { model, layers, steps, carry } = read;
  if (model && layers !== undefined) {
    const most = model.layers.filter((layer) => layer.ffn?.kind === 'moe').length;
    if (layers > most) {
      refuse(
        ['layers'],
        'too many',
        'layers',
        `${layers} of ${most} layers of experts`,
        `use ${most} or fewer`,
      );
    }
  }
  if (carry?.steps !== undefined && steps !== undefined && carry.steps > steps) {
    refuse(['carry', 'steps'], 'too many', 'steps', `${carry.steps} of ${steps}`, `use ${steps} or fewer`);
  }
  if (carry?.checkSteps !== undefined && carry.steps !== undefined && carry.checkSteps > carry.steps) {
    const found = `${carry.checkSteps} of ${carry.steps} that are carried`;
    refuse(['carry', 'checkSteps'], 'too many', 'steps', found, `use ${carry.steps} or fewer`);
  }
}

function checkCluster({ rankCount, topology, overrides }: ClusterSpec, refuse: Refuse): void {
  if (topology.scaleOut === null && rankCount > topology.domainRanks) {
    const value = `${rankCount} ranks in domains of ${topology.domainRanks}`;
    const help = 'write scaleOut: { bandwidth: 50 GB/s, latency: 5 us }, or fewer ranks';
    refuse(['cluster', 'scaleOut'], 'missing', 'network', value, help);
  }
  const seen = new Set<number>();
  for (const [index, { rank }] of overrides.entries()) {
    const path = ['cluster', 'overrides', index, 'rank'];
    if (rank >= rankCount) {
      refuse(path, 'out of range', 'rank', String(rank), `ranks are 0 to ${rankCount - 1}`);
    }
    if (seen.has(rank)) refuse(path, 'repeated', 'rank', String(rank), 'write one entry for each rank');
    seen.add(rank);
  }
}

function checkSizes(read: Readings, refuse: Refuse): void {
  const { model, rankCount, tokensPerRank, layers, steps, carry } = read;
  if (!model) return;
  const { expertCount, topK, expertWidth } = model.moe;
  const tokensPath = ['workload', 'tokensPerRank'];
  if (tokensPerRank !== undefined && tokensPerRank * expertCount > MOST_LOGITS) {
    const value = `${tokensPerRank} tokens x ${expertCount} experts on one rank`;
    const most = Math.floor(MOST_LOGITS / expertCount);
    refuse(tokensPath, 'too large', 'batch', value, `use ${most} tokens or fewer`);
  } else if (tokensPerRank !== undefined && rankCount !== undefined) {
    if (rankCount * tokensPerRank * topK > MOST_CHOICES) {
      const value = `${rankCount} ranks x ${tokensPerRank} tokens x top-${topK}`;
      const most = Math.max(1, Math.floor(MOST_CHOICES / rankCount / topK));
      refuse(tokensPath, 'too large', 'batch', value, `use ${most} tokens or fewer`);
    }
  }
  if (steps !== undefined && layers !== undefined && rankCount !== undefined) {
    const recorded = steps * layers * (expertCount + 2 * rankCount);
    if (recorded > MOST_RECORDED) {
      const value = `${steps} steps x ${layers} layers of ${expertCount} experts on ${rankCount} ranks`;
      refuse(
        ['steps'],
        'too large',
        'run',
        value,
        `its records alone take ${formatBytes(recorded * 6)}; use fewer`,
      );
    }
  }
  if (carry?.expertInnerSize !== undefined && layers !== undefined) {
    const bytes = layers * expertCount * 3 * expertWidth * carry.expertInnerSize * 4;
    if (bytes > MOST_CARRIED_BYTES) {
      const value = `${expertCount} experts x ${layers} layers take ${formatBytes(bytes)}`;
      refuse(
        ['carry', 'expertInnerSize'],
        'too large',
        'experts',
        value,
        'use a smaller inner size or fewer layers',
      );
    }
  }
}
