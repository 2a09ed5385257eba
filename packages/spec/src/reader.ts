/**
 * Reads data field by field and keeps every problem, so that one mistake hides no other.
 * The one idea: each field has its own schema, and what could be read is used for further checks even where its
 * neighbour could not. Knows nothing about what fields mean.
 */
import * as z from 'zod';
import { type CatalogEntry, fieldsAt, inputSchema, type Registry } from './catalog.js';
import { type Path, type Plain, type PlainObject, plain, type SourceDocument } from './document.js';
import { knownNames, type Problem, shownValue } from './errors.js';
import { type Finding, findingsOf, unknownField } from './findings.js';

export type Fields = Readonly<Record<string, z.ZodType>>;
export type FieldValues<F extends Fields> = { readonly [K in keyof F]?: z.output<F[K]> };

export interface Reader {
  readonly problems: Problem[];
  /** Keeps a problem at the place where `path` was written. */
  report(path: Path, finding: Omit<Finding, 'path'>): void;
  /** The value that the schema accepts, or undefined, with what is wrong reported. */
  value<S extends z.ZodType>(schema: S, input: unknown, path: Path): z.output<S> | undefined;
  /** The fields that could be read. Fields that are neither in `fields` nor in `others` are reported. */
  fields<F extends Fields>(
    fields: F,
    input: PlainObject,
    path: Path,
    others?: readonly string[],
  ): FieldValues<F>;
  /** The fields of a value that must have fields; undefined, reported, when it has none. */
  object(input: unknown, path: Path, help: string): PlainObject | undefined;
}

export function reader(source: Pick<SourceDocument, 'place' | 'problems'>): Reader {
  const problems: Problem[] = [...source.problems];
  const self: Reader = {
    problems,
    report(path, { kind, subject, value, help }) {
      problems.push({ ...source.place(path), path: path.join('.'), kind, subject, value, help });
    },
    value(schema, input, path) {
      const result = schema.safeParse(input);
      if (result.success) return result.data;
      for (const finding of findingsOf(result.error.issues, input, () => inputSchema(schema))) {
        self.report([...path, ...finding.path], finding);
      }
      return undefined;
    },
    fields(fields, input, path, others = []) {
      const read: Record<string, unknown> = {};
      for (const [key, schema] of Object.entries(fields)) {
        const value = self.value(schema, Object.hasOwn(input, key) ? input[key] : undefined, [...path, key]);
        if (value !== undefined) read[key] = value;
      }
      const known = [...Object.keys(fields), ...others];
      for (const key of Object.keys(input)) {
        if (!known.includes(key)) self.report([...path, key], unknownField([], key, known));
      }
      return read as FieldValues<typeof fields>;
    },
    object(input, path, help) {
      if (isObject(input)) return input;
      const missing = input === undefined || input === null;
      self.report(path, {
        kind: missing ? 'missing' : 'wrong',
        subject: missing ? 'field' : 'type',
        value: missing ? '' : shownValue(input),
        help,
      });
      return undefined;
    },
  };
  return self;
}

export function isObject(value: unknown): value is PlainObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Fields of `input` other than `names`. */
export function without(input: PlainObject, names: readonly string[]): PlainObject {
  return Object.fromEntries(Object.entries(input).filter(([key]) => !names.includes(key)));
}

/** The name of a registry's entry, or undefined, reported, when there is none of that name. */
export function entryName(
  to: Reader,
  registry: Registry,
  word: string,
  input: Plain | undefined,
  path: Path,
): string | undefined {
  if (typeof input === 'string' && Object.hasOwn(registry, input)) return input;
  const value = shownValue(input);
  const names = Object.keys(registry);
  if (typeof input === 'string') {
    to.report(path, { kind: 'unknown', subject: word, value, help: knownNames(input, names) });
  } else {
    to.report(path, { kind: 'wrong', subject: 'type', value, help: `write one of ${names.join(', ')}` });
  }
  return undefined;
}

/**
 * Options of a registry's entry in the form that its own schema reads: defaults filled in, quantities as text with
 * units, so that whoever uses them parses them with the same schema. Undefined, reported, when it refuses them.
 * `beside` are the fields that stand next to the options and are not among them.
 */
export function entryOptions(
  to: Reader,
  entry: CatalogEntry,
  input: PlainObject,
  path: Path,
  beside: readonly string[],
): PlainObject | undefined {
  const result = entry.options.safeParse(input);
  if (result.success) return canonical(entry.options, result.data, input);
  const schema = () => {
    const own = inputSchema(entry.options);
    const extra = Object.fromEntries(beside.map((name) => [name, {}]));
    return { anyOf: [own, { properties: extra }] };
  };
  for (const finding of findingsOf(result.error.issues, input, schema)) {
    to.report([...path, ...finding.path], finding);
  }
  return undefined;
}

/** Names of the options that an entry knows. */
export function optionNames(entry: CatalogEntry): readonly string[] {
  return fieldsAt(inputSchema(entry.options), []);
}

/** What the schema would have to read to give `output`; the input itself where a schema only works one way. */
function canonical(options: z.ZodType, output: unknown, input: PlainObject): PlainObject {
  try {
    const written = plain(z.encode(options, output));
    if (isObject(written) && options.safeParse(written).success) return written;
  } catch {
    // A one-way transform cannot be written back: the input is then the only form that is known to be read.
  }
  return input;
}
