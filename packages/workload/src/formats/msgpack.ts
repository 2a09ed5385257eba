/**
 * msgpack, as much as recorded arrays need: numbers, text, bytes, lists, maps with text keys, and extensions as
 * their bytes. Written here so that errors name the byte and no extension is given a meaning.
 */
import type { ByteReader } from './bytes.js';

export type MsgpackValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly MsgpackValue[]
  | Map<string, MsgpackValue>;

const DEEPEST = 64;

/** The next value. Throws RangeError with file and byte. */
export function readMsgpack(reader: ByteReader, depth = 0): MsgpackValue {
  const at = reader.at;
  if (depth > DEEPEST) throw reader.fault(`msgpack nested deeper than ${DEEPEST}`);
  const code = reader.u8();
  if (code <= 0x7f) return code;
  if (code >= 0xe0) return code - 256;
  if (code <= 0x8f) return readMap(reader, code & 15, depth);
  if (code <= 0x9f) return readList(reader, code & 15, depth);
  if (code <= 0xbf) return reader.text(code & 31);
  const read = coded[code];
  if (read === undefined) throw reader.fault(`msgpack type 0x${code.toString(16)} is not read`, at);
  return read(reader, depth);
}

const coded: Readonly<Record<number, (reader: ByteReader, depth: number) => MsgpackValue>> = {
  192: () => null,
  194: () => false,
  195: () => true,
  196: (r) => r.take(r.u8()),
  197: (r) => r.take(bigEndian(r, 2)),
  198: (r) => r.take(bigEndian(r, 4)),
  199: (r) => extension(r, r.u8()),
  200: (r) => extension(r, bigEndian(r, 2)),
  201: (r) => extension(r, bigEndian(r, 4)),
  202: (r) => new DataView(r.take(4).slice().buffer).getFloat32(0),
  203: (r) => r.f64BigEndian(),
  204: (r) => r.u8(),
  205: (r) => bigEndian(r, 2),
  206: (r) => bigEndian(r, 4),
  207: (r) => bigEndian(r, 8),
  208: (r) => (r.u8() << 24) >> 24,
  209: (r) => (bigEndian(r, 2) << 16) >> 16,
  210: (r) => bigEndian(r, 4) | 0,
  211: (r) => Number(new DataView(r.take(8).slice().buffer).getBigInt64(0)),
  212: (r) => extension(r, 1),
  213: (r) => extension(r, 2),
  214: (r) => extension(r, 4),
  215: (r) => extension(r, 8),
  216: (r) => extension(r, 16),
  217: (r) => r.text(r.u8()),
  218: (r) => r.text(bigEndian(r, 2)),
  219: (r) => r.text(bigEndian(r, 4)),
  220: (r, depth) => readList(r, bigEndian(r, 2), depth),
  221: (r, depth) => readList(r, bigEndian(r, 4), depth),
  222: (r, depth) => readMap(r, bigEndian(r, 2), depth),
  223: (r, depth) => readMap(r, bigEndian(r, 4), depth),
};

function bigEndian(reader: ByteReader, count: number): number {
  return reader.take(count).reduce((value, byte) => value * 256 + byte, 0);
}

function extension(reader: ByteReader, count: number): Uint8Array {
  reader.u8();
  return reader.take(count);
}

function readList(reader: ByteReader, count: number, depth: number): MsgpackValue[] {
  const list: MsgpackValue[] = [];
  for (let i = 0; i < count; i++) list.push(readMsgpack(reader, depth + 1));
  return list;
}

function readMap(reader: ByteReader, count: number, depth: number): Map<string, MsgpackValue> {
  const map = new Map<string, MsgpackValue>();
  for (let i = 0; i < count; i++) {
    const at = reader.at;
    const key = readMsgpack(reader, depth + 1);
    if (typeof key !== 'string') throw reader.fault('a map key that is no text', at);
    map.set(key, readMsgpack(reader, depth + 1));
  }
  return map;
}
