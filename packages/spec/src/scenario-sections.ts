/**
 * The sections of a scenario that name something from a registry: workload, routing, placement, time; and carry.
 * The one idea: an entry's options stand beside its name, and only the entry's own schema knows them.
 */
import type { Catalog, Registry } from './catalog.js';
import type { Path, Plain, PlainObject } from './document.js';
import {
  entryName,
  entryOptions,
  type Fields,
  type FieldValues,
  isObject,
  optionNames,
  type Reader,
  without,
} from './reader.js';
import { carryFields, placementFields, routingFields, workloadFields } from './scenario-schema.js';

export interface ReadChoice<F extends Fields> {
  /** The reader's own fields of the section, as far as they could be read. */
  readonly beside: FieldValues<F>;
  /** Undefined, reported, when the name is unknown or its options were refused. */
  readonly chosen: { readonly name: string; readonly options: PlainObject } | undefined;
}

interface ChoiceSpec<F extends Fields> {
  readonly section: string;
  /** What the registry holds, in messages. */
  readonly word: string;
  /** The field that holds the name. */
  readonly key: string;
  /** Taken when nothing is named and the registry has it; its first entry otherwise. */
  readonly preferred: string;
  readonly fields: F;
}

const workloadSpec = {
  section: 'workload',
  word: 'workload kind',
  key: 'kind',
  preferred: 'synthetic',
  fields: workloadFields,
} as const satisfies ChoiceSpec<Fields>;
const routingSpec = {
  section: 'routing',
  word: 'routing policy',
  key: 'policy',
  preferred: 'top-k',
  fields: routingFields,
} as const satisfies ChoiceSpec<Fields>;
const placementSpec = {
  section: 'placement',
  word: 'placement policy',
  key: 'policy',
  preferred: 'contiguous',
  fields: placementFields,
} as const satisfies ChoiceSpec<Fields>;

/** `{ trace: file }` and `{ loads: file }` are short for the kind of that name and its file. */
export function readWorkload(to: Reader, input: Plain | undefined, catalog: Catalog) {
  return readChoice(to, longWorkload(input), catalog.workload, workloadSpec);
}

function longWorkload(input: Plain | undefined): Plain | undefined {
  if (!isObject(input) || Object.hasOwn(input, 'kind')) return input;
  const kind = ['trace', 'loads'].find((name) => typeof input[name] === 'string');
  return kind === undefined ? input : { kind, file: input[kind], ...without(input, [kind]) };
}

export function readPlacement(to: Reader, input: Plain | undefined, catalog: Catalog) {
  return readChoice(to, input, catalog.placement, placementSpec);
}

/** The policy, and the one to compare it with: top-k unless said, none where both are the same. */
export function readRouting(to: Reader, input: Plain | undefined, catalog: Catalog) {
  const read = readChoice(to, input, catalog.routing, routingSpec);
  const { baseline: written } = read.beside;
  const plain = Object.hasOwn(catalog.routing, 'top-k') ? 'top-k' : null;
  const path = ['routing', 'baseline'];
  const named =
    typeof written === 'string' ? entryName(to, catalog.routing, 'routing policy', written, path) : undefined;
  const baseline = written === undefined ? plain : (named ?? null);
  return { chosen: read.chosen, baseline: baseline === read.chosen?.name ? null : baseline };
}

function readChoice<F extends Fields>(
  to: Reader,
  input: Plain | undefined,
  registry: Registry,
  spec: ChoiceSpec<F>,
): ReadChoice<F> {
  const { key, fields } = spec;
  const path: Path = [spec.section];
  const written = sectionOf(
    to,
    input,
    path,
    `write { ${key}: ${standardOf(registry, spec)} } and its options`,
  );
  const own = [key, ...Object.keys(fields)];
  const ownInput = Object.fromEntries(Object.entries(written).filter(([field]) => own.includes(field)));
  const beside = to.fields(fields, ownInput, path, [key]);
  const wanted = Object.hasOwn(written, key) ? written[key] : standardOf(registry, spec);
  const name = entryName(to, registry, spec.word, wanted, [...path, key]);
  if (name === undefined) return { beside, chosen: undefined };
  const options = entryOptions(to, registry[name], without(written, own), path, own);
  return { beside, chosen: options && { name, options } };
}

