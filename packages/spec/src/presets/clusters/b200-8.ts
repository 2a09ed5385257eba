/**
 * Nodes of eight B200 with NVLink, one 800G interface each.
 */
import { b200Sxm } from '../devices/b200-sxm.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const b2008: ClusterPreset = {
  summary: 'nodes of eight B200 with NVLink, one 800G interface each',
  cluster: clusterOf('b200-8', b200Sxm, {
    scaleUp: achieved.nvlinkDeepEpB200,
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
