/**
 * Reading binary files without trusting them: every read is checked against the end of the file.
 * Errors name the file and the byte.
 */

export class ByteReader {
  private readonly view: DataView;
  /** Next byte to read. */
  at = 0;

  constructor(
    readonly bytes: Uint8Array,
    readonly file: string,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.view.getUint8(this.advance(1));
  }

  u16(): number {
    return this.view.getUint16(this.advance(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.advance(4), true);
  }

  i32(): number {
    return this.view.getInt32(this.advance(4), true);
  }

  /** Throws RangeError beyond 2^53 - 1: no file here is so long. */
  u64(): number {
    const start = this.at;
    const value = Number(this.view.getBigUint64(this.advance(8), true));
    if (!Number.isSafeInteger(value)) throw this.fault('number too large', start);
    return value;
  }

  f64BigEndian(): number {
    return this.view.getFloat64(this.advance(8), false);
  }

  /** A view of the next `count` bytes. */
  take(count: number): Uint8Array {
    const start = this.advance(count);
    return this.bytes.subarray(start, start + count);
  }

  text(count: number): string {
    return utf8(this.take(count));
  }

  /** Text up to a line feed, which is passed over. */
  line(): string {
    const end = this.bytes.indexOf(10, this.at);
    if (end < 0) throw this.fault('truncated: a line without an end');
    const text = utf8(this.bytes.subarray(this.at, end));
    this.at = end + 1;
    return text;
  }

  fault(what: string, at = this.at): RangeError {
    return new RangeError(`${this.file}: byte ${at}: ${what}`);
  }

  private advance(count: number): number {
    const start = this.at;
    if (!(count >= 0) || start + count > this.bytes.length) {
      throw this.fault(`truncated: ${count} bytes wanted, ${Math.max(0, this.bytes.length - start)} left`);
    }
    this.at = start + count;
    return start;
  }
}

export function utf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** True when `bytes` start with the given byte values. */
export function startsWith(bytes: Uint8Array, ...prefix: readonly number[]): boolean {
  return prefix.every((value, i) => bytes[i] === value);
}