/** The fields of a section, none where it is absent or, which is reported, something else. */
export function sectionOf(to: Reader, input: Plain | undefined, path: Path, help: string): PlainObject {
  return (input === undefined ? {} : to.object(input, path, help)) ?? {};
}

function standardOf(registry: Registry, { preferred }: { readonly preferred: string }): string {
  return Object.hasOwn(registry, preferred) ? preferred : (Object.keys(registry)[0] ?? preferred);
}

/**
 * Names of the network model, of the way in which phases overlap, and of the kernels that move rows. Where something
 * is to be planned, an overlap that is not written is null: the plan takes the best.
 */
export function readTime(to: Reader, input: Plain | undefined, catalog: Catalog, planned: boolean) {
  const parts = {
    network: { registry: catalog.networkModels, word: 'network model', preferred: 'bound' },
    overlap: { registry: catalog.overlaps, word: 'overlap', preferred: 'none' },
    exchange: { registry: catalog.exchanges, word: 'exchange kernel', preferred: 'auto' },
  };
  const written = sectionOf(to, input, ['time'], 'write { network: bound, overlap: none }');
  to.fields({}, written, ['time'], Object.keys(parts));
  const nameOf = (key: keyof typeof parts) => {
    const { registry, word } = parts[key];
    const wanted = Object.hasOwn(written, key) ? written[key] : standardOf(registry, parts[key]);
    return entryName(to, registry, word, wanted, ['time', key]);
  };
  const unwritten = planned ? null : standardOf(catalog.overlaps, parts.overlap);
  const [network, overlap, exchange] = [
    nameOf('network'),
    (written.overlap ?? null) === null ? unwritten : nameOf('overlap'),
    nameOf('exchange'),
  ];
  if (network === undefined || overlap === undefined || exchange === undefined) return undefined;
  return { network, overlap, exchange };
}

/** Null for time only. */
export function readCarry(to: Reader, input: Plain | undefined) {
  if (input === undefined || input === null || input === false) return null;
  const help = 'write { tokensPerRank: 64, expertInnerSize: 64, workers: 2 }, or null for time only';
  const fields = to.object(input, ['carry'], help);
  return fields ? to.fields(carryFields, fields, ['carry']) : {};
}

/**
 * The data without what a replaced policy left behind: when --set names another policy or kind than the file does,
 * options that the former knows and the new one does not are dropped, unless they were set as well.
 */
export function withoutFormerOptions(
  data: PlainObject,
  written: PlainObject,
  isSet: (path: Path) => boolean,
  catalog: Catalog,
): PlainObject {
  const kept = { ...data };
  const specs = { workload: workloadSpec, routing: routingSpec, placement: placementSpec };
  for (const [section, spec] of Object.entries(specs)) {
    const registry = catalog[section as keyof typeof specs];
    const after = section === 'workload' ? longWorkload(data[section]) : data[section];
    const before = section === 'workload' ? longWorkload(written[section]) : written[section];
    if (!isObject(after) || !isObject(before)) continue;
    const names = [before, after].map((fields) => {
      const name = Object.hasOwn(fields, spec.key) ? fields[spec.key] : standardOf(registry, spec);
      return typeof name === 'string' && Object.hasOwn(registry, name) ? name : undefined;
    });
    const [from, into] = names;
    if (from === undefined || into === undefined || from === into) continue;
    const known = optionNames(registry[into]);
    const former = optionNames(registry[from]).filter((name) => !known.includes(name));
    kept[section] = without(
      after,
      [...former, ...(section === 'workload' ? ['trace', 'loads'] : [])].filter(
        (name) => !isSet([section, name]),
      ),
    );
  }
  return kept;
}
