/**
 * What is wrong with something that a user wrote, in a form that a tired person can act on.
 * The one idea: a problem names its place, its kind, the value and the way out, and problems come all at once.
 * Knows nothing about where text comes from or how it is printed.
 */

export interface Problem {
  /** File as the user named it, or `--set` for an argument of the command line. */
  readonly file: string;
  /** Line, counted from 1; null where there are no lines. */
  readonly line: number | null;
  /** Keys joined by dots, empty for the whole file: `placement.slotsPerRank`. */
  readonly path: string;
  /** `unknown`, `missing`, `wrong`, `too few`, ... */
  readonly kind: string;
  /** What the kind is said of: `routing policy`, `unit`, `slots`, ... */
  readonly subject: string;
  /** The value as written, or the arithmetic that fails; may be empty. */
  readonly value: string;
  /** What to write instead; may be empty. */
  readonly help: string;
}

/** `file:line: path: kind subject: value; help`, leaving out whatever is empty. */
export function formatProblem(problem: Problem): string {
  const place = problem.line === null ? problem.file : `${problem.file}:${problem.line}`;
  const what = [problem.kind, problem.subject].filter((word) => word !== '').join(' ');
  const parts = [place, problem.path, what, problem.value].filter((part) => part !== '');
  return parts.join(': ') + (problem.help === '' ? '' : `; ${problem.help}`);
}

/** A mistake of the user, never of the program: every problem that was found, one line of the message each. */
export class UserError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'UserError';
    this.problems = problems;
  }
}

/**
 * The known name that `name` was probably meant to be, or null when none is near: at most one edit in three
 * letters and never more than three, case ignored. An edit inserts, deletes, replaces a letter or swaps two.
 * Failing that, the first name that begins with `name`, if it has three letters or more.
 */
export function nearestName(name: string, names: Iterable<string>): string | null {
  const known = [...names];
  const wanted = name.toLowerCase();
  const limit = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (best !== null || wanted.length < 3) return best;
  return [...known].find((candidate) => candidate.toLowerCase().startsWith(wanted)) ?? null;
}

/** `did you mean X? known: A, B, C`, the first part only when a name is near, the list cut after 40 names. */
export function knownNames(name: string, known: Iterable<string>): string {
  const names = [...known];
  const nearest = nearestName(name, names);
  const list = names.slice(0, 40).join(', ') + (names.length > 40 ? ', ...' : '');
  const guess = nearest === null ? '' : `did you mean ${nearest}? `;
  return names.length === 0 ? 'none is known' : `${guess}known: ${list}`;
}

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours cost 1. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(last[j] + 1, row[j - 1] + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, beforeLast[j - 2] + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length];
}

/** A value as it stands in a message: text as written, everything else as JSON, cut after 80 characters. */
export function shownValue(value: unknown): string {
  if (value === undefined) return '';
  let text: string;
  if (typeof value === 'string') text = value === '' ? '""' : value;
  else if (typeof value === 'number' || typeof value === 'bigint') text = String(value);
  else text = JSON.stringify(value) ?? String(value);
  const line = text.replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
