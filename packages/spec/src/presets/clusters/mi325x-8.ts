/**
 * Nodes of eight MI325X joined pair by pair with xGMI, one 400G interface each.
 */
import { mi325x } from '../devices/mi325x.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

const links = {
  scaleUp: byAnalogy(achieved.nvlinkNcclH100, 'H100'),
  nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
};

export const mi325x8: ClusterPreset = {
  summary: 'nodes of eight MI325X joined pair by pair with xGMI, one 400G interface each',
  cluster: clusterOf('mi325x-8', mi325x, links, { kind: 'full-mesh' }),
};
