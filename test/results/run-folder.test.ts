import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunFolder, RunFolderError, summarize } from '@epsim/results';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sampleRecord, sampleScenario } from './sample.js';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'epsim-results-'));
});
afterEach(() => rmSync(place, { recursive: true }));

const scenario = sampleScenario({ steps: 2 });
const records = [
  sampleRecord([8, 0, 0, 0], [8, 0], { step: 0 }),
  sampleRecord([2, 2, 2, 2], [4, 4], { step: 1 }),
];
const finished = {
  summary: summarize(scenario, records, {
    version: '0',
    paramCount: 1,
    activeParamCount: 1,
    buffers: [],
    notes: [],
  }),
  scenarioYaml: 'name: sample\n',
  rankTraffic: { rankCount: 2, bytes: Float64Array.of(1, 2.5, 3, 4) },
  linkUse: [{ link: 'rank 0, up', tier: 'scale-up', bytes: 12, busyFraction: 1 / 3 }],
  trace: '{"traceEvents":[]}',
};

function writeRun(dir: string, wallMs = 1): string {
  const folder = RunFolder.create(dir);
  for (const record of records) folder.appendRecord(record);
  folder.finish({ ...finished, timings: { wallMs } });
  return folder.dir;
}

describe('a run folder', () => {
  test('reads back what was written, bit for bit', () => {
    const run = RunFolder.read(writeRun(join(place, 'run')));
    expect(run.summary).toEqual(finished.summary);
    expect(run.records).toEqual(records);
    expect(run.scenarioYaml).toBe(finished.scenarioYaml);
    expect(run.rankTraffic).toEqual(finished.rankTraffic);
    expect(run.linkUse).toEqual(finished.linkUse);
    expect(run.expertLoad).toEqual(new Map([[0, Float64Array.of(10, 2, 2, 2)]]));
    expect(run.timings).toEqual({ wallMs: 1 });
  });

  test('leaves the layers of a step that was cut short out of its tables, as the summary does', () => {
    const two = sampleScenario({ steps: 2, layers: 2 });
    const cut = [
      sampleRecord([8, 0, 0, 0], [8, 0], { step: 0, layer: 0 }),
      sampleRecord([1, 1, 1, 5], [2, 6], { step: 0, layer: 1 }),
      sampleRecord([2, 2, 2, 2], [4, 4], { step: 1, layer: 0 }),
    ];
    const folder = RunFolder.create(join(place, 'cut'));
    for (const record of cut) folder.appendRecord(record);
    const extra = { version: '0', paramCount: 1, activeParamCount: 1, buffers: [], notes: [] };
    folder.finish({ ...finished, summary: summarize(two, cut, extra), timings: {} });
    expect(RunFolder.read(folder.dir).expertLoad).toEqual(
      new Map([
        [0, Float64Array.of(8, 0, 0, 0)],
        [1, Float64Array.of(1, 1, 1, 5)],
      ]),
    );
  });

  test('whose records are fewer than its summary speaks of is called damaged', () => {
    const dir = writeRun(join(place, 'run'));
    const file = join(dir, 'records.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20));
    expect(() => RunFolder.read(dir)).toThrow(/1 whole lines of the 2 that summary\.json speaks of/);
  });

  test('is not made where it cannot be, and says why', () => {
    writeFileSync(join(place, 'file'), '');
    expect(() => RunFolder.create(join(place, 'file'))).toThrow(/is a file, not a folder/);
    expect(() => RunFolder.create(join(place, 'file/below'))).toThrow(/is a file, not a folder/);
    expect(() => RunFolder.create('')).toThrow(/empty name/);
  });

  test('equal runs differ in nothing but timings.json', () => {
    const [a, b] = [writeRun(join(place, 'a'), 1), writeRun(join(place, 'b'), 2)];
    const differing = readdirSync(a).filter(
      (file) => !readFileSync(join(a, file)).equals(readFileSync(join(b, file))),
    );
    expect(readdirSync(b)).toEqual(readdirSync(a));
    expect(differing).toEqual(['timings.json']);
  });

  test('an interrupted run keeps every finished step, and a line that was cut off is left out', () => {
    const dir = join(place, 'run');
    RunFolder.create(dir).appendRecord(records[0]);
    appendFileSync(join(dir, 'records.jsonl'), '{"step":1,"lay');
    const run = RunFolder.read(dir);
    expect(run.records).toEqual([records[0]]);
    expect(run.summary).toBeNull();
  });

  test('a run that is there is never destroyed unasked', () => {
    const dir = writeRun(join(place, 'run'));
    writeFileSync(join(dir, 'notes.txt'), 'mine');
    expect(() => RunFolder.create(dir)).toThrow(RunFolderError);
    expect(() => RunFolder.create(dir)).toThrow(/a run is already there/);
    expect(RunFolder.create(dir, 'number').dir).toBe(`${dir}-2`);
    expect(RunFolder.create(dir, 'number').dir).toBe(`${dir}-3`);
    expect(RunFolder.read(dir).summary).toEqual(finished.summary);
    RunFolder.create(dir, 'replace').close();
    expect(RunFolder.read(dir).records).toEqual([]);
    expect(readdirSync(dir).sort()).toEqual(['notes.txt', 'records.jsonl']);
  });

  test('a folder that is no run and a file that is damaged are named', () => {
    expect(() => RunFolder.read(place)).toThrow(/no records.jsonl here/);
    const dir = writeRun(join(place, 'run'));
    writeFileSync(join(dir, 'summary.json'), '{"scenario": 3}');
    expect(() => RunFolder.read(dir)).toThrow(/summary.json: cannot be read/);
    writeFileSync(join(dir, 'records.jsonl'), '{"step": 0}\n');
    rmSync(join(dir, 'summary.json'));
    expect(() => RunFolder.read(dir)).toThrow(/records.jsonl: cannot be read/);
  });

  test('a figure that is not finite is refused instead of being written as null', () => {
    const folder = RunFolder.create(join(place, 'run'));
    const broken = sampleRecord([1, 1, 1, 1], [2, 2], { maxVioFloor: Number.NaN });
    expect(() => folder.appendRecord(broken)).toThrow('invariant: maxVioFloor is NaN');
    folder.close();
  });
});

describe('a run folder that is taken up again', () => {
  /** A run that was cut off in the middle of its second line. */
  function cutOff(): string {
    const dir = join(place, 'run');
    const folder = RunFolder.create(dir);
    folder.appendRecord(records[0]);
    folder.close();
    appendFileSync(join(dir, 'records.jsonl'), '{"step":1,"la');
    return dir;
  }

  test('keeps whole records, passes over them and ends as if it had never stopped', () => {
    const folder = RunFolder.create(cutOff(), 'resume');
    expect(folder.kept).toEqual([records[0]]);
    for (const record of records) folder.appendRecord(record);
    folder.finish({ ...finished, timings: { wallMs: 1 } });
    const whole = writeRun(join(place, 'whole'));
    for (const file of readdirSync(whole)) {
      expect(readFileSync(join(folder.dir, file), 'utf8'), file).toBe(
        readFileSync(join(whole, file), 'utf8'),
      );
    }
    expect(() => RunFolder.create(folder.dir, 'resume')).toThrow(/finished; nothing is left to resume/);
  });

  test('refuses records that another scenario gives', () => {
    const folder = RunFolder.create(cutOff(), 'resume');
    expect(() => folder.appendRecord(records[1])).toThrow(/records\.jsonl:1: not what this scenario gives/);
    folder.close();
  });

  test('is refused while a living process writes it, and not because of a dead one', () => {
    const dir = cutOff();
    const lock = join(dir, '.running');
    writeFileSync(lock, `${hostname()} ${process.ppid}`);
    expect(() => RunFolder.create(dir, 'resume')).toThrow(/another process is writing this run/);
    writeFileSync(lock, `${hostname()} ${2 ** 30}`);
    RunFolder.create(dir, 'resume').close();
    expect(readdirSync(dir)).toEqual(['records.jsonl']);
  });
});
