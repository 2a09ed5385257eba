/**
 * Frames: how blocks of bytes travel through Redis. A header by msgpackr says whose they are and what is inside;
 * the bytes follow as they are.
 * One idea: a frame is refused unless it proves itself. The checksum covers header and bytes, and the header
 * names run and channel, so that a damaged, foreign or repeated frame is counted and never read.
 * Knows nothing about what the blocks mean.
 *
 *   0  magic "EPF1"   4  CRC-32 of all that follows   8  bytes of the header   12  header, zeros to a multiple of 8
 *   then the pieces' bytes, one after another
 */
import { crc32 } from 'node:zlib';
import { Packr, Unpackr } from 'msgpackr';

/** Largest frame. Redis's allocator rounds values above 256 KiB up, and moves megabytes slower than pieces. */
export const MAX_FRAME_BYTES = 256_000;
const PREAMBLE = 12;
const MAGIC = 0x31465045;
/** Room that a header may take; 32 bytes for a piece at most, and 300 for the rest. */
const MAX_HEADER_BYTES = 32_768;
const MAX_PIECES = 1000;

/** Bytes that `from` has for `to`; numbers are the caller's. */
export interface Block {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array;
}

/** A part of a block, from byte `offset` of it. */
export interface Piece extends Block {
  readonly offset: number;
}

export type Refusal = 'malformed' | 'oversized' | 'damaged' | 'foreign' | 'replayed';

export interface Frame {
  readonly channel: string;
  /** Place in its channel, from 0. */
  readonly index: number;
  /** Views of the frame's own bytes. */
  readonly pieces: readonly Piece[];
}

const packr = new Packr({ useRecords: false });
const unpackr = new Unpackr({ useRecords: false });

/** Cuts blocks into frames of at most MAX_FRAME_BYTES. Empty blocks take no room; no blocks give no frame. */
export function* encodeFrames(run: string, channel: string, blocks: Iterable<Block>): Generator<Buffer> {
  const room = MAX_FRAME_BYTES - PREAMBLE - MAX_HEADER_BYTES;
  let index = 0;
  let held: Piece[] = [];
  let bytes = 0;
  for (const block of blocks) {
    for (let offset = 0; offset < block.bytes.length; ) {
      const take = Math.min(room - bytes, block.bytes.length - offset);
      held.push({
        from: block.from,
        to: block.to,
        offset,
        bytes: block.bytes.subarray(offset, offset + take),
      });
      bytes += take;
      offset += take;
      if (bytes === room || held.length === MAX_PIECES) {
        yield encodeFrame(run, channel, index++, held, bytes);
        held = [];
        bytes = 0;
      }
    }
  }
  if (held.length > 0) yield encodeFrame(run, channel, index, held, bytes);
}

function encodeFrame(
  run: string,
  channel: string,
  index: number,
  pieces: readonly Piece[],
  bytes: number,
): Buffer {
  const list = pieces.flatMap((piece) => [piece.from, piece.to, piece.offset, piece.bytes.length]);
  const header = packr.pack([run, channel, index, list]);
  const start = PREAMBLE + Math.ceil((header.length + 4) / 8) * 8 - 4;
  const frame = Buffer.allocUnsafe(start + bytes);
  frame.writeUInt32LE(MAGIC, 0);
  frame.writeUInt32LE(header.length, 8);
  frame.set(header, PREAMBLE);
  frame.fill(0, PREAMBLE + header.length, start);
  let at = start;
  for (const piece of pieces) {
    frame.set(piece.bytes, at);
    at += piece.bytes.length;
  }
  frame.writeUInt32LE(crc32(frame.subarray(8)) >>> 0, 4);
  return frame;
}

/** Reads a frame of a run, or of one channel of it, or says why it is refused. Never throws. */
export function decodeFrame(frame: Buffer, run: string, channel?: string): Frame | Refusal {
  if (frame.length > MAX_FRAME_BYTES) return 'oversized';
  if (frame.length < PREAMBLE || frame.readUInt32LE(0) !== MAGIC) return 'malformed';
  if (frame.readUInt32LE(4) !== crc32(frame.subarray(8)) >>> 0) return 'damaged';
  const headerBytes = frame.readUInt32LE(8);
  const start = PREAMBLE + Math.ceil((headerBytes + 4) / 8) * 8 - 4;
  if (headerBytes > MAX_HEADER_BYTES || start > frame.length) return 'malformed';
  let header: unknown;
  try {
    header = unpackr.unpack(frame.subarray(PREAMBLE, PREAMBLE + headerBytes));
  } catch {
    return 'malformed';
  }
  if (!Array.isArray(header) || header.length !== 4) return 'malformed';
  const [itsRun, itsChannel, index, list] = header as unknown[];
  if (itsRun !== run || itsChannel !== (channel ?? itsChannel)) return 'foreign';
  if (typeof itsChannel !== 'string' || !isCount(index) || !Array.isArray(list) || list.length % 4 !== 0)
    return 'malformed';
  const pieces = piecesOf(frame, start, list);
  return pieces ? { channel: itsChannel, index, pieces } : 'malformed';
}

function piecesOf(frame: Buffer, start: number, list: readonly unknown[]): Piece[] | null {
  const pieces: Piece[] = [];
  let at = start;
  for (let i = 0; i < list.length; i += 4) {
    const [from, to, offset, length] = list.slice(i, i + 4);
    if (!isCount(from) || !isCount(to) || !isCount(offset) || !isCount(length)) return null;
    if (at + length > frame.length) return null;
    pieces.push({ from, to, offset, bytes: frame.subarray(at, at + length) });
    at += length;
  }
  return at === frame.length ? pieces : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
