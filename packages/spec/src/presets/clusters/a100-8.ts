/**
 * Nodes of eight A100 with NVLink, one 200G interface each.
 */
import { a100Sxm } from '../devices/a100-sxm.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const a1008: ClusterPreset = {
  summary: 'nodes of eight A100 with NVLink, one 200G interface each',
  cluster: clusterOf('a100-8', a100Sxm, {
    scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
