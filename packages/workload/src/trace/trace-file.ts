/**
 * The file that a recording is kept in, `*.epsim-trace`:
 *
 *   bytes 0-7    the text EPTRACE1
 *   bytes 8-11   length H of the header, unsigned, little-endian; bytes 12-15 are 0
 *   then H bytes of JSON, padded with spaces so that 16 + H is a multiple of 8
 *   then the arrays, little-endian, each starting at a multiple of 8 from the end of the header
 *
 * The header holds every field of the trace that is not an array (kind, model, source, notes, expertCount, topK,
 * layerIds, rankCount, frameCount) and `arrays`: [{ name, type, length, offset }] with type i16, i32, u32 or f64.
 *   kind choices: frameTokens i32 [frames x rankCount], experts i16 [per frame: layers x rows x topK], -1 padding
 *   kind loads:   loads u32 or f64 [frames x layers x expertCount]
 *   kind balance: meanTokens and maxTokens f64 [samples]
 */
import { NO_EXPERT } from '@epsim/spec';
import { z } from 'zod';
import { ByteReader, startsWith } from '../formats/bytes.js';
import { readElements } from '../formats/tensor.js';
import { MOST_EXPERTS, rowsOfFrames, type Trace } from './trace.js';

const MAGIC = 'EPTRACE1';
const magicBytes = new TextEncoder().encode(MAGIC);
const PREAMBLE = 16;

const size = z.int().min(0);
const arraysSchema = z.array(
  z.strictObject({
    name: z.string(),
    type: z.enum(['i16', 'i32', 'u32', 'f64']),
    length: size,
    offset: size,
  }),
);
const head = {
  model: z.string().nullable(),
  source: z.string(),
  notes: z.array(z.string()),
  arrays: arraysSchema,
};
const routedHead = {
  ...head,
  expertCount: z.int().min(1).max(MOST_EXPERTS),
  layerIds: z.array(size).min(1),
};
const headerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('choices'),
    ...routedHead,
    topK: z.int().min(1),
    rankCount: z.int().min(1),
  }),
  z.strictObject({
    kind: z.literal('loads'),
    ...routedHead,
    topK: z.int().min(1).nullable(),
    frameCount: z.int().min(1),
  }),
  z.strictObject({ kind: z.literal('balance'), ...head }),
]);

type StoredArray = Int16Array | Int32Array | Uint32Array | Float64Array;

export function isTraceFile(bytes: Uint8Array): boolean {
  return startsWith(bytes, ...magicBytes);
}

/** The bytes of a trace's file. The same trace gives the same bytes. */
export function encodeTrace(trace: Trace): Uint8Array {
  const { fields, arrays } = parts(trace);
  let end = 0;
  const table = arrays.map(({ name, values }) => {
    const entry = { name, type: typeName(values), length: values.length, offset: end };
    end += Math.ceil(values.byteLength / 8) * 8;
    return entry;
  });
  const json = new TextEncoder().encode(JSON.stringify({ ...fields, arrays: table }));
  const headerBytes = Math.ceil(json.length / 8) * 8;
  const out = new Uint8Array(PREAMBLE + headerBytes + end);
  out.set(magicBytes);
  new DataView(out.buffer).setUint32(8, headerBytes, true);
  out.fill(0x20, PREAMBLE, PREAMBLE + headerBytes);
  out.set(json, PREAMBLE);
  arrays.forEach(({ values }, i) => {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    out.set(bytes, PREAMBLE + headerBytes + table[i].offset);
  });
  return out;
}

