/**
 * A run's folder: what every file is called, and the order in which files appear.
 * One idea: records are on disk as soon as they are appended and `summary.json` comes last, so an interrupted run
 * keeps its finished steps, and a folder with a summary is a finished run that is never overwritten unasked.
 * Equal runs write equal bytes in every file but `timings.json`. Knows nothing about charts.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { StepRecord } from '@epsim/spec';
import { toJson } from './json.js';
import { makeFolder } from './make-folder.js';
import { type Run, readRun } from './read-run.js';
import { runFiles } from './run-files.js';
import { RunFolderError } from './run-folder-error.js';
import type { Summary } from './summary.js';
import { expertLoadCsv, type LinkUse, linkUseCsv, type RankTraffic, rankTrafficCsv } from './tables.js';

/**
 * What to do when the folder already holds a run, finished or not:
 * `refuse` throws, `number` takes the first free name of dir-2, dir-3, ..., `replace` deletes that run's files,
 * `resume` keeps its records and goes on after them.
 */
export type WhenFolderExists = 'refuse' | 'number' | 'replace' | 'resume';

/** What `finish` writes beside the records. */
export interface FinishedRun {
  readonly summary: Summary;
  /** The scenario as resolved, as YAML text. */
  readonly scenarioYaml: string;
  /** Wall-clock figures; the only part that may differ between equal runs. */
  readonly timings: Readonly<Record<string, unknown>>;
  /** Bytes between ranks over all steps and layers. */
  readonly rankTraffic?: RankTraffic;
  readonly linkUse?: readonly LinkUse[];
  /** Chrome trace events, as text (see perfettoTrace). */
  readonly trace?: string;
}

/** Names the process that writes to the folder, while it does. */
const LOCK = '.running';

/** A run that is being written. Open from `create` until `finish` or `close`. */
export class RunFolder {
  readonly #records: number;
  /** Choices per expert by layer: of the steps before the one in hand, and of that one. */
  readonly #expertLoad = new Map<number, Float64Array>();
  readonly #stepLoad = new Map<number, readonly number[]>();
  #step = -1;
  /** Lines that an interrupted run left, and how many of them this run has come to. */
  readonly #keptLines: readonly string[];
  #appended = 0;
  #open = true;

  private constructor(
    readonly dir: string,
    keptLines: readonly string[],
  ) {
    this.#keptLines = keptLines;
    this.#records = openSync(join(dir, runFiles.records), keptLines.length > 0 ? 'a' : 'w');
  }

  /**
   * Makes the folder and those above it. `dir` of the result may differ from `dir` under `number`.
   * Throws RunFolderError `exists` under `refuse` when a run is there, under `resume` when it is finished, and
   * always when another process is writing it.
   */
  static create(dir: string, whenExists: WhenFolderExists = 'refuse'): RunFolder {
    const free = freeFolder(dir, whenExists);
    makeFolder(free);
    lock(free);
    try {
      return new RunFolder(free, whenExists === 'resume' && holdsRun(free) ? keptLines(free) : []);
    } catch (thrown) {
      rmSync(join(free, LOCK), { force: true });
      throw thrown;
    }
  }

  /** Records that an interrupted run left, in the order in which this one comes past them; none unless resumed. */
  get kept(): readonly StepRecord[] {
    return this.#keptLines.map((line) => JSON.parse(line) as StepRecord);
  }

  /** The run in `dir`, finished or interrupted. Throws RunFolderError when there is none or it is damaged. */
  static read(dir: string): Run {
    return readRun(dir);
  }

  /** Writes the resolved scenario. Throws RunFolderError `damaged` when the kept records are those of another one. */
  writeScenario(yaml: string): void {
    const path = join(this.dir, runFiles.scenario);
    if (this.#keptLines.length > 0 && existsSync(path) && readFileSync(path, 'utf8') !== yaml) {
      throw new RunFolderError(
        'damaged',
        `${path}: not this scenario; resume with the same scenario, seed and version, or name another folder`,
      );
    }
    writeFileSync(path, yaml);
  }

