/**
 * A run folder read back, as it was written.
 * One idea: an interrupted run is a run; what is missing is null, and a last line that was cut off is left out.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepRecord } from '@epsim/spec';
import { z } from 'zod';
import { recordSchema } from './record-schema.js';
import { runFiles } from './run-files.js';
import { RunFolderError } from './run-folder-error.js';
import { type Summary, summarySchema } from './summary.js';
import {
  type ExpertLoad,
  type LinkUse,
  parseExpertLoad,
  parseLinkUse,
  parseRankTraffic,
  type RankTraffic,
} from './tables.js';

/** The content of a run folder. Everything but the records is null when the run did not get that far. */
export interface Run {
  readonly dir: string;
  readonly summary: Summary | null;
  readonly scenarioYaml: string | null;
  readonly records: readonly StepRecord[];
  readonly timings: Readonly<Record<string, unknown>> | null;
  readonly expertLoad: ExpertLoad | null;
  readonly rankTraffic: RankTraffic | null;
  readonly linkUse: readonly LinkUse[] | null;
}

/** Reads `dir`. Throws RunFolderError `not-a-run` when it has no records, `damaged` when a file cannot be read. */
export function readRun(dir: string): Run {
  const text = (file: string) => {
    const path = join(dir, file);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  };
  const records = text(runFiles.records);
  if (records === null) {
    throw new RunFolderError(
      'not-a-run',
      `${dir}: no ${runFiles.records} here; name a folder that "epsim run" wrote`,
    );
  }
  const parsed = <T>(file: string, parse: (content: string) => T): T | null => {
    const content = text(file);
    if (content === null) return null;
    try {
      return parse(content);
    } catch (error) {
      const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new RunFolderError(
        'damaged',
        `${join(dir, file)}: cannot be read: ${why}; run the scenario again`,
      );
    }
  };
  const summary = parsed(runFiles.summary, (content) => summarySchema.parse(JSON.parse(content)));
  const kept = parsed(runFiles.records, parseRecords) ?? [];
  const needed = summary === null ? 0 : summary.steps.finished * summary.layers;
  if (kept.length < needed) {
    throw new RunFolderError(
      'damaged',
      `${join(dir, runFiles.records)}: ${kept.length} whole lines of the ${needed} that ${runFiles.summary} speaks of; run the scenario again`,
    );
  }
  return {
    dir,
    summary,
    scenarioYaml: text(runFiles.scenario),
    records: kept,
    timings: parsed(runFiles.timings, (content) =>
      z.record(z.string(), z.unknown()).parse(JSON.parse(content)),
    ),
    expertLoad: parsed(runFiles.expertLoad, parseExpertLoad),
    rankTraffic: parsed(runFiles.rankTraffic, parseRankTraffic),
    linkUse: parsed(runFiles.linkUse, parseLinkUse),
  };
}

/** Records of the complete lines; what follows the last newline was cut off and is dropped. */
function parseRecords(text: string): StepRecord[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => recordSchema.parse(JSON.parse(line)));
}