function parts(trace: Trace): { fields: object; arrays: { name: string; values: StoredArray }[] } {
  if (trace.kind === 'choices') {
    const { frameTokens, experts, ...fields } = trace;
    return {
      fields,
      arrays: [
        { name: 'frameTokens', values: frameTokens },
        { name: 'experts', values: experts },
      ],
    };
  }
  if (trace.kind === 'loads') {
    const { loads, ...fields } = trace;
    const whole = loads.every((load) => Number.isInteger(load) && load >= 0 && load < 2 ** 32);
    return { fields, arrays: [{ name: 'loads', values: whole ? Uint32Array.from(loads) : loads }] };
  }
  const { meanTokens, maxTokens, ...fields } = trace;
  return {
    fields,
    arrays: [
      { name: 'meanTokens', values: meanTokens },
      { name: 'maxTokens', values: maxTokens },
    ],
  };
}

function typeName(values: StoredArray): 'i16' | 'i32' | 'u32' | 'f64' {
  if (values instanceof Int16Array) return 'i16';
  if (values instanceof Int32Array) return 'i32';
  return values instanceof Uint32Array ? 'u32' : 'f64';
}

/** The trace in a file. Throws RangeError with the file's name and the byte for anything else. */
export function decodeTrace(bytes: Uint8Array, file: string): Trace {
  const reader = new ByteReader(bytes, file);
  if (!isTraceFile(bytes)) throw reader.fault('not an epsim trace; make one with epsim import', 0);
  reader.at = 8;
  const headerBytes = reader.u32();
  reader.take(4);
  const { arrays, ...fields } = parseHeader(reader.text(headerBytes), reader);
  const dataStart = reader.at;
  const read = <T extends StoredArray>(name: string, types: readonly string[], length?: number): T => {
    const entry = arrays.find((array) => array.name === name);
    if (entry === undefined || !types.includes(entry.type)) {
      throw reader.fault(`array ${name} is missing or not ${types.join(' or ')}`, PREAMBLE);
    }
    if (length !== undefined && entry.length !== length) {
      throw reader.fault(
        `array ${name} has ${entry.length} elements where the header says ${length}`,
        PREAMBLE,
      );
    }
    reader.at = dataStart + entry.offset;
    return readElements(reader, entry.type, entry.length) as T;
  };
  if (fields.kind === 'balance') {
    const meanTokens = read<Float64Array>('meanTokens', ['f64']);
    return { ...fields, meanTokens, maxTokens: read('maxTokens', ['f64'], meanTokens.length) };
  }
  if (fields.kind === 'loads') {
    const length = fields.frameCount * fields.layerIds.length * fields.expertCount;
    return {
      ...fields,
      loads: Float64Array.from(read<Float64Array | Uint32Array>('loads', ['u32', 'f64'], length)),
    };
  }
  const trace = {
    ...fields,
    frameTokens: read<Int32Array>('frameTokens', ['i32']),
    experts: read<Int16Array>('experts', ['i16']),
  };
  checkChoices(trace, reader);
  return trace;
}

function parseHeader(text: string, reader: ByteReader): z.output<typeof headerSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw reader.fault('the header is not JSON', PREAMBLE);
  }
  const parsed = headerSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw reader.fault(
    `the header is no trace: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
    PREAMBLE,
  );
}

function checkChoices(trace: Extract<Trace, { kind: 'choices' }>, reader: ByteReader): void {
  if (trace.frameTokens.length % trace.rankCount !== 0 || trace.frameTokens.some((tokens) => tokens < 0)) {
    throw reader.fault(`frameTokens is not [frames x ${trace.rankCount}]`, PREAMBLE);
  }
  const rows = rowsOfFrames(trace).reduce((sum, count) => sum + count, 0);
  const expected = rows * trace.layerIds.length * trace.topK;
  if (trace.experts.length !== expected) {
    throw reader.fault(
      `experts has ${trace.experts.length} ids where ${rows} rows need ${expected}`,
      PREAMBLE,
    );
  }
  const wrong = trace.experts.findIndex((expert) => expert < NO_EXPERT || expert >= trace.expertCount);
  if (wrong >= 0) {
    throw reader.fault(
      `expert ${trace.experts[wrong]} of ${trace.expertCount}, id ${wrong} of experts`,
      PREAMBLE,
    );
  }
}
