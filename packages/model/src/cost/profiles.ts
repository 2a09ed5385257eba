/**
 * The fitted device profiles, and which of them speaks for a device.
 * The one idea: a kernel's fractions travel to a device that nobody measured, with a wider error bar.
 */
import type { DeviceSpec, Precision } from '@epsim/spec';
import { deviceGeneration, deviceWords } from './device-name.js';
import type { DeviceProfile } from './device-profile.js';
import { ownExpertProfile, withDenseFits } from './fitted-profile.js';
import type { KernelName } from './kernel-templates.js';
import { deviceProfiles } from './profile-data.js';

/** Weight formats that share a kernel. */
function weightKind(precision: Precision): 'w4' | 'w8' | 'w16' {
  return precision.bits <= 4 ? 'w4' : precision.bits <= 8 ? 'w8' : 'w16';
}

/** The kernel that serves a weight format on a device: FP4 units decide between the two for 4-bit weights. */
function kernelFor(device: DeviceSpec, precision: Precision): KernelName {
  const kind = weightKind(precision);
  if (kind === 'w4') return device.flopsPerSec.fp4 === undefined ? 'marlin-w4a16' : 'trtllm-w4a8';
  return kind === 'w8' ? 'deepgemm-fp8' : 'grouped-bf16';
}

/** Error of a kernel's fractions on another architecture: H200 predicted from Blackwell was off by 62 % in the median. */
const OTHER_ARCHITECTURE_ERROR = 0.6;

/** Least error of a kernel's fractions on another device of the architecture: B200 and GB200 predict each other so. */
const SIBLING_ERROR = 0.07;

/** A profile of another device, with the error bar that borrowing deserves. */
function borrowed(profile: DeviceProfile, device: DeviceSpec): DeviceProfile {
  const known = profile.leaveOutError;
  // GB200 and B200 are one architecture, as are GH200 and H200: the last letter tells.
  const sameArchitecture = deviceGeneration(profile.device).at(-1) === deviceGeneration(device.name).at(-1);
  const doubled = known === null ? null : Math.max(2 * known, SIBLING_ERROR);
  return {
    ...profile,
    name: `${profile.name} on ${device.name}`,
    provenance: 'derived',
    source: `fractions of ${profile.name} at nominal figures of ${device.name}`,
    leaveOutError: sameArchitecture ? doubled : OTHER_ARCHITECTURE_ERROR,
  };
}

/** The format of weights in the name of a kernel: w4 of marlin-w4a16, fp8 of deepgemm-fp8. */
function formatOf(kernel: string): string {
  return /w4|fp8|bf16/.exec(kernel)?.[0] ?? kernel;
}

/**
 * The profile that speaks for a device and the stored format of its experts: the user's own, else one fitted on
 * this device, else the same kernel on a relative, told as derived and with a wider error bar.
 * Whole fused layers ('fused-w4a8') are never taken by default; ask for them by name.
 */
export function profileFor(device: DeviceSpec, precision: Precision): DeviceProfile {
  const kernel = kernelFor(device, precision);
  const own = ownExpertProfile(device, kernel, formatOf);
  return withDenseFits(own ?? publishedProfile(device, kernel), device);
}

function publishedProfile(device: DeviceSpec, kernel: KernelName): DeviceProfile {
  const words = deviceWords(device.name);
  const candidates = Object.values<DeviceProfile>(deviceProfiles).filter((one) => one.kernel === kernel);
  const own = candidates.find((profile) => words.includes(profile.device));
  if (own !== undefined) return own;
  const letters = deviceGeneration(device.name);
  const nearest =
    candidates.find((one) => deviceGeneration(one.device) === letters) ??
    candidates.find((one) => deviceGeneration(one.device).at(-1) === letters.at(-1)) ??
    (candidates[0] as DeviceProfile);
  return borrowed(nearest, device);
}
