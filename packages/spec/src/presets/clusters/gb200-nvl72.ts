/**
 * Racks of 72 B200 in one NVLink domain, one 800G interface each.
 */
import { gb200 } from '../devices/gb200.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const gb200Nvl72: ClusterPreset = {
  summary: 'racks of 72 B200 in one NVLink domain, one 800G interface each',
  cluster: clusterOf('gb200-nvl72', gb200, {
    scaleUp: achieved.nvlinkOneSidedGb200,
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
