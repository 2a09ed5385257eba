/**
 * Nodes of eight MI300X joined pair by pair with xGMI, one 400G interface each.
 */
import { mi300x } from '../devices/mi300x.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

const links = {
  scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
  nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
};

export const mi300x8: ClusterPreset = {
  summary: 'nodes of eight MI300X joined pair by pair with xGMI, one 400G interface each',
  cluster: clusterOf('mi300x-8', mi300x, links, { kind: 'full-mesh' }),
};
