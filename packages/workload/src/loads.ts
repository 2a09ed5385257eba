/**
 * A workload whose popularity follows a table of expert loads: what an operator measured, layer by layer.
 * Scores are drawn so that plain top-k gives each expert the share that the table gives it.
 */
import { seedFor } from '@epsim/spec';
import { z } from 'zod';
import { type LoadTable, readLoadTable, tableFromJson } from './formats/load-table.js';
import { popularityWorkload } from './scores/popularity-workload.js';
import { noTopics, perRankSchema, topicSchema } from './scores/score-options.js';
import { isTraceFile } from './trace/trace-file.js';
import { checkContext, type WorkloadContext, type WorkloadKind } from './workload.js';

const optionsSchema = z.strictObject({
  file: z.string().optional().describe('the table, [layers][experts], as JSON, CSV or .npy'),
  case: z.string().optional().describe('name of the case, where the file holds several'),
  table: z
    .array(z.array(z.number().min(0)))
    .optional()
    .describe('the table itself, instead of a file'),
  topics: topicSchema.optional(),
  perRank: perRankSchema.optional(),
});

export const loads: WorkloadKind = {
  summary: 'router scores whose popularity follows a table of expert loads, [layers][experts]',
  options: optionsSchema,
  create(context, given) {
    checkContext(context);
    const options = optionsSchema.parse(given);
    const { table, name } = readTable(context, options);
    const layers = layersWithLoad(table);
    if (table.expertCount !== context.expertCount) {
      throw new RangeError(`${name}: ${table.expertCount} experts; the model has ${context.expertCount}`);
    }
    if (layers.length < context.layers) {
      throw new RangeError(
        `${name}: ${context.layers} layers asked, ${layers.length} of its ${table.layerCount} rows have load`,
      );
    }
    const empty = table.layerCount - layers.length;
    return popularityWorkload(context, {
      topics: options.topics ?? noTopics,
      perRank: options.perRank ?? 0,
      seed: seedFor(context.seed, 'loads'),
      loadsOf: (_step, layer) => ({ key: layer, loads: rowOf(table, layers[layer]) }),
      description: [
        `router scores whose popularity follows ${name}, ${table.layerCount} layers of ${table.expertCount} experts`,
        ...(empty > 0 ? [`${empty} rows without any load are left out`] : []),
        ...(layers.length > context.layers ? [`its first ${context.layers} layers with load are used`] : []),
      ],
    });
  },
};

function readTable(
  { readFile }: WorkloadContext,
  { file, table, case: caseName }: z.output<typeof optionsSchema>,
): { table: LoadTable; name: string } {
  if ((file === undefined) === (table === undefined)) {
    throw new RangeError('loads: give either a file or the table itself');
  }
  if (file === undefined) return { table: tableFromJson(table, 'table'), name: 'the table in the scenario' };
  if (readFile === undefined) {
    throw new RangeError(`loads: ${file}: nothing here can read files; give the table itself`);
  }
  const bytes = readFile(file);
  if (isTraceFile(bytes)) throw new RangeError(`loads: ${file} is a trace; write trace: ${file}`);
  return { table: readLoadTable(bytes, file, caseName), name: file };
}

function rowOf(table: LoadTable, layer: number): Float64Array {
  return table.values.subarray(layer * table.expertCount, (layer + 1) * table.expertCount);
}

/** Rows with any load: engines also list their dense layers, whose rows are zero. */
function layersWithLoad(table: LoadTable): number[] {
  const layers = Array.from({ length: table.layerCount }, (_, layer) => layer);
  return layers.filter((layer) => rowOf(table, layer).some((load) => load > 0));
}
