/**
 * Turns link descriptions into named links with usable rates, and refuses figures that are no link.
 * One idea: every link is added under a name, so that any single link can be degraded by its name.
 * Does not know how links are joined.
 */
import type { LinkSpec } from '@epsim/spec';
import type { Link, Tier } from './topology.js';

/** Throws RangeError when `spec` is no usable link class; `field` is its place in the cluster. */
export function checkLinkSpec(field: string, spec: LinkSpec): void {
  if (!(spec.bytesPerSec > 0) || spec.bytesPerSec === Number.POSITIVE_INFINITY) {
    throw new RangeError(
      `${field}.bandwidth: zero or missing bandwidth: ${spec.bytesPerSec}; give the rate of one rank in one direction, such as "450 GB/s" or "400 Gbps"`,
    );
  }
  if (!(spec.latencyNs >= 0) || spec.latencyNs === Number.POSITIVE_INFINITY) {
    throw new RangeError(
      `${field}.latency: negative or missing latency: ${spec.latencyNs}; give a time of 0 or more, such as "2 us"`,
    );
  }
  const { fraction } = spec.achieved;
  if (!(fraction > 0 && fraction <= 1)) {
    throw new RangeError(
      `${field}.achieved.fraction: out of range: ${fraction}; give the measured share of the nominal rate, above 0 and at most 1`,
    );
  }
}

export interface LinkTable {
  readonly links: readonly Link[];
  /** Adds one direction of a port or trunk and returns its index. `scale` multiplies the usable rate of `spec`. */
  add(name: string, tier: Tier, spec: LinkSpec, scale?: number, latencyNs?: number): number;
  /** Throws RangeError when a degraded name matched no link. Call once, after the last `add`. */
  finish(): void;
}

/** `degraded` maps link names to what is left of their rate: 0.5 = half, 0 = down. */
export function linkTable(degraded: Readonly<Record<string, number>>): LinkTable {
  const links: Link[] = [];
  const unused = new Set(Object.keys(degraded));
  return {
    links,
    add(name, tier, spec, scale = 1, latencyNs = spec.latencyNs) {
      unused.delete(name);
      const left = degraded[name] ?? 1;
      links.push({
        name,
        tier,
        bytesPerSec: spec.bytesPerSec * spec.achieved.fraction * scale * left,
        latencyNs,
      });
      return links.length - 1;
    },
    finish() {
      const [name] = unused;
      if (name === undefined) return;
      const some = links.slice(0, 3).map((link) => link.name);
      throw new RangeError(
        `cluster.topology.degraded: unknown link: ${name}; links are named like ${some.join(', ')}`,
      );
    },
  };
}
