/**
 * Nodes of eight H20 with NVLink, one 400G interface each.
 */
import { h20 } from '../devices/h20.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const h208: ClusterPreset = {
  summary: 'nodes of eight H20 with NVLink, one 400G interface each',
  cluster: clusterOf('h20-8', h20, {
    scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
