/**
 * One or several NVLink domains, joined by network interfaces over a network that is never full itself.
 */
import { z } from 'zod';
import { domainOptions, flatFabric, joinDomains, readOptions } from '../domains.js';
import type { TopologyKind } from '../topology.js';
import { switchedDomain } from './switched.js';

const options = z.strictObject(domainOptions);

export const nvlinkDomain: TopologyKind = {
  summary: 'switched scale-up domains joined by network interfaces, the network between them never full',
  options,
  build: (cluster) => joinDomains(cluster, readOptions(options, cluster), switchedDomain, flatFabric),
};
