/**
 * A user's own fits as a device profile: the shipped profile of a kernel with the measured numbers in it.
 * What the fits do not tell (further kernels, a range that is not stated) stays as published.
 */
import type { DeviceSpec, KernelFit } from '@epsim/spec';
import type { DeviceProfile } from './device-profile.js';
import { type KernelName, kernelTemplates } from './kernel-templates.js';
import { deviceProfiles } from './profile-data.js';

/** The profile of a fit to expert kernels; null for fits of links, collectives, products and attention. */
export function expertProfileOf(fit: KernelFit): DeviceProfile | null {
  const [device = '', kernel = ''] = fit.profile.split('/');
  const base = Object.values<DeviceProfile>(deviceProfiles).find((one) => one.kernel === kernel);
  if (base === undefined || !(kernel in kernelTemplates)) return null;
  const { startNs } = fit.parameters;
  // One grouped product was timed, and two make a layer.
  const start = fit.model === 'grouped' && startNs !== undefined ? { startNs: 2 * startNs } : {};
  return {
    ...base,
    name: `${device}-${kernel}`,
    device,
    provenance: 'fitted',
    source: fit.source,
    experts: { ...base.experts, ...kernelTemplates[kernel as KernelName], ...fit.parameters, ...start },
    range: { ...base.range, ...fit.range },
    medianError: fit.medianError,
    leaveOutError: fit.leaveGroupOutMedianError,
  };
}

/**
 * The user's profile of a kernel on a device, else of another kernel for the same format of weights; null without
 * one. `formatOf` tells formats apart by the name of a kernel.
 */
export function ownExpertProfile(
  { fits = [] }: DeviceSpec,
  kernel: KernelName,
  formatOf: (kernel: string) => string,
): DeviceProfile | null {
  const profiles = fits.map(expertProfileOf).filter((one) => one !== null);
  const whole = (one: DeviceProfile) => !one.kernel.startsWith('fused');
  return (
    profiles.find((one) => one.kernel === kernel) ??
    profiles.find((one) => whole(one) && formatOf(one.kernel) === formatOf(kernel)) ??
    null
  );
}

/** The profile with the user's numbers of ordinary products and attention in it, where the device has them. */
export function withDenseFits(profile: DeviceProfile, { fits = [] }: DeviceSpec): DeviceProfile {
  const of = (name: string) => fits.find((fit) => fit.profile.endsWith(`/${name}`))?.parameters;
  const [dense, attention] = [of('dense-fp8'), of('latent-attention')];
  if (dense === undefined && attention === undefined) return profile;
  return {
    ...profile,
    dense: { ...profile.dense, ...dense },
    attention: { ...profile.attention, ...attention },
  };
}
