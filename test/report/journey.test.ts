import { advanced, type Lengths, playingFrom, positionAt, stepped } from '@epsim/report';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const anyLengths = (): fc.Arbitrary<Lengths> =>
  fc.array(fc.array(fc.double({ min: 0.1, max: 2, noNaN: true }), { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 6,
  });
const beatsOf = (lengths: Lengths) => lengths.flatMap((own, scene) => own.map((_, beat) => [scene, beat]));

describe("a journey's position", () => {
  test('visits every beat once in order when stepped on, and again in reverse when stepped back', () => {
    fc.assert(
      fc.property(anyLengths(), (lengths) => {
        const all = beatsOf(lengths);
        let at = positionAt(lengths, 0);
        const on = all.map(() => {
          const here = [at.scene, at.beat];
          at = stepped(lengths, at, 1);
          return here;
        });
        expect(on).toEqual(all);
        const back = all.map(() => {
          const here = [at.scene, at.beat];
          at = stepped(lengths, at, -1);
          return here;
        });
        expect(back).toEqual(all.toReversed());
      }),
    );
  });

  test('plays through every beat in the sum of their seconds, whatever the frames, and rests at the end', () => {
    fc.assert(
      fc.property(anyLengths(), fc.double({ min: 0.02, max: 0.1, noNaN: true }), (lengths, frame) => {
        const total = lengths.flat().reduce((a, b) => a + b, 0);
        let at = { ...positionAt(lengths, 0), fraction: 0, playing: true };
        const seen = new Set<string>();
        let seconds = 0;
        let inside = true;
        while (at.playing) {
          seen.add(`${at.scene}.${at.beat}`);
          const next = advanced(lengths, at, frame);
          inside &&= next.fraction >= 0 && next.fraction <= 1;
          at = next;
          seconds += frame;
        }
        expect(inside).toBe(true);
        expect(seen.size).toBe(beatsOf(lengths).length);
        expect(seconds).toBeGreaterThanOrEqual(total - 1e-6);
        expect(seconds).toBeLessThanOrEqual(total + frame * (seen.size + 1));
        expect(at).toMatchObject({ fraction: 1, scene: lengths.length - 1 });
      }),
      { numRuns: 30 },
    );
  });

  test('plays on from the next beat when one is finished, from where it was paused, and from the start after the last', () => {
    const lengths = [[1, 1], [1]];
    expect(playingFrom(lengths, positionAt(lengths, 0, 0))).toEqual({
      scene: 0,
      beat: 1,
      fraction: 0,
      playing: true,
    });
    const paused = { scene: 0, beat: 1, fraction: 0.4, playing: false };
    expect(playingFrom(lengths, paused)).toEqual({ ...paused, playing: true });
    expect(playingFrom(lengths, positionAt(lengths, 1))).toEqual({
      scene: 0,
      beat: 0,
      fraction: 0,
      playing: true,
    });
  });

  test('stays inside what there is, wherever a link points', () => {
    fc.assert(
      fc.property(anyLengths(), fc.integer(), fc.integer(), (lengths, scene, beat) => {
        const at = positionAt(lengths, scene, beat);
        expect(lengths[at.scene][at.beat]).toBeGreaterThan(0);
      }),
    );
  });
});
