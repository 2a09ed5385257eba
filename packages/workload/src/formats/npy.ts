/** NumPy's .npy: one array after a short text header. Arrays of Python objects are refused: they hold a pickle. */
import { ByteReader, startsWith } from './bytes.js';
import { type ElementType, elementCount, readElements, type Tensor } from './tensor.js';

export function isNpy(bytes: Uint8Array): boolean {
  return startsWith(bytes, 0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);
}

/** Throws RangeError with file and byte for anything but a whole row-major array of numbers. */
export function readNpy(bytes: Uint8Array, file: string): Tensor {
  const reader = new ByteReader(bytes, file);
  if (!isNpy(reader.take(6))) throw reader.fault('not an npy file', 0);
  const major = reader.u8();
  reader.u8();
  if (major < 1 || major > 3) throw reader.fault(`npy version ${major}; 1 to 3 are known`, 6);
  const header = reader.text(major === 1 ? reader.u16() : reader.u32());
  const type = elementTypeOf(/'descr':\s*'([^']*)'/.exec(header)?.[1], reader);
  if (/'fortran_order':\s*True/.test(header)) {
    throw reader.fault('column-major array; save it with numpy.ascontiguousarray', 10);
  }
  const shapeText = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  if (shapeText === undefined) throw reader.fault('no shape in the header', 10);
  const shape = shapeText
    .split(',')
    .map((size) => size.trim())
    .filter((size) => size !== '')
    .map(Number);
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw reader.fault(`not a shape: (${shapeText})`, 10);
  }
  const values = readElements(reader, type, elementCount(shape));
  if (reader.at !== bytes.length) throw reader.fault(`${bytes.length - reader.at} bytes after the array`);
  return { type, shape, values };
}

function elementTypeOf(descr: string | undefined, reader: ByteReader): ElementType {
  const type = numpyType(descr ?? '');
  if (type === undefined) {
    throw reader.fault(`element type ${descr ?? 'not stated'}; little-endian numbers are read`, 10);
  }
  return type;
}

/** Element type of NumPy's `<i2` or `int16`; undefined when it is no number in little-endian order. */
export function numpyType(name: string): ElementType | undefined {
  const short = /^[<|=]([iufb])([1248])$/.exec(name);
  if (short !== null) {
    const kind = short[1] === 'b' ? 'u' : short[1];
    const type = `${kind}${8 * Number(short[2])}`;
    return type === 'f8' ? undefined : (type as ElementType);
  }
  const long = /^(?:torch\.)?(u?int|float|bfloat)(8|16|32|64)$/.exec(name);
  if (long === null) return undefined;
  return `${{ int: 'i', uint: 'u', float: 'f', bfloat: 'bf' }[long[1]]}${long[2]}` as ElementType;
}
