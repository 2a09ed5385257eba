/**
 * A domain whose ranks are joined to their neighbours in two or three rings, such as a TPU slice.
 * The scale-up rate of a rank is split evenly over its links. A flow goes ring by ring, the shorter way round;
 * where both ways are equal, even and odd places go opposite ways.
 */
import type { ClusterSpec } from '@epsim/spec';
import { z } from 'zod';
import { type BuildInner, domainOptions, flatFabric, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';

const AXES = ['x', 'y', 'z'];

function torusDomain(dims: readonly number[]): BuildInner {
  const strides = dims.map((_, axis) => dims.slice(0, axis).reduce((product, dim) => product * dim, 1));
  const size = dims.reduce((product, dim) => product * dim, 1);
  return ({ cluster, table, rankCount, scaleUpFactor }) => {
    if (rankCount % size !== 0 || size !== cluster.topology.domainRanks) {
      throw new RangeError(
        `cluster.topology.dims: unfilled domain: ${dims.join(' x ')} = ${size} for ${cluster.topology.domainRanks} ranks of a domain and ${rankCount} in all; a torus needs all its ranks`,
      );
    }
    const ports = dims.reduce((sum, dim) => sum + (dim > 2 ? 2 : dim - 1), 0);
    // Index of the link that leaves a rank along an axis, forward then backward, [rankCount x axes x 2].
    const links = new Int32Array(rankCount * dims.length * 2).fill(-1);
    const next = (rank: number, axis: number, step: number): number => {
      const place = Math.floor(rank / strides[axis]) % dims[axis];
      return rank + (((place + step + dims[axis]) % dims[axis]) - place) * strides[axis];
    };
    for (let rank = 0; rank < rankCount; rank++) {
      for (let axis = 0; axis < dims.length; axis++) {
        for (let back = 0; back < Math.min(2, dims[axis] - 1); back++) {
          const scale =
            Math.min(scaleUpFactor[rank], scaleUpFactor[next(rank, axis, back === 0 ? 1 : -1)]) / ports;
          const name = `rank${rank}.${AXES[axis]}${back === 0 ? '+' : '-'}`;
          links[(rank * dims.length + axis) * 2 + back] = table.add(
            name,
            'scale-up',
            cluster.topology.scaleUp,
            scale,
          );
        }
      }
    }
    return {
      maxHops: dims.reduce((sum, dim) => sum + Math.floor(dim / 2), 0),
      route(from, to, out, at) {
        let rank = from;
        let end = at;
        for (let axis = 0; axis < dims.length; axis++) {
          const dim = dims[axis];
          const place = Math.floor(rank / strides[axis]) % dim;
          const ahead = (Math.floor(to / strides[axis]) - Math.floor(rank / strides[axis])) % dim;
          const forward = (ahead + dim) % dim;
          const back = 2 * forward > dim || (2 * forward === dim && dim > 2 && place % 2 === 1);
          for (let left = back ? dim - forward : forward; left > 0; left--) {
            out[end++] = links[(rank * dims.length + axis) * 2 + (back ? 1 : 0)];
            rank = next(rank, axis, back ? -1 : 1);
          }
        }
        return end;
      },
    };
  };
}

function torusKind(axes: 2 | 3): TopologyKind {
  const options = z.strictObject({
    ...domainOptions,
    dims: z
      .array(z.int().positive())
      .length(axes)
      .describe('ranks along each ring; their product is the ranks of a domain'),
  });
  return {
    summary: `ranks joined to their neighbours in ${axes} rings (TPU), routed ring by ring`,
    options,
    build(cluster: ClusterSpec) {
      const read = readOptions(options, cluster);
      return joinDomains(cluster, read, torusDomain(read.dims), flatFabric);
    },
  };
}

export const torus2d: TopologyKind = torusKind(2);
export const torus3d: TopologyKind = torusKind(3);
