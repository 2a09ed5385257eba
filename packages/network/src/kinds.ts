/**
 * The topologies by name. A new one is a file in `kinds/` and a line here.
 */
import type { ClusterSpec } from '@epsim/spec';
import { dragonfly } from './kinds/dragonfly.js';
import { fullMesh } from './kinds/full-mesh.js';
import { nvlinkDomain } from './kinds/nvlink-domain.js';
import { railOptimized } from './kinds/rail-optimized.js';
import { torus2d, torus3d } from './kinds/torus.js';
import { fatTree, leafSpine, racks } from './kinds/trees.js';
import type { Topology, TopologyKind } from './topology.js';

export const topologyKinds = {
  'nvlink-domain': nvlinkDomain,
  'rail-optimized': railOptimized,
  'leaf-spine': leafSpine,
  'fat-tree': fatTree,
  dragonfly,
  'torus-2d': torus2d,
  'torus-3d': torus3d,
  'full-mesh': fullMesh,
  racks,
} as const satisfies Record<string, TopologyKind>;

/**
 * Builds the network of a cluster.
 * Throws RangeError, with the field and the repair, for an unknown kind and for whatever the kind refuses.
 */
export function buildTopology(cluster: ClusterSpec): Topology {
  const { kind } = cluster.topology;
  if (!Object.hasOwn(topologyKinds, kind)) {
    const known = Object.keys(topologyKinds).join(', ');
    throw new RangeError(`cluster.topology.kind: unknown topology: ${kind}; known: ${known}`);
  }
  return topologyKinds[kind as keyof typeof topologyKinds].build(cluster);
}
