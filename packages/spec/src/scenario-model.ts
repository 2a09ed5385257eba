/**
 * The `model` of a scenario: a preset, a published config.json, or every size spelled out, and changes to it.
 */

import { longForm, type Path, type Plain, readDocument } from './document.js';
import { knownNames, shownValue } from './errors.js';
import { modelFromHuggingFace } from './huggingface/read.js';
import { documentOf, shapeOf } from './model-document.js';
import type { ModelShape, MoeShape, Precision } from './model-shape.js';
import { precisions } from './precision.js';
import { modelPresets } from './presets/models/registry.js';
import type { FieldValues, Reader } from './reader.js';
import { modelChanges, modelOrigins } from './scenario-schema.js';

/** Text of a file; `at` is the field that names it. Throws Error with the reason, and the repair where there is one. */
export type ReadFile = (path: string, at?: string) => string;
export type ModelChanges = FieldValues<typeof modelChanges>;

/** The model, or undefined with every reason reported. */
export function readModel(to: Reader, input: Plain | undefined, readFile?: ReadFile): ModelShape | undefined {
  const path: Path = ['model'];
  const help = 'write a preset such as kimi-k3, the path of a config.json, or { preset: kimi-k3, topK: 8 }';
  const fields = to.object(typeof input === 'string' ? longForm(input) : input, path, help);
  if (!fields) return undefined;
  const read = to.fields({ ...modelOrigins, ...modelChanges }, fields, path);
  const named = Object.keys(modelOrigins).filter((key) => Object.hasOwn(fields, key));
  if (named.length !== 1) {
    const value = named.length === 0 ? '' : named.join(' and ');
    to.report(path, { kind: named.length === 0 ? 'missing' : 'wrong', subject: 'origin', value, help });
    return undefined;
  }
  const base = originOf(to, read, typeof input === 'string' ? path : [...path, named[0]], readFile);
  return base && changed(to, base, read, path);
}

function originOf(
  to: Reader,
  read: FieldValues<typeof modelOrigins>,
  path: Path,
  readFile: ReadFile | undefined,
): ModelShape | undefined {
  if (read.preset !== undefined) {
    if (Object.hasOwn(modelPresets, read.preset))
      return modelPresets[read.preset as keyof typeof modelPresets];
    const help = `${knownNames(read.preset, Object.keys(modelPresets))}, or the path of a config.json`;
    to.report(path, { kind: 'unknown', subject: 'model preset', value: shownValue(read.preset), help });
  } else if (read.config !== undefined) {
    return fromConfig(to, read.config, path, readFile);
  } else if (read.shape !== undefined) {
    try {
      return shapeOf(read.shape);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      to.report(path, { kind: 'wrong', subject: 'layers', value: error.message, help: '' });
    }
  }
  return undefined;
}

/** Reads a published configuration, and the precision that some publishers keep in a file beside it. */
function fromConfig(
  to: Reader,
  file: string,
  path: Path,
  readFile: ReadFile | undefined,
): ModelShape | undefined {
  const line = (text: string) => text.replace(/\s+/g, ' ');
  const unread = (reason: string) =>
    to.report(path, { kind: 'unreadable', subject: 'file', value: line(file), help: line(reason) });
  if (!readFile) {
    unread('no files can be read here');
    return undefined;
  }
  let text: string;
  try {
    text = readFile(file, path.join('.'));
  } catch (error) {
    unread(error instanceof Error ? error.message : String(error));
    return undefined;
  }
  const config = readDocument(text, file, CONFIGURATION);
  const sidecar = readSidecar(file, readFile);
  to.problems.push(...config.problems, ...(sidecar?.problems ?? []));
  if (config.data === null || (sidecar && sidecar.data === null)) return undefined;
  const result = modelFromHuggingFace(config.data, {
    name: nameOf(file),
    source: file,
    ...(sidecar ? { quantConfig: sidecar.data } : {}),
  });
  if (result.ok) return result.model;
  for (const { path: at, ...problem } of result.problems) {
    to.problems.push({ ...config.place(at), path: at.join('.'), ...problem });
  }
  return undefined;
}

const CONFIGURATION = {
  subject: 'configuration',
  example: 'write fields, such as "model_type", as in a published config.json',
};

function readSidecar(file: string, readFile: ReadFile) {
  const beside = file.replace(/[^/\\]*$/, 'hf_quant_config.json');
  try {
    return readDocument(readFile(beside), beside, CONFIGURATION);
  } catch {
    // Most models have none.
    return undefined;
  }
}

