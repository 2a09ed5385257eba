/**
 * The shipped parameters that speak for a profile, own or borrowed from a related system.
 * The one idea: an unmeasured system takes the fractions of its nearest relative, and that is said.
 */
import {
  type DenseKernel,
  type DeviceProfile,
  deviceGeneration,
  deviceProfiles,
  type ExpertKernel,
} from '@epsim/model';
import { type TimeModel, valuesFor } from '../experiment.js';
import { linkProfiles } from './link-profile-data.js';

export interface ShippedValues {
  readonly values: number[];
  /** The profile that the values were fitted on when it is not the one asked for. */
  readonly borrowedFrom: string | null;
}

const devices: Readonly<Record<string, DeviceProfile>> = deviceProfiles;

/** A kernel's numbers by name; one product of a layer of two pays half of the layer's start. */
function numbersOf(kernel: ExpertKernel | DenseKernel, startShare = 1): Readonly<Record<string, number>> {
  const numbers = Object.entries(kernel).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return { ...Object.fromEntries(numbers), startNs: kernel.startNs * startShare };
}

/** Every shipped profile by "system/kernel". */
function allShipped(): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const all = new Map<string, Readonly<Record<string, number>>>();
  for (const [name, profile] of Object.entries(linkProfiles)) all.set(name, profile.parameters);
  for (const profile of Object.values(devices)) {
    const share = profile.kernel === 'deepgemm-fp8' ? 0.5 : 1;
    all.set(`${profile.device}/${profile.kernel}`, numbersOf(profile.experts, share));
  }
  const dense = devices['h800-deepgemm-fp8'];
  if (dense !== undefined) {
    all.set('h800/dense-fp8', numbersOf(dense.dense));
    all.set('h800/latent-attention', numbersOf(dense.attention));
  }
  return all;
}

const shipped = allShipped();

/** True for systems of one architecture: B200 and GB200 are, as their letters end alike. */
export function sameArchitecture(a: string, b: string): boolean {
  return deviceGeneration(a).at(-1) === deviceGeneration(b).at(-1);
}

/** Profiles of other systems with the same kernel, the nearest first: same generation, same architecture, any. */
export function relativesOf(profile: string): string[] {
  const [system = '', kernel = ''] = profile.split('/');
  const generation = deviceGeneration(system);
  const distance = (key: string): number => {
    if (deviceGeneration(key) === generation) return 0;
    return sameArchitecture(key, system) ? 1 : 2;
  };
  return [...shipped.keys()]
    .filter((key) => key.endsWith(`/${kernel}`) && key !== profile)
    .sort((a, b) => distance(a) - distance(b));
}

/** Each number as the first of these profiles states it that does. */
export function firstStated(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.assign({}, ...[...names].reverse().map((name) => shipped.get(name) ?? {}));
}

/**
 * Values for a profile in the order of the model's parameters; null when no system has the kernel. A number that
 * the profile does not state, because its rows do not tell it, is that of the nearest relative which states it.
 */
export function shippedValues(profile: string, model: TimeModel): ShippedValues | null {
  if (!shipped.has(profile)) return relativeValues(profile, model);
  const stated = firstStated([profile, ...relativesOf(profile)]);
  return { values: valuesFor(model, stated), borrowedFrom: null };
}

/** Values of the nearest other systems with the same kernel; null when there is none. */
export function relativeValues(profile: string, model: TimeModel): ShippedValues | null {
  const relatives = relativesOf(profile);
  const [nearest] = relatives;
  if (nearest === undefined) return null;
  return { values: valuesFor(model, firstStated(relatives)), borrowedFrom: nearest };
}
