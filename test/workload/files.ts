/** Writers of the formats that importers read, by their documentation, for tests only. */
import { crc32 } from 'node:zlib';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export function bytesOf(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const all = parts.map((part) => Uint8Array.from(part));
  const out = new Uint8Array(all.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of all) {
    out.set(part, end);
    end += part.length;
  }
  return out;
}

function little(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256);
}

export type Numbers = Uint8Array | Int16Array | Int32Array | BigInt64Array | Float32Array;

export function raw(values: Numbers): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function kindOf(values: Numbers): { npy: string; safetensors: string; torch: string } {
  if (values instanceof Uint8Array) return { npy: '|u1', safetensors: 'U8', torch: 'ByteStorage' };
  if (values instanceof Int16Array) return { npy: '<i2', safetensors: 'I16', torch: 'ShortStorage' };
  if (values instanceof Int32Array) return { npy: '<i4', safetensors: 'I32', torch: 'IntStorage' };
  if (values instanceof BigInt64Array) return { npy: '<i8', safetensors: 'I64', torch: 'LongStorage' };
  return { npy: '<f4', safetensors: 'F32', torch: 'FloatStorage' };
}

/** numpy.save, version 1. */
export function npy(
  values: Numbers,
  shape: readonly number[],
  header: { descr?: string; fortran?: boolean } = {},
): Uint8Array {
  const descr = header.descr ?? kindOf(values).npy;
  const order = header.fortran === true ? 'True' : 'False';
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const dict = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${sizes}), }`;
  const padded = `${dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11)}\n`;
  return bytesOf([0x93], text('NUMPY'), [1, 0], little(padded.length, 2), text(padded), raw(values));
}

export function safetensors(
  tensors: Readonly<Record<string, { values: Numbers; shape: readonly number[] }>>,
): Uint8Array {
  let end = 0;
  const header: Record<string, unknown> = {};
  const data: Uint8Array[] = [];
  for (const [name, { values, shape }] of Object.entries(tensors)) {
    const bytes = raw(values);
    header[name] = { dtype: kindOf(values).safetensors, shape, data_offsets: [end, end + bytes.length] };
    data.push(bytes);
    end += bytes.length;
  }
  const json = text(JSON.stringify(header));
  return bytesOf(little(json.length, 8), json, ...data);
}

/** A zip with stored entries; local headers carry an extra field, as torch's do to align data. */
export function zip(entries: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const [name, data] of Object.entries(entries)) {
    const nameBytes = text(name);
    const sizes = [...little(crc32(data), 4), ...little(data.length, 4), ...little(data.length, 4)];
    const common = [
      ...little(0, 2),
      ...little(0, 2),
      ...little(0, 4),
      ...sizes,
      ...little(nameBytes.length, 2),
    ];
    const extra = [0x46, 0x42, 3, 0, 0x5a, 0x5a, 0x5a];
    const local = bytesOf(text('PK'), [3, 4, 20, 0], common, little(extra.length, 2), nameBytes, extra, data);
    const entry = [
      ...common,
      ...little(0, 2),
      ...little(0, 2),
      ...little(0, 2),
      ...little(0, 2),
      ...little(0, 4),
    ];
    directory.push(bytesOf(text('PK'), [1, 2, 20, 0, 20, 0], entry, little(at, 4), nameBytes));
    parts.push(local);
    at += local.length;
  }
  const list = bytesOf(...directory);
  const count = little(directory.length, 2);
  const end = bytesOf(
    text('PK'),
    [5, 6, 0, 0, 0, 0],
    count,
    count,
    little(list.length, 4),
    little(at, 4),
    [0, 0],
  );
  return bytesOf(...parts, list, end);
}

export interface TorchTensorValue {
  readonly tensor: Numbers;
  readonly shape: readonly number[];
  readonly stride?: readonly number[];
}

export type TorchValue =
  | null
  | boolean
  | number
  | string
  | TorchTensorValue
  | readonly TorchValue[]
  | { readonly [key: string]: TorchValue };

/** torch.save of a value of dicts, lists, numbers, text and tensors: pickle protocol 2 in a zip. */
export function torchFile(value: TorchValue): Uint8Array {
  const storages: Uint8Array[] = [];
  let memo = 0;
  const put = (): number[] => (memo < 256 ? [0x71, memo++] : [0x72, ...little(memo++, 4)]);
  const global = (module: string, name: string): Uint8Array =>
    bytesOf([0x63], text(`${module}\n${name}\n`), put());
  const unicode = (value: string): Uint8Array =>
    bytesOf([0x58], little(text(value).length, 4), text(value), put());
  const integer = (value: number): number[] => {
    if (value >= 0 && value < 256) return [0x4b, value];
    if (value >= 0 && value < 65_536) return [0x4d, ...little(value, 2)];
    return [0x4a, ...little(value < 0 ? value + 2 ** 32 : value, 4)];
  };
  const tuple = (values: readonly number[]): Uint8Array =>
    bytesOf([0x28], ...values.map(integer), [0x74], put());
  const tensor = ({ tensor: values, shape, stride }: TorchTensorValue): Uint8Array => {
    const key = String(storages.push(raw(values)) - 1);
    const strides =
      stride ?? shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
    const storage = bytesOf(
      [0x28],
      unicode('storage'),
      global('torch', kindOf(values).torch),
      unicode(key),
      unicode('cpu'),
      integer(values.length),
      [0x74],
      put(),
      [0x51],
    );
    const hooks = bytesOf(global('collections', 'OrderedDict'), [0x29, 0x52], put());
    const args = bytesOf(
      [0x28],
      storage,
      integer(0),
      tuple(shape),
      tuple(strides),
      [0x89],
      hooks,
      [0x74],
      put(),
    );
    return bytesOf(global('torch._utils', '_rebuild_tensor_v2'), args, [0x52], put());
  };
  const write = (node: TorchValue): Uint8Array => {
    if (node === null) return Uint8Array.of(0x4e);
    if (typeof node === 'boolean') return Uint8Array.of(node ? 0x88 : 0x89);
    if (typeof node === 'string') return unicode(node);
    if (typeof node === 'number') {
      if (Number.isInteger(node)) return Uint8Array.from(integer(node));
      const out = new DataView(new ArrayBuffer(8));
      out.setFloat64(0, node);
      return bytesOf([0x47], new Uint8Array(out.buffer));
    }
    if (Array.isArray(node)) return bytesOf([0x5d], put(), [0x28], ...node.map(write), [0x65]);
    if ('tensor' in node) return tensor(node as unknown as TorchTensorValue);
    const items = Object.entries(node as Record<string, TorchValue>).flatMap(([key, entry]) => [
      unicode(key),
      write(entry),
    ]);
    return bytesOf([0x7d], put(), [0x28], ...items, [0x75]);
  };
  const pickle = bytesOf([0x80, 2], write(value), [0x2e]);
  return torchArchive(pickle, storages);
}

/** The zip of torch.save around a pickle. */
export function torchArchive(pickle: Uint8Array, storages: readonly Uint8Array[] = []): Uint8Array {
  return zip({
    'archive/data.pkl': pickle,
    'archive/byteorder': text('little'),
    ...Object.fromEntries(storages.map((bytes, key) => [`archive/data/${key}`, bytes])),
    'archive/version': text('3\n'),
  });
}

/** msgpack of (dtype, shape, bytes) under `routed_experts`, as msgspec writes numpy arrays with a raw extension. */
export function msgpackArray(dtype: string, shape: readonly number[], bytes: Uint8Array): Uint8Array {
  const key = text('routed_experts');
  const sizes = shape.flatMap((size) => [0xcd, size >> 8, size & 255]);
  return bytesOf(
    [0x81, 0xa0 | key.length],
    key,
    [0x93, 0xa0 | dtype.length],
    text(dtype),
    [0x90 | shape.length],
    sizes,
    [0xc8, bytes.length >> 8, bytes.length & 255, 3],
    bytes,
  );
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

export function file(name: string, content: string | Uint8Array): { name: string; bytes: Uint8Array } {
  return { name, bytes: typeof content === 'string' ? text(content) : content };
}
