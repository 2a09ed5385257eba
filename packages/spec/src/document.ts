/**
 * Text of a scenario to plain data, remembering the line of every key.
 * The one idea: whatever is wrong later is reported by path, and this file knows where a path was written,
 * also when it was written on the command line with --set.
 * Reads YAML 1.2, of which JSON is a part. Knows nothing about what a scenario means.
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, parseDocument } from 'yaml';
import { type Problem, shownValue } from './errors.js';

export type Path = readonly (string | number)[];

/** Data as JSON has it: no classes, no cycles. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };
export type PlainObject = { [key: string]: Plain };

const LONGEST_TEXT = 4_000_000;
const DEEPEST = 40;
const MOST_VALUES = 200_000;
/** Brackets open at once from which on no parser is asked: far above `DEEPEST`, and still quick to refuse. */
const MOST_BRACKETS = 5000;
/** Mistakes of syntax that are reported; what follows them is mostly their consequence. */
const MOST_ERRORS = 10;

/** What a text should be, in the words of its problems. */
export interface DocumentWords {
  readonly subject: string;
  readonly example: string;
}

const SCENARIO: DocumentWords = {
  subject: 'scenario',
  example: 'write fields, at least "model" and "cluster"',
};

/** A text that was read, as far as it could be. */
export interface SourceDocument {
  /** Null when the text cannot be used at all; then `problems` is not empty. */
  readonly data: PlainObject | null;
  readonly problems: readonly Problem[];
  /** Where a path, or the nearest part of it that exists, was written. */
  place(path: Path): Place;
  /** Whether an argument set the path, or something that it is a part of. */
  isSet(path: Path): boolean;
}

interface Place {
  readonly file: string;
  readonly line: number | null;
}

/** Never throws: what cannot be read is a problem. */
export function readDocument(text: string, file: string, words = SCENARIO): SourceDocument {
  const nowhere = () => ({ file, line: 1 });
  const isSet = () => false;
  const fail = (kind: string, subject: string, value: string, help: string, line = 1): SourceDocument => ({
    data: null,
    problems: [{ file, line, path: '', kind, subject, value, help }],
    place: nowhere,
    isSet,
  });
  if (text.length > LONGEST_TEXT) {
    return fail('too long', 'file', `${text.length} characters`, `at most ${LONGEST_TEXT}`);
  }
  if (openBrackets(text) > MOST_BRACKETS) {
    return fail('invalid', 'YAML', `nested deeper than ${DEEPEST} levels`, '');
  }
  const lines = new LineCounter();
  try {
    const options = {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'silent',
      uniqueKeys: false,
    } as const;
    const document = parseDocument(text, options);
    const second = text.search(/^---\s*$/m) >= 0 ? parseAllDocuments(text, { logLevel: 'silent' }) : [];
    if (second.length > 1) {
      const problem = { file, line: 1, path: '', kind: 'too many', subject: 'documents' };
      const value = String(second.length);
      return {
        data: null,
        problems: [{ ...problem, value, help: `write one ${words.subject} in a file` }],
        place: nowhere,
        isSet,
      };
    }
    const errors = [...document.errors, ...repeatedKeys(document.contents)];
    if (errors.length > 0) {
      const problems = errors.slice(0, MOST_ERRORS).map((error) => ({
        file,
        line: lines.linePos(error.pos[0]).line,
        path: '',
        kind: 'invalid',
        subject: 'YAML',
        value: shownValue(error.message),
        help: '',
      }));
      return { data: null, problems, place: nowhere, isSet };
    }
    const data = plain(document.toJS());
    if (data === null) return fail('empty', words.subject, '', words.example);
    if (typeof data !== 'object' || Array.isArray(data)) {
      return fail('wrong', words.subject, shownValue(data), words.example);
    }
    const place = (path: Path) => ({ file, line: lines.linePos(offsetOf(document.contents, path)).line });
    return { data, problems: [], place, isSet };
  } catch (error) {
    // Deep nesting, alias bombs and cycles: the parser, the conversion or `plain` gives up.
    return fail('invalid', 'YAML', shownValue(error instanceof Error ? error.message : String(error)), '');
  }
}

/** Most brackets that are open at once, counted without regard to quotes and comments. */
function openBrackets(text: string): number {
  let open = 0;
  let most = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // [ and {, then ] and }.
    if (code === 91 || code === 123) most = Math.max(most, ++open);
    else if (code === 93 || code === 125) open--;
  }
  return most;
}

/** Keys that a map has twice. The parser's own check compares every pair, which takes minutes on 100,000 keys. */
function repeatedKeys(
  root: unknown,
): { readonly message: string; readonly pos: readonly [number, number] }[] {
  if (isSeq(root)) return root.items.flatMap(repeatedKeys);
  if (!isMap(root)) return [];
  const seen = new Set<unknown>();
  return root.items.flatMap(({ key, value }) => {
    const below = repeatedKeys(value);
    if (!isScalar(key)) return below;
    const at = key.range?.[0] ?? 0;
    if (seen.has(key.value)) return [{ message: 'Map keys must be unique', pos: [at, at] }, ...below];
    seen.add(key.value);
    return below;
  });
}

