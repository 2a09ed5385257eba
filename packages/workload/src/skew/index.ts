/** The registry of skews. A new one is one file here and one line below. */
import { z } from 'zod';
import { logNormal } from './log-normal.js';
import { outcome } from './outcome.js';
import { powerLaw } from './power-law.js';
import type { Skew } from './skew.js';
import { uniform } from './uniform.js';
import { zipf } from './zipf.js';

export const skews = {
  uniform,
  'power-law': powerLaw,
  'log-normal': logNormal,
  zipf,
  outcome,
} as const satisfies Record<string, Skew>;

export type SkewName = keyof typeof skews;

type SkewOptions = (typeof skews)[SkewName]['options'];

/** `{ kind: power-law, alpha: 1.01 }` and the like; without a kind, a skew asked for by its outcome. */
export const skewSchema = z.discriminatedUnion(
  'kind',
  Object.values(skews).map((skew) => skew.options) as [SkewOptions, ...SkewOptions[]],
);
