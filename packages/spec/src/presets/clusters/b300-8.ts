/**
 * Nodes of eight B300 with NVLink, one 800G interface each.
 */
import { b300Sxm } from '../devices/b300-sxm.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const b3008: ClusterPreset = {
  summary: 'nodes of eight B300 with NVLink, one 800G interface each',
  cluster: clusterOf('b300-8', b300Sxm, {
    scaleUp: byAnalogy(achieved.nvlinkDeepEpB200, 'B200'),
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