  /**
   * Appends one line to `records.jsonl` before it returns. A resumed run comes past the kept records first, which
   * stay as they are. Throws RunFolderError `damaged` when it does not: then it is not the same run.
   */
  appendRecord(record: StepRecord): void {
    if (!this.#open) throw new RangeError(`run folder ${this.dir} is closed`);
    const line = toJson(record);
    const kept = this.#keptLines[this.#appended++];
    if (kept === undefined) writeAll(this.#records, `${line}\n`);
    else if (kept !== line) {
      throw new RunFolderError(
        'damaged',
        `${join(this.dir, runFiles.records)}:${this.#appended}: not what this scenario gives; resume with the same scenario, seed and version, or name another folder`,
      );
    }
    if (record.step !== this.#step) this.#addStep();
    this.#step = record.step;
    this.#stepLoad.set(record.layer, record.expertLoad);
  }

  #addStep(): void {
    for (const [layer, choices] of this.#stepLoad) {
      const load = this.#expertLoad.get(layer) ?? new Float64Array(choices.length);
      for (let e = 0; e < load.length; e++) load[e] += choices[e];
      this.#expertLoad.set(layer, load);
    }
    this.#stepLoad.clear();
  }

  /** Writes everything else, the summary last, and closes. Tables hold the steps that the summary calls finished. */
  finish(run: FinishedRun): void {
    this.close();
    if (this.#step < run.summary.steps.finished) this.#addStep();
    const write = (file: string, text: string) => writeFileSync(join(this.dir, file), text);
    write(runFiles.scenario, run.scenarioYaml);
    write(runFiles.timings, `${toJson(run.timings, 2)}\n`);
    write(runFiles.expertLoad, expertLoadCsv(this.#expertLoad));
    if (run.rankTraffic !== undefined) write(runFiles.rankTraffic, rankTrafficCsv(run.rankTraffic));
    if (run.linkUse !== undefined) write(runFiles.linkUse, linkUseCsv(run.linkUse));
    if (run.trace !== undefined) write(runFiles.trace, run.trace);
    write(`${runFiles.summary}.part`, `${toJson(run.summary, 2)}\n`);
    renameSync(join(this.dir, `${runFiles.summary}.part`), join(this.dir, runFiles.summary));
  }

  /** Closes a run that came to nothing, and takes the folder away again unless it held something before. */
  abandon(): void {
    this.close();
    if (this.#appended > 0 || this.#keptLines.length > 0) return;
    for (const file of [runFiles.records, runFiles.scenario]) rmSync(join(this.dir, file), { force: true });
    if (readdirSync(this.dir).length === 0) rmdirSync(this.dir);
  }

  /** Closes the records file; what was appended stays. Does nothing the second time. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#records);
    rmSync(join(this.dir, LOCK), { force: true });
  }
}

/** Writes all of it: a disk that fills up takes a part of a line without an error. */
function writeAll(file: number, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Lines of an interrupted run, each read and checked; the end of one that was cut off is cut off the file. */
function keptLines(dir: string): readonly string[] {
  if (readRun(dir).summary?.complete) {
    throw new RunFolderError('exists', `${dir}: that run is finished; nothing is left to resume`);
  }
  const file = join(dir, runFiles.records);
  const bytes = readFileSync(file);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  truncateSync(file, whole);
  return bytes.toString('utf8', 0, whole).split('\n').slice(0, -1);
}

/** Marks the folder as ours, unless a process that lives has it. */
function lock(dir: string): void {
  const file = join(dir, LOCK);
  const mark = `${hostname()} ${process.pid}`;
  for (let tries = 0; tries < 2; tries++) {
    try {
      writeFileSync(file, mark, { flag: 'wx' });
      return;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
      if (tries === 0 && !heldByAnother(file)) rmSync(file, { force: true });
    }
  }
  throw new RunFolderError(
    'exists',
    `${dir}: another process is writing this run (${readFileSync(file, 'utf8')}); wait for it, or name another folder. Delete ${file} if that process is gone`,
  );
}

function heldByAnother(file: string): boolean {
  const [host, pid] = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : ['', ''];
  if (host === '' || pid === undefined) return false;
  if (host !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

function freeFolder(dir: string, whenExists: WhenFolderExists): string {
  if (!holdsRun(dir) || whenExists === 'resume') return dir;
  if (whenExists === 'replace') {
    for (const file of readdirSync(dir)) if (isRunFile(file)) rmSync(join(dir, file));
    return dir;
  }
  if (whenExists === 'refuse') {
    throw new RunFolderError(
      'exists',
      `${dir}: a run is already there; name another folder, or replace it (--force)`,
    );
  }
  let number = 2;
  while (existsSync(`${dir}-${number}`)) number++;
  return `${dir}-${number}`;
}

function holdsRun(dir: string): boolean {
  return existsSync(join(dir, runFiles.summary)) || existsSync(join(dir, runFiles.records));
}

/** True for the names that a run writes, its pictures and page included. */
function isRunFile(file: string): boolean {
  const names: readonly string[] = Object.values(runFiles);
  return names.includes(file) || file === `${runFiles.summary}.part` || file.endsWith('.png');
}
