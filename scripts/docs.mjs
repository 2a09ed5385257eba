// Writes what documents repeat from code: JSON schemas, and the table of summary fields in docs/measures.md.
// `--check` writes nothing and fails when a file is not what it would write.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { catalog } from '@epsim/engine';
import { comparisonSchema, recordSchema, summarySchema } from '@epsim/results';
import { scenarioJsonSchema } from '@epsim/spec';
import { z } from 'zod';

const docs = new URL('../docs/', import.meta.url);
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** One row per leaf: its path, what it means. */
function rows(schema, path = '') {
  const inner = schema.anyOf?.find((option) => option.type === 'object') ?? schema;
  if (inner.properties) {
    return Object.entries(inner.properties).flatMap(([key, value]) =>
      rows(value, path ? `${path}.${key}` : key),
    );
  }
  return [`| \`${path}\` | ${(schema.description ?? '').replaceAll('|', '\\|')} |`];
}

const summary = z.toJSONSchema(summarySchema);
const measuresFile = new URL('measures.md', docs);
const [before, , after] = readFileSync(measuresFile, 'utf8').split(/<!-- (?:fields|end) -->/);
const table = ['', '| field | meaning |', '|---|---|', ...rows(summary), ''].join('\n');

const files = {
  'schema/scenario.schema.json': json(scenarioJsonSchema(catalog)),
  'schema/summary.schema.json': json(summary),
  'schema/record.schema.json': json(z.toJSONSchema(recordSchema)),
  'schema/comparison.schema.json': json(z.toJSONSchema(comparisonSchema)),
  'measures.md': `${before}<!-- fields -->${table}<!-- end -->${after}`,
};

let stale = 0;
mkdirSync(new URL('schema/', docs), { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, docs);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale++;
  if (process.argv.includes('--check'))
    console.error(`docs/${name} is not what the code says; run "npm run docs"`);
  else writeFileSync(file, text);
}
if (process.argv.includes('--check') && stale > 0) process.exit(1);
