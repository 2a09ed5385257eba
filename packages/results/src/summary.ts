/**
 * The fields of `summary.json`: one definition that types the object, checks a file that is read back,
 * and says in words what every field means and in which unit.
 * One idea: a figure and its meaning live in one place, so the page, the schema and the code cannot disagree.
 * Figures that were measured against a wall clock are not here: equal runs give equal summaries.
 */
import { z } from 'zod';

const spread = (what: string) =>
  z
    .strictObject({ min: z.number(), mean: z.number(), max: z.number() })
    .describe(`${what}; the mean over layers and steps of each layer's own smallest, mean and largest`);

const imbalance = {
  maxOverMean: z.number().describe('max / mean, as Megatron prints it; 1 is even'),
  meanOverMax: z.number().describe('mean / max, the "balancedness" of vLLM, SGLang and EPLB; 1 is even'),
  maxMinusMeanOverMean: z
    .number()
    .describe('(max - mean) / mean, the "imbalance ratio" of TensorRT-LLM; 0 is even'),
  cv: z.number().describe('standard deviation / mean (coefficient of variation); 0 is even'),
  gini: z.number().describe('Gini coefficient; 0 is even'),
  entropy: z.number().describe('Shannon entropy of the shares / ln(count); 1 is even'),
};

const instant = {
  step: z.int().describe('step, from 0'),
  layer: z.int().describe('layer of experts, from 0'),
};

const provenance = z.enum(['measured', 'fitted', 'derived']);

