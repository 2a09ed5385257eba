/**
 * Racks of 72 B300 in one NVLink domain, one 800G interface each.
 */
import { gb300 } from '../devices/gb300.js';
import { achieved, byAnalogy, type ClusterPreset, clusterOf } from './parts.js';

export const gb300Nvl72: ClusterPreset = {
  summary: 'racks of 72 B300 in one NVLink domain, one 800G interface each',
  cluster: clusterOf('gb300-nvl72', gb300, {
    scaleUp: byAnalogy(achieved.nvlinkOneSidedGb200, 'GB200'),
    nic: byAnalogy(achieved.rdmaDeepEpH800, 'H800'),
  }),
};
