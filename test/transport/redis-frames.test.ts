import { crc32 } from 'node:zlib';
import { randomSource } from '@epsim/spec';
import {
  addressOf,
  type Block,
  clearTextWarning,
  decodeFrame,
  encodeFrames,
  type Frame,
  LANES,
  lanesOf,
  MAX_FRAME_BYTES,
  seatsOf,
  UncopiedCommand,
  type WorkerCard,
} from '@epsim/transport/redis';
import fc from 'fast-check';
import { Command } from 'ioredis';
import { describe, expect, test } from 'vitest';

const anyBlocks = fc.array(
  fc.record({ from: fc.nat(500), to: fc.nat(500), bytes: fc.uint8Array({ maxLength: 600 }) }),
  { maxLength: 20 },
);

/** Blocks from the pieces of frames, in order; each piece must go on where the one before ended. */
function joined(frames: readonly Buffer[]): Block[] {
  const blocks: { from: number; to: number; bytes: Buffer }[] = [];
  frames.forEach((bytes, index) => {
    const frame = decodeFrame(bytes, 'run', 'channel') as Frame;
    expect(frame.index).toBe(index);
    for (const piece of frame.pieces) {
      const last = blocks.at(-1);
      if (piece.offset > 0 && last) {
        expect(piece.offset).toBe(last.bytes.length);
        last.bytes = Buffer.concat([last.bytes, piece.bytes]);
      } else blocks.push({ from: piece.from, to: piece.to, bytes: Buffer.from(piece.bytes) });
    }
  });
  return blocks;
}

describe('frames', () => {
  test('give back what went in, in frames that are none too large', () => {
    fc.assert(
      fc.property(anyBlocks, (blocks) => {
        const frames = [...encodeFrames('run', 'channel', blocks)];
        const sent = blocks.filter(({ bytes }) => bytes.length > 0);
        expect(joined(frames)).toEqual(sent.map((block) => ({ ...block, bytes: Buffer.from(block.bytes) })));
      }),
    );
    const large = [1_000_000, 3, 700_001].map((length, from) => ({
      from,
      to: 9,
      bytes: new Uint8Array(length).fill(from + 1),
    }));
    const frames = [...encodeFrames('run', 'channel', large)];
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThanOrEqual(MAX_FRAME_BYTES);
    const back = joined(frames);
    expect(back.map(({ from, to }) => [from, to])).toEqual(large.map(({ from, to }) => [from, to]));
    back.forEach(({ bytes }, i) => {
      expect(Buffer.from(bytes).equals(large[i].bytes)).toBe(true);
    });
  });

  test('of another run or channel are foreign, damaged ones damaged, large ones too large', () => {
    const [frame] = encodeFrames('run', 'channel', [{ from: 1, to: 2, bytes: new Uint8Array(100) }]);
    expect(decodeFrame(frame, 'other', 'channel')).toBe('foreign');
    expect(decodeFrame(frame, 'run', 'other')).toBe('foreign');
    expect(decodeFrame(Buffer.alloc(MAX_FRAME_BYTES + 1), 'run', 'channel')).toBe('oversized');
    expect(decodeFrame(Buffer.from('something else'), 'run', 'channel')).toBe('malformed');
    frame[60] ^= 1;
    expect(decodeFrame(frame, 'run', 'channel')).toBe('damaged');
  });

  test('that are random or mutated, a hundred thousand of them, are refused or are what was sent', () => {
    const random = randomSource(11, 'frames');
    const below = (end: number) => Math.floor(random.uniform() * end);
    const bytes = Uint8Array.from({ length: 300 }, () => below(256));
    const blocks = [0, 1, 2].map((i) => ({ from: i, to: 7, bytes: bytes.subarray(i * 100, i * 100 + 100) }));
    const [honest] = encodeFrames('run', 'channel', blocks);
    const counts: Record<string, number> = {};
    for (let i = 0; i < 100_000; i++) {
      const frame = i % 4 === 0 ? randomFrame(below) : mutated(honest, below);
      // Half of them carry a checksum that is right, as those of someone who means it would.
      if (i % 2 === 0 && frame.length > 8) frame.writeUInt32LE(crc32(frame.subarray(8)) >>> 0, 4);
      const read = decodeFrame(frame, 'run', 'channel');
      const kind = typeof read === 'string' ? read : 'accepted';
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (typeof read === 'string') continue;
      const total = read.pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
      if (total > frame.length) throw new Error('more bytes than the frame has');
      if (i % 2 === 1 && !frame.equals(honest)) throw new Error('a damaged frame was accepted');
    }
    expect(Object.keys(counts).sort()).toEqual(['accepted', 'damaged', 'foreign', 'malformed']);
    expect(counts.damaged).toBeGreaterThan(30_000);
  });
});

