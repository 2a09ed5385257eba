/**
 * Zip archives as torch.save writes them: entries by name, stored without compression, each checked against its
 * CRC. Reads the directory at the end of the file; knows nothing of paths on a disk and writes nowhere.
 */
import { ByteReader, startsWith } from './bytes.js';

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
/** What a size reads as when the real one is in a zip64 record. */
const IN_ZIP64 = 0xffffffff;

export function isZip(bytes: Uint8Array): boolean {
  return startsWith(bytes, 0x50, 0x4b, 3, 4);
}

/** Contents of all entries by name. Throws RangeError with file and byte. */
export function readZip(bytes: Uint8Array, file: string): Map<string, Uint8Array> {
  const reader = new ByteReader(bytes, file);
  reader.at = endOfDirectory(reader);
  reader.take(10);
  const entryCount = reader.u16();
  reader.take(4);
  const directoryStart = reader.u32();
  if (directoryStart === IN_ZIP64 || entryCount === 0xffff) throw reader.fault('zip64 archives are not read');
  reader.at = directoryStart;
  const entries = new Map<string, Uint8Array>();
  for (let i = 0; i < entryCount; i++) readEntry(reader, entries);
  return entries;
}

function endOfDirectory(reader: ByteReader): number {
  const { bytes } = reader;
  const lowest = Math.max(0, bytes.length - END_BYTES - 0xffff);
  for (let at = bytes.length - END_BYTES; at >= lowest; at--) {
    reader.at = at;
    if (reader.u32() === END_SIGNATURE) return at;
  }
  throw reader.fault('truncated: no directory at the end of the archive', bytes.length);
}

function readEntry(reader: ByteReader, entries: Map<string, Uint8Array>): void {
  const start = reader.at;
  if (reader.u32() !== ENTRY_SIGNATURE) throw reader.fault('no directory entry here', start);
  reader.take(6);
  const method = reader.u16();
  reader.take(4);
  const checksum = reader.u32();
  const storedBytes = reader.u32();
  const size = reader.u32();
  const nameBytes = reader.u16();
  const extraBytes = reader.u16();
  const commentBytes = reader.u16();
  reader.take(8);
  const localStart = reader.u32();
  const name = reader.text(nameBytes);
  reader.take(extraBytes + commentBytes);
  const next = reader.at;
  if (storedBytes === IN_ZIP64 || size === IN_ZIP64 || localStart === IN_ZIP64) {
    throw reader.fault(`${name}: zip64 entries are not read`, start);
  }
  entries.set(name, contents(reader, { name, method, checksum, storedBytes, size, localStart }));
  reader.at = next;
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly checksum: number;
  readonly storedBytes: number;
  readonly size: number;
  readonly localStart: number;
}

function contents(reader: ByteReader, entry: Entry): Uint8Array {
  reader.at = entry.localStart;
  if (reader.u32() !== LOCAL_SIGNATURE) throw reader.fault(`${entry.name}: no entry here`, entry.localStart);
  reader.take(22);
  // Extra fields of the two headers differ: torch pads the local one to align the data.
  const nameBytes = reader.u16();
  reader.take(reader.u16() + nameBytes);
  const at = reader.at;
  if (entry.method !== 0) {
    throw reader.fault(
      `${entry.name}: compressed (method ${entry.method}); torch.save stores its entries`,
      at,
    );
  }
  const data = reader.take(entry.storedBytes);
  if (data.length !== entry.size || crc32(data) !== entry.checksum) {
    throw reader.fault(`${entry.name}: damaged: the checksum does not match`, at);
  }
  return data;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** The checksum of zip entries (CRC-32, ISO 3309). */
function crc32(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < data.length; i++) crc = crcTable[(crc ^ data[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