/** The file's own name, or its folder's when the file is called config.json as published. */
function nameOf(file: string): string {
  const parts = file.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..');
  const last = (parts.at(-1) ?? file).replace(/\.json$/i, '');
  return last === 'config' ? (parts.at(-2) ?? last) : last;
}

function changed(to: Reader, base: ModelShape, changes: ModelChanges, path: Path): ModelShape | undefined {
  const wanted = Object.keys(modelChanges).filter((key) => changes[key as keyof ModelChanges] !== undefined);
  if (wanted.length === 0) return base;
  const width = changes.expertWidth ?? (changes.latent === false ? base.hiddenSize : base.moe.expertWidth);
  const latent = width !== base.hiddenSize;
  if (changes.latent !== undefined && changes.latent !== latent) {
    const help = latent
      ? `leave expertWidth out, or write ${base.hiddenSize}`
      : `write an expertWidth below ${base.hiddenSize}`;
    const value = `latent ${changes.latent} with experts ${width} wide in a model ${base.hiddenSize} wide`;
    to.report([...path, 'latent'], { kind: 'wrong', subject: 'width', value, help });
    return undefined;
  }
  return applyChanges(base, changes, wanted);
}

/** The model with sizes changed, and a sentence that says so. */
function applyChanges(base: ModelShape, changes: ModelChanges, wanted: readonly string[]): ModelShape {
  const { contextTokens, precision, latent, ...sizes } = changes;
  const width = sizes.expertWidth ?? (latent === false ? base.hiddenSize : base.moe.expertWidth);
  const isLatent = width !== base.hiddenSize;
  const known = Object.fromEntries(
    Object.entries(sizes).filter(([key, value]) => Object.hasOwn(base.moe, key) && value !== undefined),
  );
  const moe: MoeShape = {
    ...base.moe,
    ...known,
    expertWidth: width,
    latent: isLatent,
    latentNorm: isLatent && base.moe.latentNorm,
  };
  const layers = new Map(
    base.layers.map((layer) => [layer, layer.ffn?.kind === 'moe' ? { ...layer, ffn: moe } : layer]),
  );
  return {
    ...base,
    moe,
    layers: base.layers.map((layer) => layers.get(layer) ?? layer),
    contextTokens: contextTokens ?? base.contextTokens,
    precision: {
      routedExperts: precisionOf(precision?.routedExperts) ?? base.precision.routedExperts,
      rest: precisionOf(precision?.rest) ?? base.precision.rest,
    },
    assumptions: [...base.assumptions, `changed by the scenario: ${wanted.join(', ')}`],
  };
}

function precisionOf(written: Precision | Precision['name'] | undefined): Precision | undefined {
  return typeof written === 'string' ? precisions[written] : written;
}

/** What to write for `model` so that it reads as this shape: a preset, a preset with changes, or every size. */
export function writtenModel(shape: ModelShape): unknown {
  const equal = (other: ModelShape) => JSON.stringify(other) === JSON.stringify(shape);
  for (const [name, preset] of Object.entries<ModelShape>(modelPresets)) {
    if (equal(preset)) return name;
    if (preset.name !== shape.name) continue;
    const changes = changesOf(preset, shape);
    if (equal(applyChanges(preset, changes, Object.keys(changes)))) return { preset: name, ...changes };
  }
  return { shape: documentOf(shape) };
}

/** Fields that make `shape` of `preset`, as far as changes can. */
function changesOf(preset: ModelShape, shape: ModelShape): ModelChanges {
  const changes: Record<string, unknown> = {};
  for (const key of Object.keys(modelChanges)) {
    if (!Object.hasOwn(shape.moe, key)) continue;
    const field = key as keyof MoeShape;
    if (shape.moe[field] !== preset.moe[field]) changes[key] = shape.moe[field];
  }
  if (changes.latent === false) delete changes.expertWidth;
  if (shape.contextTokens !== preset.contextTokens) changes.contextTokens = shape.contextTokens;
  const precision: Record<string, Precision> = {};
  for (const part of ['routedExperts', 'rest'] as const) {
    const [now, then] = [shape.precision[part], preset.precision[part]];
    if (JSON.stringify(now) !== JSON.stringify(then)) precision[part] = now;
  }
  if (Object.keys(precision).length > 0) changes.precision = precision;
  return changes;
}
