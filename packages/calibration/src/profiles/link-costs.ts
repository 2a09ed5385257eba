/**
 * The fitted numbers of an exchange kernel, as a network model needs them.
 * The one idea: achieved fractions replace those of the links, and the fixed part is told apart from the bytes,
 * so that whoever times uneven pairs adds it once.
 */
import type { DeviceSpec } from '@epsim/spec';
import { type LinkParameters, NEUTRAL_LINK } from '../models/link-model.js';
import { systemFigures } from '../systems.js';
import type { LinkProfile } from './link-profile.js';
import { linkProfiles } from './link-profile-data.js';
import { firstStated, relativesOf, sameArchitecture } from './shipped.js';

export type ExchangeKernel = 'low-latency' | 'normal' | 'one-sided';

export interface LinkCosts {
  readonly profile: string;
  readonly link: LinkParameters;
  readonly provenance: 'fitted' | 'derived';
  readonly source: string;
  /** Error of rows left out of the fit; wider on a system that nobody measured, twice as wide outside the range. */
  readonly relErrorBar: number | null;
}

/** Where an exchange is: { ep: 64, hidden: 3584, tokens: 128 }. What is not stated counts as inside. */
export type ExchangeCase = Readonly<Record<string, number>>;

function inside(range: LinkProfile['range'], at: ExchangeCase): boolean {
  return Object.entries(at).every(([kind, value]) => {
    const bounds = range[kind];
    return bounds === undefined || (value >= bounds[0] && value <= bounds[1]);
  });
}

/**
 * Median errors of low-latency profiles on another system of the architecture (`epsim validate`, left out by system)
 * and of another architecture (Hopper from Blackwell and back).
 */
const SIBLING_ERROR = 0.12;
const OTHER_ARCHITECTURE_ERROR = 0.24;

/** The error of another system's profile: twice its own, and no less than was seen between systems. */
function borrowedError(profile: string, system: string, leaveOutError: number): number {
  const seen = sameArchitecture(profile, system) ? SIBLING_ERROR : OTHER_ARCHITECTURE_ERROR;
  return Math.max(2 * leaveOutError, seen);
}

/** The error of a profile where it is used: twice as large outside its range. */
function widened(error: number, range: LinkProfile['range'], at: ExchangeCase): number {
  return inside(range, at) ? error : 2 * error;
}

/**
 * Costs of one direction of an exchange on the devices of a cluster: the user's own, else the published ones of
 * this device by its name, else those of a relative; null where no system was measured. What the first of them
 * does not state comes from the next.
 */
export function linkCosts(
  device: Pick<DeviceSpec, 'name' | 'fits'>,
  kernel: ExchangeKernel,
  phase: 'dispatch' | 'combine',
  at: ExchangeCase = {},
): LinkCosts | null {
  const system = systemFigures(device.name)?.system ?? device.name.toLowerCase();
  const wanted = `${system}/${kernel}-${phase}`;
  const published = wanted in linkProfiles;
  const names = published ? [wanted, ...relativesOf(wanted)] : relativesOf(wanted);
  const stated = { ...NEUTRAL_LINK, ...firstStated(names) };
  const mine = device.fits?.find((fit) => fit.profile.endsWith(`/${kernel}-${phase}`));
  if (mine !== undefined) {
    const { profile, source, leaveGroupOutMedianError: error } = mine;
    const relErrorBar = error === null ? null : widened(error, mine.range, at);
    return { profile, source, provenance: 'fitted', link: { ...stated, ...mine.parameters }, relErrorBar };
  }
  const [profile] = names;
  if (profile === undefined) return null;
  const { source, range, leaveOutError } = linkProfiles[profile] as LinkProfile;
  return {
    profile,
    link: stated,
    provenance: published ? 'fitted' : 'derived',
    source: published ? source : `fractions of ${profile}: ${source}`,
    relErrorBar: widened(
      published ? leaveOutError : borrowedError(profile, system, leaveOutError),
      range,
      at,
    ),
  };
}