export const summarySchema = z.strictObject({
  scenario: z.string().describe('name of the scenario'),
  seed: z.number().describe('the one number that every random choice follows from'),
  version: z.string().describe('version of epsim that wrote the run'),
  complete: z.boolean().describe('false when the run was interrupted: the figures cover the finished steps'),
  steps: z.strictObject({
    asked: z.int().describe('steps of the scenario'),
    finished: z.int().describe('steps that have all their layers'),
  }),
  layers: z.int().describe('layers of experts that were simulated'),
  model: z.strictObject({
    name: z.string().describe('preset or file that the sizes come from'),
    expertCount: z.int().describe('routed experts of a layer'),
    topK: z.int().describe('experts that a token uses'),
    expertWidth: z.int().describe('elements of a row that travels to an expert'),
    paramCount: z.number().describe('parameters of the whole model'),
    activeParamCount: z.number().describe('parameters that one token uses'),
  }),
  cluster: z.strictObject({
    name: z.string().describe('the target cluster'),
    device: z.string().describe('its accelerator'),
    rankCount: z.int().describe('ranks of the expert-parallel group'),
  }),
  tokens: z.strictObject({
    total: z.int().describe('real tokens over all steps, each counted once'),
    padded: z.int().describe('rows that only padded a batch, over all steps'),
    perStep: z.number().describe('mean real tokens of a step, all ranks together'),
  }),
  load: z.strictObject({
    tokensPerExpert: spread('choices per expert'),
    ...imbalance,
    maxVio: z.number().describe('MaxVio: (max - mean) / mean over experts; 0 is even'),
    maxVioFloor: z
      .number()
      .describe('MaxVio that perfectly balanced random routing of the same tokens would show'),
    starvedExperts: z.number().describe('experts without a token, mean over layers and steps'),
    neverChosen: z.int().describe('pairs of layer and expert without a token in the whole run'),
    lastStep: z
      .strictObject({ maxVio: z.number(), maxOverMean: z.number(), starvedExperts: z.number() })
      .describe('mean over layers of the last step, after policies that learn have settled'),
    worst: z
      .strictObject({ ...instant, maxVio: z.number(), maxOverMean: z.number(), tokens: z.number() })
      .describe('the layer of the step with the largest MaxVio, and its busiest expert'),
    stepsToFloor: z
      .int()
      .nullable()
      .describe(
        'first step, from 0, whose MaxVio, mean over layers, is within 1.5 x of the floor; null when none is',
      ),
  }),
  ranks: z.strictObject({
    count: z.int().describe('ranks of the expert-parallel group'),
    tokensPerRank: spread('choices computed per rank'),
    ...imbalance,
    activatedExperts: spread('experts with at least one token, per rank'),
    worst: z
      .strictObject({ ...instant, maxOverMean: z.number(), tokens: z.number() })
      .describe('the layer of the step with the largest max / mean over ranks, and its busiest rank'),
  }),
  bytes: z
    .strictObject({
      dispatch: z.number().describe('rows to experts, all steps and layers'),
      combine: z.number().describe('results back, all steps and layers'),
      scaleUp: z.number().describe('of both: between ranks of one domain'),
      scaleOut: z.number().describe('of both: between domains'),
      local: z.number().describe('of both: never left its rank'),
      perToken: z.number().describe('dispatch + combine per real token and layer'),
      dedupRatio: z.number().describe('rows sent / choices; 1 when every choice sends a row of its own'),
      byLinkMax: z
        .strictObject({ link: z.string(), bytes: z.number(), ...instant })
        .describe('the busiest link of any one layer of one step'),
    })
    .describe('bytes on the wire, both directions of the exchange'),
  routing: z.strictObject({
    policy: z.string().describe('what chose the experts'),
    dropped: z.number().describe('choices dropped, all steps and layers'),
    droppedFraction: z.number().describe('dropped / (tokens x top-k)'),
    scoreRetention: z.number().describe("chosen score mass / plain top-k's on the same scores"),
    changedChoices: z.number().describe('fraction of choices that plain top-k would not have made'),
    biasDrift: z
      .number()
      .describe('largest change of the selection bias in one update, mean over layers and steps'),
  }),
  baseline: z
    .strictObject({
      policy: z.string().describe('what the run is compared with'),
      load: z.strictObject({
        maxVio: imbalance.maxMinusMeanOverMean.describe(
          'MaxVio over experts: (max - mean) / mean; 0 is even',
        ),
        lastStepMaxVio: z.number().describe('that over the layers of the last step'),
        ...imbalance,
      }),
      ranks: z.strictObject(imbalance),
      stepNs: z.number().nullable().describe('predicted time of a step, as timed.stepNs'),
    })
    .nullable()
    .describe('the same tokens under the baseline policy on the same placement; null when there is none'),
  moves: z
    .strictObject({
      slots: z.number().describe('slots that a placement change filled anew, all steps and layers'),
      bytes: z.number().describe('weights that moved for it'),
      ns: z.number().describe('time that took; not part of timed.stepNs'),
      steps: z.int().describe('steps in which something moved'),
    })
    .describe('experts moved by placement changes'),
  buffers: z
    .array(
      z.strictObject({
        quantile: z.number().describe('share of the layers of all steps in which the rows suffice'),
        rows: z.int().describe('rows that hold what the fullest rank receives from others in one layer'),
      }),
    )
    .describe('for sizing dispatch buffers, such as num_max_dispatch_tokens_per_rank'),
  carried: z
    .strictObject({
      transport: z
        .string()
        .nullable()
        .describe(
          'how the scenario asks for rows to be carried, null when none were; timings.json has how it was done',
        ),
      workers: z.int().describe('as the scenario asks; timings.json has how many there were'),
      tokens: z.int().describe('tokens whose rows really moved, each counted once'),
      layerSteps: z.int().describe('layers of steps that were carried'),
      checkedLayerSteps: z.int().describe('those of them that were compared with the reference'),
      maxAbsError: z.number().nullable().describe('largest |result - single-process reference|'),
      maxRelError: z
        .number()
        .nullable()
        .describe('that over the largest |reference|; the largest of any layer'),
      receivedBytes: z.number().describe("bytes counted where rows arrived, equal to the carried plan's"),
      checked: z.boolean().describe('true when every carried layer was compared with the reference'),
      rows: z
        .enum(['fp32', 'wire'])
        .nullable()
        .describe('what travelled: full precision, or the wire formats'),
      expertInnerSize: z.int().describe('inner size of the experts that really ran'),
      fullExpertInnerSize: z.int().describe("the model's own"),
    })
    .describe('the real run beside the timed one'),
  timed: z
    .strictObject({
      stepNs: z.number().describe('mean time of a step: the sum over the simulated layers'),
      tokensPerSecPerRank: z.number().describe('tokens of a step / ranks / step time, simulated layers only'),
      phases: z
        .record(z.string(), z.number())
        .describe('ns of each phase of a step; overlapped phases may add up to more than the step'),
      stragglerIdleFraction: z
        .number()
        .describe('mean fraction of a layer that a rank waits for the slowest'),
      sources: z
        .record(
          z.string(),
          z.strictObject({ provenance, source: z.string(), relErrorBar: z.number().nullable() }),
        )
        .describe('where the time of each phase comes from'),
      relErrorBar: z
        .number()
        .nullable()
        .describe('half-width of the error of the phases that have one, as a fraction; null when none has'),
      unscoredFraction: z.number().describe('share of phase time whose error nobody has measured'),
    })
    .nullable()
    .describe('predicted times on the target cluster; null when only the carried half ran'),
  notes: z.array(z.string()).describe('what is scaled, assumed or left out, one sentence each'),
});

/** What one run came to: the content of `summary.json`. */
export type Summary = z.infer<typeof summarySchema>;
