/**
 * Files of torch.save: a zip of one pickle and the bytes of its tensors. Nothing in the file is executed;
 * the names that a saved dict of tensors needs are known here and every other is refused.
 */
import { ByteReader, utf8 } from './bytes.js';
import { type PickleHost, PickleName, type PickleObject, type PickleValue, readPickle } from './pickle.js';
import { type ElementType, elementCount, type NumberArray, readElements, type Tensor } from './tensor.js';
import { isZip, readZip } from './zip.js';

/** A tensor as it stands in the value of a torch file. */
export class TorchTensor implements PickleObject {
  readonly kind = 'tensor';
  constructor(readonly tensor: Tensor) {}
}

class Storage implements PickleObject {
  readonly kind = 'storage';
  constructor(
    readonly type: ElementType,
    readonly values: NumberArray,
  ) {}
}

const storageTypes: Readonly<Record<string, ElementType>> = {
  'torch.BoolStorage': 'u8',
  'torch.ByteStorage': 'u8',
  'torch.CharStorage': 'i8',
  'torch.ShortStorage': 'i16',
  'torch.IntStorage': 'i32',
  'torch.LongStorage': 'i64',
  'torch.HalfStorage': 'f16',
  'torch.BFloat16Storage': 'bf16',
  'torch.FloatStorage': 'f32',
  'torch.DoubleStorage': 'f64',
};
const ORDERED_DICT = 'collections.OrderedDict';
const REBUILD_TENSOR = 'torch._utils._rebuild_tensor_v2';

export function isTorchFile(bytes: Uint8Array): boolean {
  return isZip(bytes);
}

/** The saved value; tensors are TorchTensor. Throws RangeError with file, entry and byte. */
export function readTorchFile(bytes: Uint8Array, file: string): PickleValue {
  const entries = readZip(bytes, file);
  const pickleName = [...entries.keys()].find((name) => name.endsWith('/data.pkl') || name === 'data.pkl');
  if (pickleName === undefined) throw new RangeError(`${file}: no data.pkl: not a file of torch.save`);
  const folder = pickleName.slice(0, -'data.pkl'.length);
  const byteOrder = entries.get(`${folder}byteorder`);
  if (byteOrder !== undefined && utf8(byteOrder).trim() !== 'little') {
    throw new RangeError(`${file}: byte order ${utf8(byteOrder).trim()}; little is read`);
  }
  const reader = new ByteReader(entries.get(pickleName)!, `${file}: data.pkl`);
  const storages = new Map<string, Storage>();
  const host: PickleHost = {
    names: new Set([...Object.keys(storageTypes), ORDERED_DICT, REBUILD_TENSOR]),
    call: (name, args) => callName(name, args, reader),
    persistent: (id) => storageOf(id, { folder, entries, storages, reader, file }),
  };
  return readPickle(reader, host);
}

interface Archive {
  readonly folder: string;
  readonly entries: Map<string, Uint8Array>;
  readonly storages: Map<string, Storage>;
  readonly reader: ByteReader;
  readonly file: string;
}

/** ('storage', type, key, device, element count) */
function storageOf(id: PickleValue, archive: Archive): Storage {
  const [tag, typeName, key, , count] = Array.isArray(id) ? id : [];
  if (tag !== 'storage' || !(typeName instanceof PickleName) || typeof key !== 'string' || !isSize(count)) {
    throw archive.reader.fault('a persistent id that is no storage is refused');
  }
  const known = archive.storages.get(key);
  if (known !== undefined) return known;
  const type = storageTypes[typeName.path];
  const data = archive.entries.get(`${archive.folder}data/${key}`);
  if (type === undefined || data === undefined) {
    throw archive.reader.fault(`storage ${key} of ${typeName.path}: no data/${key} in the archive`);
  }
  const storage = new Storage(
    type,
    readElements(new ByteReader(data, `${archive.file}: data/${key}`), type, count),
  );
  archive.storages.set(key, storage);
  return storage;
}

function callName(name: string, args: readonly PickleValue[], reader: ByteReader): PickleValue {
  if (name === ORDERED_DICT && args.length === 0) return new Map();
  if (name === REBUILD_TENSOR) return rebuildTensor(args, reader);
  throw reader.fault(`a call of ${name} with ${args.length} arguments is refused`);
}

/** (storage, offset, size, stride, requires_grad, hooks) */
function rebuildTensor(args: readonly PickleValue[], reader: ByteReader): TorchTensor {
  const [storage, offset, size, stride] = args;
  if (!(storage instanceof Storage) || !isSize(offset) || !isSizes(size) || !isSizes(stride)) {
    throw reader.fault('a tensor without storage, offset, size or stride');
  }
  const count = elementCount(size);
  const last = size.reduce((at, length, axis) => at + (length - 1) * (stride[axis] ?? 0), offset);
  if (stride.length !== size.length || (count > 0 && last >= storage.values.length)) {
    throw reader.fault(`a tensor [${size.join(' x ')}] reaches beyond its ${storage.values.length} elements`);
  }
  // A stride of 0 repeats elements: a small file must not ask for a large array.
  if (count > Math.max(1, storage.values.length))
    throw reader.fault('an expanded tensor; save it contiguous');
  return new TorchTensor({
    type: storage.type,
    shape: size,
    values: gather(storage.values, offset, size, stride),
  });
}

function gather(
  values: NumberArray,
  offset: number,
  size: readonly number[],
  stride: readonly number[],
): NumberArray {
  const count = elementCount(size);
  const out = new (values.constructor as new (length: number) => NumberArray)(count);
  const index = new Array<number>(size.length).fill(0);
  let at = offset;
  for (let i = 0; i < count; i++) {
    out[i] = values[at];
    for (let axis = size.length - 1; axis >= 0; axis--) {
      index[axis]++;
      at += stride[axis];
      if (index[axis] < size[axis]) break;
      at -= size[axis] * stride[axis];
      index[axis] = 0;
    }
  }
  return out;
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isSizes(value: PickleValue): value is number[] {
  return Array.isArray(value) && value.every(isSize);
}
