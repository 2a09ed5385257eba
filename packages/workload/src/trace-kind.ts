/**
 * A workload from a recording of a real model. Recorded choices are replayed row by row; recorded loads become the
 * popularity that scores follow; a log of balance becomes the skew that shows it.
 * What does not match the scenario's model is an error, not a guess.
 */
import { seedFor } from '@epsim/spec';
import { z } from 'zod';
import { popularityWorkload } from './scores/popularity-workload.js';
import { noTopics, perRankSchema, topicSchema } from './scores/score-options.js';
import { synthetic } from './synthetic.js';
import { replay } from './trace/replay.js';
import {
  type BalanceTrace,
  type ChoiceTrace,
  type LoadTrace,
  type Trace,
  totalLoads,
} from './trace/trace.js';
import { decodeTrace } from './trace/trace-file.js';
import { checkContext, type Workload, type WorkloadContext, type WorkloadKind } from './workload.js';

const optionsSchema = z.strictObject({
  file: z.string().describe('a file that epsim import wrote'),
  anyModel: z
    .boolean()
    .default(false)
    .describe("replay though the trace names another model than the scenario's"),
  rows: z
    .enum(['dealt', 'recorded'])
    .default('dealt')
    .describe(
      'recorded choices: dealt out in order, tokensPerRank to each rank, or to the ranks that had them',
    ),
  frames: z
    .enum(['mean', 'each'])
    .default('mean')
    .describe('recorded loads: the mean of all frames at every step, or a frame a step'),
  topics: topicSchema.optional().describe('for recorded loads, which say nothing of requests'),
  perRank: perRankSchema.optional(),
});

type TraceOptions = z.output<typeof optionsSchema>;

export const trace: WorkloadKind = {
  summary: 'choices or loads recorded from a real model, imported with epsim import',
  options: optionsSchema,
  create(context, given) {
    checkContext(context);
    const options = optionsSchema.parse(given);
    if (context.readFile === undefined) throw new RangeError(`${options.file}: nothing here can read files`);
    const recorded = decodeTrace(context.readFile(options.file), options.file);
    checkModel(recorded, context, options);
    const workload = workloadOf(recorded, context, options);
    const model = recorded.model === null ? 'a model that it does not name' : recorded.model;
    return {
      batch: (step, layer) => workload.batch(step, layer),
      description: [
        `recorded from ${model} (${recorded.source})`,
        ...recorded.notes,
        ...workload.description,
      ],
    };
  },
};

function workloadOf(recorded: Trace, context: WorkloadContext, options: TraceOptions): Workload {
  if (recorded.kind === 'balance') return balanced(recorded, context);
  checkShape(recorded, context, options.file);
  if (recorded.kind === 'loads') return recordedLoads(recorded, context, options);
  return replay(recorded, context, { asRecorded: options.rows === 'recorded', file: options.file });
}

function checkModel(recorded: Trace, context: WorkloadContext, options: TraceOptions): void {
  if (recorded.model === null || context.modelName === undefined || options.anyModel) return;
  const plain = (name: string): string =>
    name
      .slice(name.lastIndexOf('/') + 1)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '');
  if (plain(recorded.model) === plain(context.modelName)) return;
  throw new RangeError(
    `${options.file}: recorded from ${recorded.model}, the scenario's model is ${context.modelName}; ` +
      'set anyModel: true if they route alike',
  );
}

function checkShape(recorded: ChoiceTrace | LoadTrace, context: WorkloadContext, file: string): void {
  const differences: string[] = [];
  if (recorded.expertCount !== context.expertCount) {
    differences.push(`${recorded.expertCount} experts, the model has ${context.expertCount}`);
  }
  if (recorded.topK !== null && recorded.topK !== context.topK) {
    differences.push(`top-${recorded.topK}, the model has top-${context.topK}`);
  }
  if (recorded.layerIds.length < context.layers) {
    differences.push(`${recorded.layerIds.length} layers of experts, ${context.layers} are asked for`);
  }
  if (differences.length > 0) throw new RangeError(`${file}: ${differences.join('; ')}`);
}

function recordedLoads(recorded: LoadTrace, context: WorkloadContext, options: TraceOptions): Workload {
  const { expertCount, frameCount } = recorded;
  const layers = recorded.layerIds.length;
  const each = options.frames === 'each';
  const values = each ? recorded.loads : totalLoads(recorded);
  return popularityWorkload(context, {
    topics: options.topics ?? noTopics,
    perRank: options.perRank ?? 0,
    seed: seedFor(context.seed, 'recorded loads'),
    loadsOf: (step, layer) => {
      const key = (each ? step % frameCount : 0) * layers + layer;
      return { key, loads: values.subarray(key * expertCount, (key + 1) * expertCount) };
    },
    description: [
      each
        ? `router scores follow its loads, step s those of frame s modulo ${frameCount}`
        : `router scores follow its loads, the sum of ${frameCount} frames`,
    ],
  });
}

function balanced(recorded: BalanceTrace, context: WorkloadContext): Workload {
  const ratios = Array.from(recorded.maxTokens, (max, i) => max / recorded.meanTokens[i]).sort(
    (a, b) => a - b,
  );
  const median = ratios[Math.floor(ratios.length / 2)];
  const workload = synthetic.create(context, {
    skew: { kind: 'outcome', rankMaxOverMean: Math.max(1, median) },
  });
  return {
    batch: (step, layer) => workload.batch(step, layer),
    description: [
      `it says only how balanced ranks were: the median of ${ratios.length} samples is max / mean ${median.toFixed(3)}`,
      ...workload.description,
    ],
  };
}
