/**
 * What a scenario can choose is told in words: every entry of every registry has a summary, and every option of it
 * what it means. The JSON schema under docs/schema and an editor's hints come from these words.
 */
import { catalog } from '@epsim/engine';
import { type Registry, scenarioJsonSchema } from '@epsim/spec';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

type Schema = { readonly [key: string]: unknown };

/** Paths of fields below a schema that have no words, through alternatives and lists. */
function silentFields(schema: Schema, path = ''): string[] {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(
    ([name, field]) => {
      const at = path === '' ? name : `${path}.${name}`;
      const isSilent = typeof field.description !== 'string' || field.description.length < 5;
      return [...(isSilent ? [at] : []), ...silentFields(field, at)];
    },
  );
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Schema[]);
  const items = schema.items === undefined ? [] : [schema.items as Schema];
  return [...fields, ...[...branches, ...items].flatMap((inner) => silentFields(inner, path))];
}

const registries = Object.entries(catalog).flatMap(([registry, entries]) =>
  Object.entries(entries as Registry).map(([name, entry]) => ({ registry, name, entry })),
);

describe('every entry of every registry', () => {
  test.each(registries)('$registry $name says what it is and what its options mean', ({ entry }) => {
    expect(entry.summary.length).toBeGreaterThan(10);
    const schema = z.toJSONSchema(entry.options, { io: 'input', unrepresentable: 'any' });
    expect(silentFields(schema)).toEqual([]);
  });
});

test('a field without words is found, also inside alternatives and lists', () => {
  const silent = z.strictObject({
    told: z.number().describe('what it means'),
    list: z.array(z.strictObject({ a: z.number() })).describe('a list of things'),
    either: z.union([z.strictObject({ b: z.string() }), z.number()]).describe('one or the other'),
    bare: z.number(),
  });
  expect(silentFields(z.toJSONSchema(silent))).toEqual(['list.a', 'either.b', 'bare']);
});

test('the words stand in the schema of a scenario', () => {
  const text = JSON.stringify(scenarioJsonSchema(catalog));
  for (const words of ['over the mean from which it spills', 'scale-up domains of a group']) {
    expect(text).toContain(words);
  }
});