/** Offset of the key, or list entry, that `path` ends at; of the deepest part that exists otherwise. */
function offsetOf(root: Node | null, path: Path): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (!pair) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key];
      const range = (node as Node | undefined)?.range;
      if (!range) break;
      offset = range[0];
    } else break;
  }
  return offset;
}

/** A copy that is nothing but JSON, fields without a value left out; throws Error when it is too deep, cyclic or too large. */
export function plain(value: unknown): Plain {
  let count = 0;
  const copy = (at: unknown, depth: number): Plain => {
    if (++count > MOST_VALUES) throw new Error(`more than ${MOST_VALUES} values`);
    if (depth > DEEPEST) throw new Error(`nested deeper than ${DEEPEST} levels`);
    if (at === null || at === undefined) return null;
    if (typeof at === 'boolean' || typeof at === 'number' || typeof at === 'string') return at;
    if (typeof at === 'bigint') return Number(at);
    if (Array.isArray(at)) return at.map((entry) => copy(entry, depth + 1));
    // fromEntries defines own properties, so that a key `__proto__` stays a key.
    const fields = Object.entries(at).filter(([, entry]) => entry !== undefined);
    return Object.fromEntries(fields.map(([key, entry]) => [key, copy(entry, depth + 1)]));
  };
  return copy(value, 0);
}

/** Fields whose short form is a text and whose long form has it under `preset`. */
const SHORT_FORMS: readonly string[] = ['model', 'cluster'];

/**
 * The document with arguments `PATH=VALUE` applied in order: keys joined by dots, list entries by number, the value
 * read as YAML. What an argument set is placed at `--set` from then on, or wherever `placeOf` says that it was written.
 */
export function withSettings(
  source: SourceDocument,
  settings: readonly string[],
  placeOf: (path: string) => Place = () => ({ file: '--set', line: null }),
): SourceDocument {
  if (source.data === null || settings.length === 0) return source;
  const data = plain(source.data) as PlainObject;
  const problems: Problem[] = [];
  const paths: { readonly path: Path; readonly place: Place }[] = [];
  for (const setting of settings) {
    const path = setting.slice(0, Math.max(0, setting.indexOf('='))).trim();
    const report = (kind: string, subject: string, value: string, help: string) =>
      problems.push({ ...placeOf(path), path, kind, subject, value, help });
    if (!/^[\w-]+(\.[\w-]+)*$/.test(path) || path.split('.').includes('__proto__')) {
      report('wrong', 'setting', shownValue(setting), 'write PATH=VALUE, such as routing.policy=top-k');
      continue;
    }
    const value = readDocumentValue(setting.slice(setting.indexOf('=') + 1));
    const reached = setAt(data, path.split('.'), value, report);
    if (reached) paths.push({ path: reached, place: placeOf(path) });
  }
  const settingOf = (path: Path) => paths.findLast((set) => set.path.every((key, i) => key === path[i]));
  return {
    data,
    problems: [...source.problems, ...problems],
    place: (path) => settingOf(path)?.place ?? source.place(path),
    isSet: (path) => settingOf(path) !== undefined || source.isSet(path),
  };
}

function readDocumentValue(text: string): Plain {
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
    return document.errors.length > 0 ? text.trim() : plain(document.toJS());
  } catch {
    return text.trim();
  }
}

type Report = (kind: string, subject: string, value: string, help: string) => void;

/** Sets data[keys...] = value, making objects on the way; returns the path with list entries as numbers. */
function setAt(data: PlainObject, keys: readonly string[], value: Plain, report: Report): Path | null {
  let at: Plain[] | PlainObject = data;
  const path: (string | number)[] = [];
  for (const [depth, key] of keys.entries()) {
    const last = depth === keys.length - 1;
    if (Array.isArray(at)) {
      const index = Number(key);
      if (!Number.isInteger(index) || index < 0 || index > at.length) {
        report('wrong', 'list entry', key, `write a number from 0 to ${at.length}`);
        return null;
      }
      path.push(index);
      if (last) at[index] = value;
      else at = at[index] = container(at[index], keys[depth + 1]);
    } else {
      path.push(key);
      const present: Plain | undefined = Object.hasOwn(at, key) ? at[key] : undefined;
      if (last) at[key] = value;
      else if (depth === 0 && typeof present === 'string' && SHORT_FORMS.includes(key)) {
        at = at[key] = longForm(present);
      } else if (present !== undefined && present !== null && typeof present !== 'object') {
        report('wrong', 'setting', shownValue(present), `${path.join('.')} has no fields to set`);
        return null;
      } else at = at[key] = container(present, keys[depth + 1]);
    }
  }
  return path;
}

/** What is there, or an empty list where the next key is a number, or empty fields. */
function container(present: Plain | undefined, next: string): Plain[] | PlainObject {
  if (present !== null && typeof present === 'object') return present;
  return /^\d+$/.test(next) ? [] : {};
}

/** `kimi-k3` is short for `{ preset: kimi-k3 }`, and a path for `{ config: path }`. */
export function longForm(text: string): PlainObject {
  return looksLikePath(text) ? { config: text } : { preset: text };
}

export function looksLikePath(text: string): boolean {
  return /[/\\]|\.json$/i.test(text);
}
