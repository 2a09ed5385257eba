/** What a scene is: words, beats, and a picture for each moment. It imports only types. */
import type { JourneyTrace, SourceName } from '../trace.js';
import type { Pen } from './pen.js';

export interface Beat {
  /** What this beat shows, with the measured numbers in it. */
  readonly caption: string;
  readonly seconds: number;
}

export interface Scene {
  readonly id: string;
  readonly title: string;
  readonly story: string;
  /** Where the figures in picture and captions come from. */
  readonly sources: readonly SourceName[];
  /** Sentences on Kimi K3 at full size, kept apart from the picture. */
  readonly fullSize: readonly string[];
  readonly beats: readonly Beat[];
  /** CSS pixels that the picture needs at this width. */
  height(width: number): number;
  /** Draws beat `beat`, of which `fraction` has passed. */
  draw(pen: Pen, beat: number, fraction: number): void;
}

export type SceneMaker = (trace: JourneyTrace) => Scene;

/** Pictures are laid out in two columns from here up. */
export const WIDE = 720;

/** A token's name as people read it: spaces and line ends are seen. */
export function tokenName(label: string): string {
  if (label === ' ') return '␣';
  return label === '\n' ? '↵' : label;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
