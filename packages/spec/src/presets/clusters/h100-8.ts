/**
 * Nodes of eight H100 with NVLink, one 400G interface each.
 */
import { h100Sxm } from '../devices/h100-sxm.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const h1008: ClusterPreset = {
  summary: 'nodes of eight H100 with NVLink, one 400G interface each',
  cluster: clusterOf('h100-8', h100Sxm, {
    scaleUp: achieved.nvlinkNcclH100,
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
