// Writes what documents repeat from code and from stored results: JSON schemas, and whatever stands between
// `<!-- NAME -->` and `<!-- end -->` in a page; and the published errors that plans take their error bars from.
// `--check` writes nothing and fails when a file is not what it would write.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { catalog } from '@epsim/engine';
import { countedParameters } from '@epsim/model';
import { placementTableSchema } from '@epsim/placement';
import { planSchema } from '@epsim/planner';
import { journeyTraceSchema } from '@epsim/report';
import { comparisonSchema, recordSchema, summarySchema, validationSchema } from '@epsim/results';
import { modelPresets, publishedCounts, scenarioJsonSchema } from '@epsim/spec';
import { z } from 'zod';
import { k3Blocks } from './k3-blocks.mjs';
import { scoredRowsText } from './scored-rows.mjs';
import { validationTable } from './validation-table.mjs';

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

/** A page with its blocks as they should be; marks in lines of their own keep their line ends. */
function page(name, blocks) {
  const text = readFileSync(new URL(name, docs), 'utf8');
  const unused = new Set(Object.keys(blocks));
  const written = text.replaceAll(/<!-- ([\w-]+) -->(\n?).*?<!-- end -->/gs, (_, block, line) => {
    if (!(block in blocks)) throw new Error(`docs/${name}: nothing makes the block ${block}`);
    unused.delete(block);
    return `<!-- ${block} -->${line}${blocks[block]}${line}<!-- end -->`;
  });
  if (unused.size > 0) throw new Error(`docs/${name} has no place for ${[...unused].join(', ')}`);
  return written;
}

/** One row per preset: what its sizes give beside what is published, in the parts that the figure holds. */
function modelRows() {
  return Object.entries(modelPresets).map(([name, model]) => {
    const published = publishedCounts[name];
    const cells = ['total', 'active'].flatMap((what) => {
      const { figure, holds } = published?.[what] ?? {
        figure: 'none',
        holds: ['layers', 'embedding', 'head'],
      };
      const count = (countedParameters(model, holds, what) / 1e9).toFixed(2);
      return [`${count} B`, figure, holds.join(', ')];
    });
    return `| ${[name, ...cells, model.source, published?.source ?? 'none'].join(' | ')} |`;
  });
}

const files = {
  '../packages/planner/src/errors/scored-rows.ts': scoredRowsText(),
  'schema/scenario.schema.json': json(scenarioJsonSchema(catalog)),
  'schema/summary.schema.json': json(summary),
  'schema/record.schema.json': json(z.toJSONSchema(recordSchema)),
  'schema/comparison.schema.json': json(z.toJSONSchema(comparisonSchema)),
  'schema/journey.schema.json': json(z.toJSONSchema(journeyTraceSchema)),
  'schema/plan.schema.json': json(z.toJSONSchema(planSchema)),
  'schema/placement.schema.json': json(z.toJSONSchema(placementTableSchema)),
  'schema/validation.schema.json': json(z.toJSONSchema(validationSchema)),
};
const pages = {
  'calibration.md': { validation: validationTable() },
  'measures.md': { fields: ['| field | meaning |', '|---|---|', ...rows(summary)].join('\n') },
  'models.md': {
    models: [
      '| preset | total | published | holding | active | published | holding | sizes from | counts from |',
      '|---|---|---|---|---|---|---|---|---|',
      ...modelRows(),
    ].join('\n'),
  },
  ...k3Blocks(),
};
for (const [name, blocks] of Object.entries(pages)) files[name] = page(name, blocks);

let stale = 0;
mkdirSync(new URL('schema/', docs), { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, docs);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale++;
  if (process.argv.includes('--check'))
    console.error(`${new URL(name, docs).pathname} is not what the code says; run "npm run docs"`);
  else writeFileSync(file, text);
}
if (process.argv.includes('--check') && stale > 0) process.exit(1);
