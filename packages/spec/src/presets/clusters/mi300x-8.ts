/**
 * Nodes of eight MI300X with xGMI, counted as a switched domain, one 400G interface each.
 */
import { mi300x } from '../devices/mi300x.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const mi300x8: ClusterPreset = {
  summary: 'nodes of eight MI300X with xGMI, counted as a switched domain, one 400G interface each',
  cluster: clusterOf('mi300x-8', mi300x, {
    scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
