/**
 * Nodes of eight H800 with halved NVLink, one 400G interface each: where DeepEP was measured.
 */
import { h800Sxm } from '../devices/h800-sxm.js';
import { achieved, type ClusterPreset, clusterOf } from './parts.js';

export const h800Nodes: ClusterPreset = {
  summary: 'nodes of eight H800 with halved NVLink, one 400G interface each: where DeepEP was measured',
  cluster: clusterOf('h800-nodes', h800Sxm, {
    scaleUp: achieved.nvlinkDeepEpH800,
    nic: achieved.rdmaDeepEpH800,
  }),
};
