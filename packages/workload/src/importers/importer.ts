/**
 * What an importer is: from files that some tool wrote to a Trace. One file an importer; the registry is in
 * index.ts. Importers read bytes that they are given and never guess: what a format leaves open is a hint that
 * the user states, and what contradicts a hint is an error with the place.
 */
import type { Trace } from '../trace/trace.js';

/** A file to import; `name` is what errors call it. */
export interface TraceFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What the user knows about a recording and its format may not say. */
export interface ImportHints {
  readonly model?: string;
  readonly expertCount?: number;
  readonly topK?: number;
  /** Layers of a record, where the format gives bytes without a shape. */
  readonly layers?: number;
  /** Rows of each frame that are real; the rest are padding, whatever ids they hold. */
  readonly realTokens?: number;
}

export interface Importer {
  readonly summary: string;
  /** True when the file looks like this format, by its first bytes and its name. */
  detect(file: TraceFile): boolean;
  /** Throws RangeError with file and place. */
  read(files: readonly TraceFile[], hints: ImportHints): Promise<Trace>;
}

/** `found`, unless a hint says otherwise. Throws RangeError with both numbers. */
export function agreed(place: string, what: string, found: number, hint: number | undefined): number {
  if (hint !== undefined && hint !== found) {
    throw new RangeError(`${place}: ${what} is ${found} here; ${hint} was stated`);
  }
  return found;
}

/** The hint, or a RangeError that says what to state. */
export function stated(place: string, what: string, hint: number | undefined): number {
  if (hint === undefined)
    throw new RangeError(
      `${place}: the format does not say ${what}; state it (import takes --experts, --top-k, --layers)`,
    );
  return hint;
}

/** Throws RangeError, with the ranks that are there, unless they are 0, 1, ... without a gap or a double. */
export function checkRanks(ranks: readonly { readonly rank: number; readonly file: string }[]): void {
  const sorted = ranks.toSorted((a, b) => a.rank - b.rank);
  sorted.forEach(({ rank, file }, i) => {
    if (rank === i) return;
    const list = sorted.map((entry) => entry.rank).join(', ');
    if (i > 0 && sorted[i - 1].rank === rank) {
      throw new RangeError(`${file}: rank ${rank} twice, also in ${sorted[i - 1].file}`);
    }
    throw new RangeError(
      `rank ${i} is missing: there are files of ranks ${list}; loads would be wrong without it`,
    );
  });
}

/** `a.pt and 3 more` */
export function fileList(files: readonly TraceFile[]): string {
  const [first, ...others] = files;
  return others.length === 0 ? first.name : `${first.name} and ${others.length} more`;
}

/** Last part of a path. */
export function baseName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
}
