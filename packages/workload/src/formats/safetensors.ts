/** safetensors: an 8-byte length, a JSON table of names, types and offsets, then the arrays. */
import { ByteReader } from './bytes.js';
import { type ElementType, elementBytes, elementCount, readElements, type Tensor } from './tensor.js';

const types: Readonly<Record<string, ElementType>> = {
  BOOL: 'u8',
  U8: 'u8',
  I8: 'i8',
  U16: 'u16',
  I16: 'i16',
  U32: 'u32',
  I32: 'i32',
  U64: 'u64',
  I64: 'i64',
  F16: 'f16',
  BF16: 'bf16',
  F32: 'f32',
  F64: 'f64',
};

/** Arrays by name. Throws RangeError with file and byte when the file is cut off or its table is wrong. */
export function readSafetensors(bytes: Uint8Array, file: string): Map<string, Tensor> {
  const reader = new ByteReader(bytes, file);
  const headerBytes = reader.u64();
  const header = parseHeader(reader.text(headerBytes), reader);
  const dataStart = reader.at;
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const { dtype, shape, data_offsets: offsets } = entry as Partial<Record<string, unknown>>;
    const type = types[String(dtype)];
    if (type === undefined) throw reader.fault(`${name}: element type ${String(dtype)} is not read`, 8);
    if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
      throw reader.fault(`${name}: no shape or offsets`, 8);
    }
    const count = elementCount(shape);
    if (offsets[1] - offsets[0] !== count * elementBytes[type]) {
      throw reader.fault(
        `${name}: offsets ${offsets.join(' to ')} do not hold [${shape.join(' x ')}] of ${dtype}`,
        8,
      );
    }
    reader.at = dataStart + offsets[0];
    tensors.set(name, { type, shape, values: readElements(reader, type, count) });
  }
  return tensors;
}

function parseHeader(text: string, reader: ByteReader): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null) return header as Record<string, unknown>;
  } catch {
    // Said below, with the place.
  }
  throw reader.fault('the header is not JSON', 8);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
