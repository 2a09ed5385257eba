/**
 * Where a viewer stands in a journey: scene, beat, and how far the beat has played.
 * Its one idea: time moves the position and nothing else, so that a step, a jump and a replay show the same picture.
 * One of the modules that also run inside the page; it imports nothing.
 */

export interface Position {
  readonly scene: number;
  readonly beat: number;
  /** 0 to 1 within the beat. */
  readonly fraction: number;
  readonly playing: boolean;
}

/** Seconds of each beat of each scene. */
export type Lengths = readonly (readonly number[])[];

/** A finished beat of a scene, at rest. Scene and beat are clamped to what there is. */
export function positionAt(lengths: Lengths, scene: number, beat = 0): Position {
  const own = Math.min(Math.max(scene, 0), lengths.length - 1);
  return {
    scene: own,
    beat: Math.min(Math.max(beat, 0), lengths[own].length - 1),
    fraction: 1,
    playing: false,
  };
}

/** One beat on (1) or back (-1), over the ends of scenes, at rest. */
export function stepped(lengths: Lengths, at: Position, by: 1 | -1): Position {
  const beat = at.beat + by;
  if (beat >= 0 && beat < lengths[at.scene].length) return positionAt(lengths, at.scene, beat);
  const scene = at.scene + by;
  if (scene < 0 || scene >= lengths.length) return { ...at, fraction: 1, playing: false };
  return positionAt(lengths, scene, by > 0 ? 0 : lengths[scene].length - 1);
}

/** Plays on, from the next beat when this one is finished, from the start after the last. */
export function playingFrom(lengths: Lengths, at: Position): Position {
  if (at.fraction < 1) return { ...at, playing: true };
  const next = stepped(lengths, at, 1);
  const atEnd = next.scene === at.scene && next.beat === at.beat;
  return { ...(atEnd ? positionAt(lengths, 0) : next), fraction: 0, playing: true };
}

/** The position after `seconds` more; stops behind the last beat. */
export function advanced(lengths: Lengths, at: Position, seconds: number): Position {
  if (!at.playing) return at;
  const fraction = at.fraction + seconds / lengths[at.scene][at.beat];
  if (fraction < 1) return { ...at, fraction };
  const next = stepped(lengths, at, 1);
  if (next.scene === at.scene && next.beat === at.beat) return next;
  return { ...next, fraction: 0, playing: true };
}
