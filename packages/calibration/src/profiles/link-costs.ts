/**
 * The fitted numbers of an exchange kernel, as a network model needs them.
 * The one idea: achieved fractions replace those of the links, and the fixed part is told apart from the bytes,
 * so that whoever times uneven pairs adds it once.
 */
import { type LinkParameters, NEUTRAL_LINK } from '../models/link-model.js';
import { systemFigures } from '../systems.js';
import type { LinkProfile } from './link-profile.js';
import { linkProfiles } from './link-profile-data.js';
import { firstStated, relativesOf } from './shipped.js';

export type ExchangeKernel = 'low-latency' | 'normal' | 'one-sided';

export interface LinkCosts {
  readonly profile: string;
  readonly link: LinkParameters;
  readonly provenance: 'fitted' | 'derived';
  readonly source: string;
  /** Error of rows left out of the fit; twice that on a system that nobody measured, and twice outside the range. */
  readonly relErrorBar: number;
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
 * Costs of one direction of an exchange on the devices of a cluster, by the device's name; those of a relative
 * where this system was not measured, null where no system was.
 */
export function linkCosts(
  deviceName: string,
  kernel: ExchangeKernel,
  phase: 'dispatch' | 'combine',
  at: ExchangeCase = {},
): LinkCosts | null {
  const system = systemFigures(deviceName)?.system ?? deviceName.toLowerCase();
  const wanted = `${system}/${kernel}-${phase}`;
  const own = wanted in linkProfiles;
  const names = own ? [wanted, ...relativesOf(wanted)] : relativesOf(wanted);
  const [profile] = names;
  if (profile === undefined) return null;
  const { source, range, leaveOutError } = linkProfiles[profile] as LinkProfile;
  const widening = (own ? 1 : 2) * (inside(range, at) ? 1 : 2);
  return {
    profile,
    link: { ...NEUTRAL_LINK, ...firstStated(names) },
    provenance: own ? 'fitted' : 'derived',
    source: own ? source : `fractions of ${profile}: ${source}`,
    relErrorBar: widening * leaveOutError,
  };
}
