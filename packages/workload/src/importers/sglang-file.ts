/**
 * What SGLang's expert distribution recorder saves, common to its modes: a dict of torch.save with either
 * `logical_count` (stat) or `records` of forward passes and `last_physical_to_logical_map` (per_pass, per_token).
 */
import type { PickleDict, PickleValue } from '../formats/pickle.js';
import { shapeText, type Tensor } from '../formats/tensor.js';
import { isTorchFile, readTorchFile, TorchTensor } from '../formats/torch-file.js';
import { checkRanks, type TraceFile } from './importer.js';

export interface PassRecord {
  readonly file: string;
  readonly rank: number;
  readonly pass: number;
  readonly fields: PickleDict;
}

export interface Recording {
  readonly rankCount: number;
  /** Records of each forward pass that every rank has, [rankCount] each, passes in order. */
  readonly passes: readonly (readonly PassRecord[])[];
  /** Expert of each physical slot, [layers x slots]. */
  readonly logicalOf: Tensor;
  readonly expertCount: number;
  readonly notes: readonly string[];
}

/** The kind of recording that a file holds, or null when it is none. Does not throw, for damaged files either. */
export function recordingKind(file: TraceFile): 'stat' | 'per_pass' | 'per_token' | null {
  if (!isTorchFile(file.bytes)) return null;
  try {
    const dict = savedDict(file);
    if (dict.has('logical_count')) return 'stat';
    const records = dict.get('records');
    if (!Array.isArray(records)) return null;
    const [first] = records;
    return first instanceof Map && first.has('topk_ids_of_layer') ? 'per_token' : 'per_pass';
  } catch {
    // Reading it says what is wrong; any mode says the same.
    return 'stat';
  }
}

export function savedDict(file: TraceFile): PickleDict {
  const value = readTorchFile(file.bytes, file.name);
  if (!(value instanceof Map)) throw new RangeError(`${file.name}: the saved value is no dict`);
  return value;
}

/** Throws RangeError when the field is no tensor of that many dimensions. */
export function tensorField(fields: PickleDict, name: string, dimensions: number, place: string): Tensor {
  const value = fields.get(name);
  if (!(value instanceof TorchTensor)) throw new RangeError(`${place}: ${name} is no tensor`);
  const { tensor } = value;
  if (tensor.shape.length !== dimensions) {
    throw new RangeError(
      `${place}: ${name} is ${shapeText(tensor.shape)}; ${dimensions} dimensions are expected`,
    );
  }
  return tensor;
}

/** The recording in the files of all ranks. Throws RangeError for a rank without a file, maps that differ, no pass. */
export function readRecording(files: readonly TraceFile[]): Recording {
  const ranks = files.map((file) => ({ file: file.name, ...readRankFile(file) }));
  checkRanks(ranks);
  ranks.sort((a, b) => a.rank - b.rank);
  const { logicalOf } = ranks[0];
  for (const other of ranks) {
    if (!sameValues(other.logicalOf, logicalOf)) {
      throw new RangeError(
        `${other.file}: its physical to logical map differs from that of ${ranks[0].file}`,
      );
    }
  }
  const byRank = ranks.map(({ records }) => new Map(records.map((record) => [record.pass, record])));
  const passes: PassRecord[][] = [];
  let incomplete = 0;
  for (const pass of [...new Set(byRank.flatMap((records) => [...records.keys()]))].sort((a, b) => a - b)) {
    const records = byRank.flatMap((rank) => rank.get(pass) ?? []);
    if (records.length === ranks.length) passes.push(records);
    else incomplete++;
  }
  if (passes.length === 0) throw new RangeError(`${files[0].name}: no forward pass that every rank recorded`);
  return {
    rankCount: ranks.length,
    passes,
    logicalOf,
    expertCount: expertsOf(logicalOf, ranks[0].file),
    notes: incomplete > 0 ? [`${incomplete} forward passes left out: not every rank recorded them`] : [],
  };
}

function readRankFile(file: TraceFile): { rank: number; records: PassRecord[]; logicalOf: Tensor } {
  const dict = savedDict(file);
  const list = dict.get('records');
  if (!Array.isArray(list)) throw new RangeError(`${file.name}: no records`);
  const records = list.map((record, i) => passRecord(record, file.name, i));
  const named = /_(\d+)\.pt$/.exec(file.name)?.[1];
  const rank = records[0]?.rank ?? (named === undefined ? undefined : Number(named));
  if (rank === undefined)
    throw new RangeError(`${file.name}: neither records nor a rank at the end of its name`);
  const stranger = records.find((record) => record.rank !== rank);
  if (stranger !== undefined) {
    throw new RangeError(`${file.name}: records of ranks ${rank} and ${stranger.rank} in one file`);
  }
  return { rank, records, logicalOf: tensorField(dict, 'last_physical_to_logical_map', 2, file.name) };
}

function passRecord(record: PickleValue, file: string, index: number): PassRecord {
  if (!(record instanceof Map)) throw new RangeError(`${file}: record ${index} is no dict`);
  const pass = record.get('forward_pass_id');
  const rank = record.get('rank');
  if (!Number.isSafeInteger(pass) || !Number.isSafeInteger(rank)) {
    throw new RangeError(`${file}: record ${index}: no forward_pass_id or rank`);
  }
  return { file, rank: rank as number, pass: pass as number, fields: record };
}

function expertsOf(logicalOf: Tensor, file: string): number {
  let most = -1;
  for (const expert of logicalOf.values) {
    if (!(expert >= 0)) throw new RangeError(`${file}: last_physical_to_logical_map holds ${expert}`);
    if (expert > most) most = expert;
  }
  return most + 1;
}

function sameValues(a: Tensor, b: Tensor): boolean {
  return a.values.length === b.values.length && a.values.every((value, i) => value === b.values[i]);
}
