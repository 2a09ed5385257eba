/**
 * Nodes of eight H200 with NVLink, one 400G interface each.
 */
import { h200Sxm } from '../devices/h200-sxm.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const h2008: ClusterPreset = {
  summary: 'nodes of eight H200 with NVLink, one 400G interface each',
  cluster: clusterOf('h200-8', h200Sxm, {
    scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
