/**
 * A run's folder: what every file is called, and the order in which files appear.
 * One idea: records are on disk as soon as they are appended and `summary.json` comes last, so an interrupted run
 * keeps its finished steps, and a folder with a summary is a finished run that is never overwritten unasked.
 * Equal runs write equal bytes in every file but `timings.json`. Knows nothing about charts.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { StepRecord } from '@epsim/spec';
import { toJson } from './json.js';
import { type Run, readRun } from './read-run.js';
import { runFiles } from './run-files.js';
import { RunFolderError } from './run-folder-error.js';
import type { Summary } from './summary.js';
import { expertLoadCsv, type LinkUse, linkUseCsv, type RankTraffic, rankTrafficCsv } from './tables.js';

/**
 * What to do when the folder already holds a run, finished or not:
 * `refuse` throws, `number` takes the first free name of dir-2, dir-3, ..., `replace` deletes that run's files.
 */
export type WhenFolderExists = 'refuse' | 'number' | 'replace';

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

/** A run that is being written. Open from `create` until `finish` or `close`. */
export class RunFolder {
  readonly #records: number;
  readonly #expertLoad = new Map<number, Float64Array>();
  #open = true;

  private constructor(readonly dir: string) {
    this.#records = openSync(join(dir, runFiles.records), 'w');
  }

  /**
   * Makes the folder and those above it. `dir` of the result may differ from `dir` under `number`.
   * Throws RunFolderError `exists` under `refuse` when a run is there.
   */
  static create(dir: string, whenExists: WhenFolderExists = 'refuse'): RunFolder {
    const free = freeFolder(dir, whenExists);
    mkdirSync(free, { recursive: true });
    return new RunFolder(free);
  }

  /** The run in `dir`, finished or interrupted. Throws RunFolderError when there is none or it is damaged. */
  static read(dir: string): Run {
    return readRun(dir);
  }

  /** Appends one line to `records.jsonl` before it returns. */
  appendRecord(record: StepRecord): void {
    if (!this.#open) throw new RangeError(`run folder ${this.dir} is closed`);
    writeSync(this.#records, `${toJson(record)}\n`);
    const load = this.#expertLoad.get(record.layer) ?? new Float64Array(record.expertLoad.length);
    for (let e = 0; e < load.length; e++) load[e] += record.expertLoad[e];
    this.#expertLoad.set(record.layer, load);
  }

  /** Writes everything else, the summary last, and closes. */
  finish(run: FinishedRun): void {
    this.close();
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

  /** Closes the records file; what was appended stays. Does nothing the second time. */
  close(): void {
    if (this.#open) closeSync(this.#records);
    this.#open = false;
  }
}

function freeFolder(dir: string, whenExists: WhenFolderExists): string {
  if (!holdsRun(dir)) return dir;
  if (whenExists === 'replace') {
    for (const file of readdirSync(dir)) if (isRunFile(file)) rmSync(join(dir, file));
    return dir;
  }
  if (whenExists === 'refuse') {
    throw new RunFolderError(
      'exists',
      `${dir}: a run is already there; name another folder or ask to replace it`,
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
