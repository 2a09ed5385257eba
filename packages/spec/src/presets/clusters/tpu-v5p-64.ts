/**
 * Cubes of 64 TPU v5p in a torus of 4 x 4 x 4, the smallest slice that closes all its rings; cubes joined by the
 * data centre network.
 */
import { tpuV5p } from '../devices/tpu-v5p.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

const links = {
  scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
  nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
};

export const tpuV5p64: ClusterPreset = {
  summary: 'cubes of 64 TPU v5p in a torus of 4 x 4 x 4, joined by the data centre network',
  cluster: clusterOf('tpu-v5p-64', tpuV5p, links, {
    kind: 'torus-3d',
    options: { dims: [4, 4, 4] },
    domainRanks: 64,
  }),
};
