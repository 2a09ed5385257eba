/**
 * Text to Scenario: frozen, base units, nothing left to default, or every problem of the file at once.
 * The one idea: the reader knows fields, units and names; what a name's options are, the catalog says.
 * Touches no file: whoever calls it hands in the text, and a function that reads what the text refers to.
 */
import { stringify } from 'yaml';
import type { Catalog } from './catalog.js';
import { type PlainObject, readDocument, withSettings } from './document.js';
import { type Problem, shownValue, UserError } from './errors.js';
import { checkPlan } from './plan-checks.js';
import { isObject, type Reader, reader } from './reader.js';
import { checkScenario } from './scenario-checks.js';
import { readCluster, writtenCluster } from './scenario-cluster.js';
import { type ReadFile, readModel, writtenModel } from './scenario-model.js';
import { checkNetwork } from './scenario-network.js';
import type { Scenario } from './scenario-nouns.js';
import { readPlan, writtenPlan } from './scenario-plan.js';
import { dispatchFields, rootFields } from './scenario-schema.js';
import {
  readCarry,
  readPlacement,
  readRouting,
  readTime,
  readWorkload,
  sectionOf,
  withoutFormerOptions,
} from './scenario-sections.js';
import { readVary } from './scenario-vary.js';

export interface ScenarioSource {
  /** Shown in problems; its name without folder and ending is the default name of the scenario. */
  readonly file: string;
  readonly catalog: Catalog;
  /** Arguments `PATH=VALUE` that overrule the file. */
  readonly set?: readonly string[] | undefined;
  /** Arguments `PATH=VALUE` of one point of the file's own `vary`; problems with them are placed there. */
  readonly point?: readonly string[] | undefined;
  /**
   * The text of a file that the scenario refers to, by the path as it is written there; throws when there is none.
   * Whoever gives it decides what paths are relative to.
   */
  readonly readFile?: ReadFile | undefined;
}

const SECTIONS = [
  'model',
  'cluster',
  'workload',
  'routing',
  'placement',
  'dispatch',
  'time',
  'carry',
  'plan',
  'vary',
];
const CARRIED_TOKENS = 64;
const CARRIED_INNER_SIZE = 64;

/** Throws UserError with every problem that was found, and nothing else, whatever the text. */
export function parseScenario(text: string, source: ScenarioSource): Scenario {
  const written = readDocument(text, source.file);
  const set = withSettings(written, source.set ?? []);
  const document = withSettings(set, source.point ?? [], (path) => set.place(['vary', path]));
  const to = reader(document);
  if (document.data === null || written.data === null) throw new UserError(to.problems);
  const data = withoutFormerOptions(document.data, written.data, document.isSet, source.catalog);
  const scenario = readScenario(to, data, source);
  if (!scenario) throw new UserError(inOrder(to.problems, source.file));
  return frozen(scenario);
}

/** Undefined when anything is wrong. */
function readScenario(to: Reader, data: PlainObject, source: ScenarioSource): Scenario | undefined {
  const { catalog, file } = source;
  const root = to.fields(rootFields, data, [], SECTIONS);
  const model = readModel(to, data.model, source.readFile);
  const { cluster, rankCount } = readCluster(to, data.cluster, catalog, source.readFile);
  const workload = readWorkload(to, data.workload, catalog);
  const routing = readRouting(to, data.routing, catalog);
  const { dispatch, placementInput } = readDispatch(to, data);
  const placement = readPlacement(to, placementInput, catalog);
  const carry = readCarry(to, data.carry);
  const plan = readPlan(to, data.plan);
  const time = readTime(to, data.time, catalog, plan !== null);
  const vary = readVary(to, data.vary);
  const { tokensPerRank } = workload.beside;
  const { slotsPerRank, slots } = placement.beside;
  const { layers, steps } = root;
  checkScenario(to, {
    ...{ model, cluster, rankCount, tokensPerRank, slotsPerRank, slots, layers, steps },
    carry: carry ?? undefined,
  });
  if (plan && model && cluster) checkPlan(to, plan, model, cluster);
  if (to.problems.length === 0 && cluster) checkNetwork(to, cluster, catalog, plan !== null);
  if (to.problems.length > 0) return undefined;
  const choices = { workload: workload.chosen, routing: routing.chosen, placement: placement.chosen };
  if (
    !model ||
    !cluster ||
    !time ||
    plan === undefined ||
    vary === undefined ||
    !choices.workload ||
    !choices.routing ||
    !choices.placement
  )
    return undefined;
  // Nothing was refused, so every field has its value: what is left open in the types was filled by a default.
  return {
    ...(root as Required<typeof root>),
    name: root.name ?? nameOf(file),
    model,
    cluster,
    workload: {
      kind: choices.workload.name,
      tokensPerRank: tokensPerRank as number,
      options: choices.workload.options,
    },
    routing: {
      policy: choices.routing.name,
      options: choices.routing.options,
      baseline: routing.baseline,
    },
    placement: {
      policy: choices.placement.name,
      options: choices.placement.options,
      ...(placement.beside as Required<typeof placement.beside>),
    },
    dispatch,
    time,
    carry: carry && completeCarry(carry, tokensPerRank as number, model.moe.expertInnerSize),
    plan,
    vary,
  };
}

