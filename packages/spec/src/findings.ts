/**
 * What a zod schema complains about, in the words of a problem: kind, subject, value and way out.
 * Knows schemas and names; knows neither files nor lines.
 */
import type * as z from 'zod';
import { fieldsAt, type JsonSchema } from './catalog.js';
import type { Path } from './document.js';
import { knownNames, type Problem, shownValue } from './errors.js';

/** A problem before it has a place; `path` is relative to the value that was read. */
export interface Finding extends Pick<Problem, 'kind' | 'subject' | 'value' | 'help'> {
  readonly path: Path;
}

type Issue = z.core.$ZodIssue;

/** Every issue as findings; `schema`, built when needed, supplies the fields that may stand where one is unknown. */
export function findingsOf(issues: readonly Issue[], input: unknown, schema: () => JsonSchema): Finding[] {
  return issues.flatMap((issue) => findings(issue, input, schema));
}

function findings(issue: Issue, input: unknown, schema: () => JsonSchema): Finding[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const written = valueAt(input, path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownField([...path, key], key, fieldsAt(schema(), path)));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = nearestBranch(issue.errors);
    const nested = nearest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }) as Issue);
    if (nearest.some((inner) => inner.path.length > 0 || inner.code !== 'invalid_type')) {
      return findingsOf(nested, input, schema);
    }
    const words = issue.errors.flatMap((branch) => branch.map((inner) => expectation(inner)));
    return [{ path, ...wrongType(written, [...new Set(words)].join(' or ')) }];
  }
  return [{ path, ...described(issue, written) }];
}

/** A field that nothing knows, with the nearest name that is known there. */
export function unknownField(path: Path, key: string, known: readonly string[]): Finding {
  return { path, kind: 'unknown', subject: 'field', value: shownValue(key), help: knownNames(key, known) };
}

function described(issue: Issue, written: unknown): Omit<Finding, 'path'> {
  const value = shownValue(written);
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(written, expectation(issue));
    case 'too_small':
    case 'too_big':
      return { kind: 'out of range', subject: '', value, help: limit(issue) };
    case 'not_multiple_of':
      return { kind: 'out of range', subject: '', value, help: `write a multiple of ${issue.divisor}` };
    case 'invalid_value':
      return { kind: 'unknown', subject: 'value', value, help: knownNames(value, issue.values.map(String)) };
    case 'invalid_union':
      return { kind: 'unknown', subject: 'kind', value, help: discriminators(issue, value) };
    case 'custom': {
      const { kind, subject, help } = (issue.params ?? {}) as Partial<Record<string, unknown>>;
      if (typeof kind === 'string' && typeof subject === 'string' && typeof help === 'string') {
        return { kind, subject, value, help };
      }
      return { kind: 'wrong', subject: 'value', value, help: issue.message };
    }
    default:
      return { kind: 'wrong', subject: 'value', value, help: issue.message };
  }
}

function wrongType(written: unknown, expected: string): Omit<Finding, 'path'> {
  if (written === undefined)
    return { kind: 'missing', subject: 'field', value: '', help: `write ${expected}` };
  return { kind: 'wrong', subject: 'type', value: shownValue(written), help: `write ${expected}` };
}

const words: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'fields',
  record: 'fields',
  array: 'a list',
};

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`;
  if (issue.code !== 'invalid_type') return issue.message;
  return words[issue.expected] ?? issue.expected;
}

function limit(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const counted = ['string', 'array', 'set', 'file', 'map'].includes(issue.origin) ? ' entries' : '';
  const unit = issue.origin === 'string' ? ' characters' : counted;
  if (issue.code === 'too_small') return `${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}${unit}`;
  return `${issue.inclusive ? 'at most' : 'below'} ${issue.maximum}${unit}`;
}

function discriminators(issue: Extract<Issue, { code: 'invalid_union' }>, value: string): string {
  const { options } = issue as { readonly options?: readonly unknown[] };
  return options
    ? knownNames(value, options.filter((option) => option !== undefined).map(String))
    : issue.message;
}

/** The alternative that came furthest: whose first complaint lies deepest, then the one with the fewest. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (branch: readonly Issue[]) => {
    const [first] = branch;
    return first === undefined ? 0 : first.path.length * 2 + (first.code === 'invalid_type' ? 0 : 1);
  };
  return branches.reduce((best, branch) => {
    const gain = depth(branch) - depth(best);
    return gain > 0 || (gain === 0 && branch.length < best.length) ? branch : best;
  });
}

function valueAt(input: unknown, path: Path): unknown {
  let at = input;
  for (const key of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string | number, unknown>)[key];
  }
  return at;
}
