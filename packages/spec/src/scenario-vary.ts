/**
 * The `vary` section: which fields differ between the points of a comparison or a sweep, and what each is set to.
 * Its one idea: a value is what `--set` would be given, so a scenario is read at a point as it is read with settings.
 * Whether a value is legal is found there, not here.
 */
import { stringify } from 'yaml';
import type { JsonSchema } from './catalog.js';
import type { Plain } from './document.js';
import { shownValue } from './errors.js';
import type { Reader } from './reader.js';

/** Path of a field, keys joined by dots, to the values that it takes, at least one. */
export type Vary = Readonly<Record<string, readonly Plain[]>>;

const MOST_VALUES = 1000;
const EXAMPLE = 'write { routing.policy: [top-k, quantile] }';

/** Null where nothing varies; undefined, reported, when something could not be read. */
export function readVary(to: Reader, input: Plain | undefined): Vary | null | undefined {
  if (input === undefined || input === null || input === false) return null;
  const fields = to.object(input, ['vary'], EXAMPLE);
  if (!fields) return undefined;
  const before = to.problems.length;
  for (const [path, values] of Object.entries(fields)) {
    const at = ['vary', path];
    if (!/^[\w-]+(\.[\w-]+)*$/.test(path) || /^(vary|__proto__)\b/.test(path)) {
      to.report(at, { kind: 'wrong', subject: 'path', value: shownValue(path), help: EXAMPLE });
    } else if (!Array.isArray(values) || values.length === 0 || values.length > MOST_VALUES) {
      const help = `write a list of 1 to ${MOST_VALUES} values, such as [top-k, quantile]`;
      to.report(at, { kind: 'wrong', subject: 'values', value: shownValue(values), help });
    } else {
      const texts = values.map(settingText);
      const twice = texts.find((text, i) => texts.indexOf(text) !== i);
      if (twice !== undefined) {
        to.report(at, { kind: 'repeated', subject: 'value', value: twice, help: 'name each value once' });
      }
    }
  }
  if (to.problems.length > before) return undefined;
  return Object.keys(fields).length === 0 ? null : (fields as Record<string, Plain[]>);
}

/** The value as text on one line that reads as the same value again: what stands after `PATH=` on a command line. */
export function settingText(value: Plain): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, blockQuote: false }).trim();
}

/** JSON schema of the section. */
export function varyJsonSchema(): JsonSchema {
  return {
    anyOf: [
      { type: 'object', additionalProperties: { type: 'array', minItems: 1, maxItems: MOST_VALUES } },
      { enum: [null, false] },
    ],
    description: 'fields and their values: the points of `epsim compare` and `epsim sweep` of this file',
  } as JsonSchema;
}
