/**
 * Reads the pickles that torch.save writes, without executing anything.
 * One idea: a pickle is a program for a small stack machine; this machine knows only the instructions that build
 * lists, dicts, numbers, text and tensors, and refuses every other by name. The few callables that a tensor needs
 * are names here, given a meaning by whoever reads the file; any other name is refused before it is called.
 */
import type { ByteReader } from './bytes.js';

/** A Python name such as torch._utils._rebuild_tensor_v2: never imported, only compared. */
export class PickleName {
  constructor(readonly path: string) {}
}

export type PickleValue =
  | null
  | boolean
  | number
  | string
  | PickleName
  | readonly PickleValue[]
  | PickleDict
  | PickleObject;

export type PickleDict = Map<PickleValue, PickleValue>;

/** What a host made of a call or a persistent id. */
export interface PickleObject {
  readonly kind: string;
}

export interface PickleHost {
  /** Names that may occur, by full path. */
  readonly names: ReadonlySet<string>;
  /** The value of a call of one of the names. Throws for arguments that make no sense. */
  call(name: string, args: readonly PickleValue[]): PickleValue;
  /** The value of a persistent id: torch's storages. */
  persistent(id: PickleValue): PickleValue;
}

interface Machine {
  readonly reader: ByteReader;
  readonly host: PickleHost;
  readonly stack: PickleValue[];
  /** Heights of the stack at open marks. */
  readonly marks: number[];
  readonly memo: Map<number, PickleValue>;
}

/** The value that a pickle of protocol 2 describes. Throws RangeError with file, byte and what was refused. */
export function readPickle(reader: ByteReader, host: PickleHost): PickleValue {
  const machine: Machine = { reader, host, stack: [], marks: [], memo: new Map() };
  for (;;) {
    const at = reader.at;
    const code = reader.u8();
    if (code === STOP) return pop(machine);
    const instruction = instructions[code];
    if (instruction === undefined)
      throw reader.fault(`pickle instruction ${opcodeName(code)} is refused`, at);
    instruction(machine);
  }
}

const STOP = 0x2e;

const instructions: Readonly<Record<number, (machine: Machine) => void>> = {
  // Protocol number.
  128: (m) => {
    const protocol = m.reader.u8();
    if (protocol !== 2)
      throw m.reader.fault(`pickle protocol ${protocol}; torch.save writes 2`, m.reader.at - 1);
  },
  // Constants and numbers.
  78: (m) => m.stack.push(null),
  136: (m) => m.stack.push(true),
  137: (m) => m.stack.push(false),
  75: (m) => m.stack.push(m.reader.u8()),
  77: (m) => m.stack.push(m.reader.u16()),
  74: (m) => m.stack.push(m.reader.i32()),
  138: (m) => m.stack.push(longNumber(m.reader)),
  71: (m) => m.stack.push(m.reader.f64BigEndian()),
  88: (m) => m.stack.push(m.reader.text(m.reader.u32())),
  // Collections. An open tuple, list or dict ends at the last mark.
  40: (m) => m.marks.push(m.stack.length),
  41: (m) => m.stack.push([]),
  116: (m) => m.stack.push(popMarked(m)),
  133: (m) => m.stack.push(popMany(m, 1)),
  134: (m) => m.stack.push(popMany(m, 2)),
  135: (m) => m.stack.push(popMany(m, 3)),
  93: (m) => m.stack.push([]),
  97: (m) => append(m, popMany(m, 1)),
  101: (m) => append(m, popMarked(m)),
  125: (m) => m.stack.push(new Map()),
  115: (m) => setItems(m, popMany(m, 2)),
  117: (m) => setItems(m, popMarked(m)),
  // Memo.
  113: (m) => m.memo.set(m.reader.u8(), top(m)),
  114: (m) => m.memo.set(m.reader.u32(), top(m)),
  104: (m) => m.stack.push(remembered(m, m.reader.u8())),
  106: (m) => m.stack.push(remembered(m, m.reader.u32())),
  // Names, calls, persistent ids.
  99: (m) => m.stack.push(knownName(m)),
  82: (m) => call(m),
  81: (m) => m.stack.push(m.host.persistent(pop(m))),
  // State of an ordered dict: attributes that no reader here needs.
  98: (m) => {
    pop(m);
    if (!(top(m) instanceof Map)) throw m.reader.fault('state for something that is no dict is refused');
  },
};

function knownName(m: Machine): PickleName {
  const at = m.reader.at;
  const path = `${m.reader.line()}.${m.reader.line()}`;
  if (!m.host.names.has(path))
    throw m.reader.fault(`python name ${path} is refused; nothing is executed`, at);
  return new PickleName(path);
}

function call(m: Machine): void {
  const [callee, args] = popMany(m, 2);
  if (!(callee instanceof PickleName) || !Array.isArray(args)) {
    throw m.reader.fault('a call of something that is no name is refused');
  }
  m.stack.push(m.host.call(callee.path, args));
}

function longNumber(reader: ByteReader): number {
  const at = reader.at;
  const bytes = reader.take(reader.u8());
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]);
  const number = Number(BigInt.asIntN(8 * bytes.length, value));
  if (!Number.isSafeInteger(number)) throw reader.fault('a number beyond 2^53', at);
  return number;
}

function pop(m: Machine): PickleValue {
  if (m.stack.length === 0) throw m.reader.fault('damaged pickle: the stack is empty');
  return m.stack.pop() as PickleValue;
}

function top(m: Machine): PickleValue {
  if (m.stack.length === 0) throw m.reader.fault('damaged pickle: the stack is empty');
  return m.stack[m.stack.length - 1];
}

function popMany(m: Machine, count: number): PickleValue[] {
  if (m.stack.length < count) throw m.reader.fault('damaged pickle: the stack is too short');
  return m.stack.splice(m.stack.length - count, count);
}

function popMarked(m: Machine): PickleValue[] {
  const mark = m.marks.pop();
  if (mark === undefined || mark > m.stack.length) throw m.reader.fault('damaged pickle: no mark');
  return m.stack.splice(mark);
}

function append(m: Machine, values: readonly PickleValue[]): void {
  const list = top(m);
  if (!Array.isArray(list)) throw m.reader.fault('damaged pickle: no list to append to');
  for (const value of values) list.push(value);
}

function setItems(m: Machine, items: readonly PickleValue[]): void {
  const dict = top(m);
  if (!(dict instanceof Map) || items.length % 2 !== 0)
    throw m.reader.fault('damaged pickle: no dict to fill');
  for (let i = 0; i < items.length; i += 2) dict.set(items[i], items[i + 1]);
}

function remembered(m: Machine, key: number): PickleValue {
  const value = m.memo.get(key);
  if (value === undefined) throw m.reader.fault(`damaged pickle: nothing remembered as ${key}`);
  return value;
}

const refusedNames: Readonly<Record<number, string>> = {
  105: 'INST',
  111: 'OBJ',
  129: 'NEWOBJ',
  130: 'EXT1',
  146: 'NEWOBJ_EX',
  147: 'STACK_GLOBAL',
  148: 'MEMOIZE',
  149: 'FRAME',
  140: 'SHORT_BINUNICODE',
};

function opcodeName(code: number): string {
  const hex = `0x${code.toString(16).padStart(2, '0')}`;
  return refusedNames[code] === undefined ? hex : `${hex} (${refusedNames[code]})`;
}