function randomFrame(below: (end: number) => number): Buffer {
  const frame = Buffer.from(Array.from({ length: below(80) }, () => below(256)));
  if (frame.length >= 12 && below(2) === 0) {
    frame.write('EPF1');
    frame.writeUInt32LE(below(frame.length), 8);
  }
  return frame;
}

function mutated(honest: Buffer, below: (end: number) => number): Buffer {
  const frame = Buffer.from(honest);
  for (let n = 1 + below(4); n > 0; n--) frame[below(frame.length)] = below(256);
  if (below(4) === 0) return frame.subarray(0, below(frame.length));
  if (below(8) === 0) return Buffer.concat([frame, frame.subarray(0, below(frame.length))]);
  return frame;
}

describe('addresses', () => {
  test('are shown without user and password', () => {
    expect(addressOf('rediss://me:secret@example.org/2')).toEqual({
      shown: 'rediss://example.org:6379/2',
      encrypted: true,
      loopback: false,
    });
  });

  test.each([
    [
      'redis://u:p@10.0.0.7:6380',
      /^warning: redis:\/\/10\.0\.0\.7:6380 is another host and .* not encrypted/,
    ],
    ['rediss://10.0.0.7', null],
    ['redis://127.0.0.1', null],
    ['redis://localhost:9', null],
    ['redis://[::1]:9', null],
  ])('%s is warned about where passwords would cross a network', (url, warning) => {
    const text = clearTextWarning(addressOf(url));
    if (warning === null) expect(text).toBeNull();
    else expect(text).toMatch(warning);
  });

  test('that are none are refused without repeating them', () => {
    const unescaped = ['/', '?', '#'].map((sign) => `redis://u:12${sign}secret@h`);
    for (const url of ['http://u:secret@h', 'redis:', 'secret', 'redis://h/secret', ...unescaped]) {
      expect(() => addressOf(url)).toThrow(RangeError);
      expect(() => addressOf(url)).not.toThrow(/secret/);
    }
  });
});

test('a command whose arguments are not copied puts the same bytes on the wire as one of the client', () => {
  const argument = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
    fc.integer({ min: 16_000, max: 17_000 }).map((length) => Buffer.alloc(length, length)),
  );
  fc.assert(
    fc.property(fc.array(argument, { minLength: 1, maxLength: 6 }), (args) => {
      const written: Buffer[] = [];
      const sink = { write: (chunk: string | Buffer) => written.push(Buffer.from(chunk as string)) };
      sink.write(new UncopiedCommand('xadd', [...args]).toWritable(sink));
      const own = Buffer.from(new Command('xadd', [...args]).toWritable(sink) as string);
      expect(Buffer.concat(written).equals(own)).toBe(true);
    }),
  );
});

test('every lane has exactly one of the workers that are there, and the first lanes one thread each', () => {
  const worker = fc.record({ joined: fc.nat(1000), threads: fc.integer({ min: 1, max: 40 }) });
  const workers = fc.uniqueArray(worker, { selector: ({ joined }) => joined, minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(workers, (list) => {
      const cards = list.map(({ joined, threads }): WorkerCard => {
        const rest = { version: '1', host: 'h', pid: 1, lanes: [], doing: '', jobsDone: 0 };
        return { id: `w${joined}`, joined, threads, ...rest };
      });
      const lanes = cards.flatMap((card) => lanesOf(card.id, cards));
      expect(lanes.sort((a, b) => a - b)).toEqual(Array.from({ length: LANES }, (_, lane) => lane));
      const seats = seatsOf(cards);
      const threads = cards.reduce((sum, card) => sum + card.threads, 0);
      expect(seats).toHaveLength(Math.min(LANES, threads));
      for (const card of cards) {
        const first = lanesOf(card.id, cards).filter((lane) => lane < seats.length);
        expect(first.length).toBeLessThanOrEqual(card.threads);
      }
    }),
  );
});
