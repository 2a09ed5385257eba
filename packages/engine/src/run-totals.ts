/**
 * What a run adds up beside its records: traffic between ranks, bytes over links, rows received. Whole steps only:
 * the layers of a step that was cut short count for nothing, as they do in the summary.
 */
import type { Link } from '@epsim/network';
import { type BufferSize, bufferSizes, receivedRows } from '@epsim/placement';
import type { DispatchPlan } from '@epsim/spec';
import type { TimedLayer } from './timed/time-layer.js';
import { timelineOf } from './timed/timeline.js';

export interface LinkUse {
  readonly link: string;
  readonly tier: string;
  readonly bytes: number;
  /** Share of the timed run in which the link was full. */
  readonly busyFraction: number;
}

interface Sums {
  /** [rankCount x rankCount] */
  readonly rankTraffic: Float64Array;
  /** [links] */
  readonly linkBytes: Float64Array;
}

export class RunTotals {
  private readonly whole: Sums;
  /** The layers of the step in hand. */
  private readonly step: Sums;
  private readonly received: Int32Array[] = [];
  private readonly stepReceived: Int32Array[] = [];
  private stepTimes: TimedLayer[] = [];
  private lastStep: readonly TimedLayer[] = [];
  private totalNs = 0;

  constructor(
    private readonly rankCount: number,
    private readonly links: readonly Link[],
  ) {
    const zero = () => ({
      rankTraffic: new Float64Array(rankCount ** 2),
      linkBytes: new Float64Array(links.length),
    });
    this.whole = zero();
    this.step = zero();
  }

  /** Bytes from rank to rank, out and back, [rankCount x rankCount]. */
  get rankTraffic(): Float64Array {
    return this.whole.rankTraffic;
  }

  /** Takes one layer of the step in hand. */
  addLayer(plan: DispatchPlan, timed: TimedLayer): void {
    const n = this.rankCount;
    const { rankTraffic, linkBytes } = this.step;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        rankTraffic[i * n + j] += plan.dispatchBytes[i * n + j];
        rankTraffic[j * n + i] += plan.combineBytes[i * n + j];
      }
    }
    for (let i = 0; i < linkBytes.length; i++) linkBytes[i] += timed.linkBytes[i];
    this.stepReceived.push(receivedRows(plan.rowsPerPair, n));
    this.stepTimes.push(timed);
  }

  /** The step in hand is whole. */
  endStep(): void {
    for (const key of ['rankTraffic', 'linkBytes'] as const) {
      const [from, to] = [this.step[key], this.whole[key]];
      for (let i = 0; i < to.length; i++) to[i] += from[i];
      from.fill(0);
    }
    for (const { stepNs } of this.stepTimes) this.totalNs += stepNs;
    this.received.push(...this.stepReceived.splice(0));
    this.lastStep = this.stepTimes;
    this.stepTimes = [];
  }

  linkUse(): LinkUse[] {
    return this.links.map(({ name, tier, bytesPerSec }, i) => {
      const bytes = this.whole.linkBytes[i];
      const busyNs = (bytes / bytesPerSec) * 1e9;
      return { link: name, tier, bytes, busyFraction: bytes === 0 ? 0 : busyNs / this.totalNs };
    });
  }

  /** Receive buffers that suffice in a share of the layers of all steps. Throws RangeError without a whole step. */
  buffers(): BufferSize[] {
    return bufferSizes(this.received);
  }

  /** The last whole step as a timeline per rank and stream. */
  timeline(): ReturnType<typeof timelineOf> {
    return timelineOf(this.lastStep, this.links);
  }
}