/**
 * `balanced` is the way of Kimi K3's own library: rows go once to each rank, and every rank computes equally much,
 * which is what the placement policy of that name plans. So it is read as those two.
 */
function readDispatch(to: Reader, data: PlainObject) {
  const input = sectionOf(to, data.dispatch, ['dispatch'], 'write { kind: per-rank }');
  const { kind = 'per-rank', ...rest } = to.fields(dispatchFields, input, ['dispatch']);
  // Where a field was refused, nothing is made of the others.
  const formats = rest as Omit<Scenario['dispatch'], 'kind'>;
  const placement = data.placement ?? {};
  if (kind !== 'balanced' || !isObject(placement)) {
    const rows = kind === 'balanced' ? 'per-rank' : kind;
    return { dispatch: { kind: rows, ...formats }, placementInput: data.placement };
  }
  const { policy = 'balanced' } = placement;
  if (policy !== 'balanced') {
    to.report(['placement', 'policy'], {
      kind: 'conflicting',
      subject: 'placement policy',
      value: shownValue(policy),
      help: 'dispatch.kind balanced plans where rows are computed: write policy: balanced, or leave it out',
    });
  }
  return {
    dispatch: { kind: 'per-rank' as const, ...formats },
    placementInput: { ...placement, policy: 'balanced' },
  };
}

type Carry = NonNullable<ReturnType<typeof readCarry>>;

function completeCarry(
  carry: Carry,
  tokensPerRank: number,
  modelInnerSize: number,
): NonNullable<Scenario['carry']> {
  const {
    tokensPerRank: carried = Math.min(tokensPerRank, CARRIED_TOKENS),
    expertInnerSize = Math.min(Math.ceil(modelInnerSize / 8) * 8, CARRIED_INNER_SIZE),
    checkSteps = carry.steps as number,
    ...rest
  } = carry;
  return { tokensPerRank: carried, expertInnerSize, checkSteps, ...(rest as Required<typeof rest>) };
}

function nameOf(file: string): string {
  const last = file.split(/[/\\]/).at(-1) ?? '';
  return last.replace(/\.(ya?ml|json)$/i, '') || 'scenario';
}

/** Problems of the file itself by line, then those of other files, then those of the command line. */
function inOrder(problems: readonly Problem[], file: string): readonly Problem[] {
  const group = (problem: Problem) => (problem.file === file ? 0 : problem.line === null ? 2 : 1);
  return [...problems].sort((a, b) => group(a) - group(b) || (a.line ?? 0) - (b.line ?? 0));
}

function frozen<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

/**
 * YAML with units that reads as the same scenario, with nothing left to a default.
 * A model that is neither a preset nor a changed preset is spelled out, so that the text needs no other file
 * than those that the workload names.
 */
export function resolvedYaml(scenario: Scenario): string {
  const { model, cluster, workload, routing, placement, plan, ...rest } = scenario;
  const { name, seed, phase, steps, layers, dispatch, time, carry, vary } = rest;
  const { options: placementOptions, ...placementFields } = placement;
  return stringify(
    {
      ...{ name, seed, phase, steps, layers },
      model: writtenModel(model),
      cluster: writtenCluster(cluster),
      workload: { kind: workload.kind, tokensPerRank: workload.tokensPerRank, ...workload.options },
      routing: { policy: routing.policy, baseline: routing.baseline, ...routing.options },
      placement: { ...placementFields, ...placementOptions },
      ...{ dispatch, time, carry },
      plan: writtenPlan(plan),
      ...(vary === null ? {} : { vary }),
    },
    { aliasDuplicateObjects: false, lineWidth: 0 },
  );
}
