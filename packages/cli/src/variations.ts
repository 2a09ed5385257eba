/** `--vary PATH=V1,V2`: a list of overrides per point, and all combinations of several lists. */
import { UsageError } from './failure.js';

export interface Variation {
  readonly path: string;
  readonly values: readonly string[];
}

/** Splits at commas that stand outside brackets, braces and quotes. Throws UsageError without a path or values. */
export function parseVariation(text: string): Variation {
  const at = text.indexOf('=');
  const path = text.slice(0, Math.max(at, 0)).trim();
  const values = at < 0 ? [] : splitOutside(text.slice(at + 1));
  if (path === '' || values.length === 0 || values.includes('')) {
    throw new UsageError(
      `--vary: wrong value: ${text}; write PATH=V1,V2, such as routing.policy=top-k,quantile`,
    );
  }
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined)
    throw new UsageError(`--vary: ${path}: ${twice} stands there twice; name each value once`);
  return { path, values };
}

function splitOutside(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote) quote = c === quote ? '' : quote;
    else if (c === '"' || c === "'") quote = c;
    else if ('[{('.includes(c)) depth++;
    else if (']})'.includes(c)) depth--;
    else if (c === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}

/** One point: what each varied path is set to. */
export type Point = Readonly<Record<string, string>>;

/** All combinations, the last path varying fastest. */
export function gridOf(variations: readonly Variation[]): Point[] {
  const names = variations.map((variation) => variation.path);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new UsageError(`--vary: ${twice} is varied twice; write its values in one list`);
  return variations.reduce<Point[]>(
    (points, { path, values }) =>
      points.flatMap((point) => values.map((value) => ({ ...point, [path]: value }))),
    [{}],
  );
}

/** The point as overrides for the scenario reader. */
export function overridesOf(point: Point): string[] {
  return Object.entries(point).map(([path, value]) => `${path}=${value}`);
}

export function nameOfPoint(point: Point): string {
  return Object.entries(point)
    .map(([path, value]) => `${path.split('.').at(-1)}=${value}`)
    .join(' ');
}
