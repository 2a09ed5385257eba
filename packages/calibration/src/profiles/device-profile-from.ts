/**
 * A user's own fit as a device profile that the cost model takes.
 */
import { type DeviceProfile, deviceProfiles, type KernelName, kernelTemplates } from '@epsim/model';
import type { FittedProfile } from '../calibrate.js';

/**
 * The device profile of a fit to expert kernels; null for fits of links, collectives, products and attention.
 * What the fit does not hold (ordinary products, attention, the range) stays as in the shipped profile of the kernel.
 */
export function deviceProfileFrom(fit: FittedProfile): DeviceProfile | null {
  const [device = '', kernel = ''] = fit.profile.split('/');
  const base = Object.values<DeviceProfile>(deviceProfiles).find((one) => one.kernel === kernel);
  if (base === undefined || !(kernel in kernelTemplates) || fit.model !== 'experts') return null;
  return {
    ...base,
    name: `${device}-${kernel}`,
    device,
    provenance: 'fitted',
    source: fit.source,
    experts: { ...base.experts, ...kernelTemplates[kernel as KernelName], ...fit.parameters },
    medianError: fit.medianError,
    leaveOutError: fit.leaveGroupOutMedianError,
  };
}
