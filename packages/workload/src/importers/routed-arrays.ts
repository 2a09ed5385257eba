/** The three wrappings of routed_experts, unwrapped to arrays with a shape and an element type. */
import { ByteReader, utf8 } from '../formats/bytes.js';
import { type MsgpackValue, readMsgpack } from '../formats/msgpack.js';
import { isNpy, numpyType, readNpy } from '../formats/npy.js';
import {
  type ElementType,
  elementBytes,
  elementCount,
  readElements,
  type Tensor,
} from '../formats/tensor.js';
import type { ImportHints, TraceFile } from './importer.js';

/** Ids [tokens x layers x top-k] and where they come from. */
export interface RoutedArray extends Tensor {
  readonly place: string;
}

const KEY = 'routed_experts';

/** The wrapping of a file, or null when it holds no routed experts. */
export function routedForm(file: TraceFile): 'npy' | 'json' | 'msgpack' | null {
  const { bytes, name } = file;
  if (isNpy(bytes))
    return /'shape':\s*\(\d+,\s*\d+,\s*\d+,?\s*\)/.test(utf8(bytes.subarray(0, 256))) ? 'npy' : null;
  if (/\.(msgpack|mp)$/.test(name)) return 'msgpack';
  const start = utf8(bytes.subarray(0, 64)).trimStart()[0];
  if (start !== '{' && start !== '[') return null;
  return utf8(bytes).includes(`"${KEY}"`) ? 'json' : null;
}

/** All arrays of a file in order. Throws RangeError with the place of what is no array of ids. */
export function readRoutedArrays(file: TraceFile, hints: ImportHints): RoutedArray[] {
  const form = routedForm(file);
  if (form === 'npy') return [routedArray(readNpy(file.bytes, file.name), file.name)];
  const arrays: RoutedArray[] = [];
  if (form === 'msgpack') {
    const reader = new ByteReader(file.bytes, file.name);
    while (reader.at < file.bytes.length) collectMsgpack(readMsgpack(reader), file.name, hints, arrays);
  } else {
    collectJson(parseJsonLines(file), file.name, hints, arrays);
  }
  if (arrays.length === 0) throw new RangeError(`${file.name}: no ${KEY} in it`);
  return arrays;
}

function parseJsonLines(file: TraceFile): unknown {
  const text = utf8(file.bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Perhaps one JSON value a line.
  }
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      throw new RangeError(`${file.name}:${i + 1}: not JSON`);
    }
  });
}

/** Finds routed_experts at any depth: a base64 text, or { data, shape, dtype }. */
function collectJson(value: unknown, place: string, hints: ImportHints, out: RoutedArray[]): void {
  if (Array.isArray(value)) {
    value.forEach((entry, i) => {
      collectJson(entry, `${place}: ${i}`, hints, out);
    });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    if (key !== KEY) collectJson(entry, `${place}: ${key}`, hints, out);
    else if (entry !== null) out.push(fromJson(entry, `${place}: ${KEY}`, hints));
  }
}

function fromJson(entry: unknown, place: string, hints: ImportHints): RoutedArray {
  if (typeof entry === 'string') return fromBytes(base64(entry, place), undefined, undefined, place, hints);
  const { data, shape, dtype } = entry as { data?: unknown; shape?: unknown; dtype?: unknown };
  if (typeof data !== 'string') throw new RangeError(`${place}: neither base64 nor { data, shape, dtype }`);
  return fromBytes(base64(data, place), shape, dtype, place, hints);
}

function base64(text: string, place: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new RangeError(`${place}: not base64`);
  }
}

/** Finds (dtype, shape, bytes) at the key, at the top, or in lists of these. */
function collectMsgpack(value: MsgpackValue, place: string, hints: ImportHints, out: RoutedArray[]): void {
  if (value instanceof Map) {
    const data = value.get('data');
    if (data instanceof Uint8Array) {
      out.push(fromBytes(data, value.get('shape'), value.get('dtype') ?? value.get('type'), place, hints));
      return;
    }
    for (const [key, entry] of value) collectMsgpack(entry, `${place}: ${key}`, hints, out);
    return;
  }
  if (value instanceof Uint8Array) {
    out.push(fromBytes(value, undefined, undefined, place, hints));
    return;
  }
  if (!Array.isArray(value)) return;
  const [dtype, shape, data] = value;
  if (value.length === 3 && typeof dtype === 'string' && Array.isArray(shape)) {
    if (!(data instanceof Uint8Array)) {
      throw new RangeError(`${place}: the array's bytes are in another message; save it whole`);
    }
    out.push(fromBytes(data, shape, dtype, place, hints));
    return;
  }
  value.forEach((entry, i) => {
    collectMsgpack(entry, `${place}: ${i}`, hints, out);
  });
}

function fromBytes(
  bytes: Uint8Array,
  shape: unknown,
  dtype: unknown,
  place: string,
  hints: ImportHints,
): RoutedArray {
  if (isNpy(bytes)) return routedArray(readNpy(bytes, place), place);
  const type = typeof dtype === 'string' ? numpyType(dtype) : undefined;
  if (typeof dtype === 'string' && type === undefined)
    throw new RangeError(`${place}: element type ${dtype}`);
  if (!isShape(shape)) return withoutShape(bytes, type, place, hints);
  const count = elementCount(shape);
  const found = type ?? integerOf(bytes.length / Math.max(1, count));
  if (found === undefined || bytes.length !== count * elementBytes[found]) {
    throw new RangeError(
      `${place}: ${bytes.length} bytes do not hold [${shape.join(' x ')}] of ${String(dtype)}`,
    );
  }
  return routedArray(
    { type: found, shape, values: readElements(new ByteReader(bytes, place), found, count) },
    place,
  );
}

/** SGLang's bare bytes: int32 unless stated, layers and top-k stated. */
function withoutShape(
  bytes: Uint8Array,
  type: ElementType = 'i32',
  place: string,
  { layers, topK }: ImportHints,
): RoutedArray {
  if (layers === undefined || topK === undefined) {
    throw new RangeError(`${place}: bytes without a shape; state layers and top-k`);
  }
  const row = layers * topK * elementBytes[type];
  if (bytes.length % row !== 0) {
    throw new RangeError(
      `${place}: ${bytes.length} bytes are no whole tokens of ${layers} layers x top-${topK} ${type}`,
    );
  }
  const shape = [bytes.length / row, layers, topK];
  return routedArray(
    { type, shape, values: readElements(new ByteReader(bytes, place), type, elementCount(shape)) },
    place,
  );
}

function routedArray(tensor: Tensor, place: string): RoutedArray {
  if (tensor.shape.length !== 3 || tensor.type.includes('f')) {
    throw new RangeError(
      `${place}: [${tensor.shape.join(' x ')}] of ${tensor.type}; ids are integers [tokens x layers x top-k]`,
    );
  }
  return { ...tensor, place };
}

function isShape(shape: unknown): shape is number[] {
  return Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function integerOf(bytes: number): ElementType | undefined {
  return ({ 1: 'u8', 2: 'i16', 4: 'i32', 8: 'i64' } as const)[bytes];
}
