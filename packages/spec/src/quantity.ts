/**
 * Quantities as people write them, `141 GiB`, `50 GB/s`, `400 Gbps`, `3 us`, `989 TFLOPS`, to base units and back.
 * The one idea: this is the only file that converts. A bare number where a unit is needed is a mistake.
 * Upper case matters: B is a byte, b a bit; kB = 1000 B, KiB = 1024 B; `50 Gbps` is an eighth of `50 GB/s`.
 * Knows nothing about scenarios.
 */
import * as z from 'zod';
import { nearestName, shownValue } from './errors.js';

export type QuantityKind = 'bytes' | 'bandwidth' | 'duration' | 'flops' | 'power' | 'price';

/** A unit is worth `mantissa` x 10^`exponent` base units; powers of ten are applied to the text, so they round once. */
interface Unit {
  readonly mantissa: number;
  readonly exponent: number;
}

interface Kind {
  readonly base: string;
  readonly examples: readonly [string, string];
  readonly zeroAllowed: boolean;
  /** By name, in the order in which printing tries them, largest first. */
  readonly units: ReadonlyMap<string, Unit>;
  /** Other spellings that are read but not printed. */
  readonly aliases: ReadonlyMap<string, string>;
}

const decimal = { P: 15, T: 12, G: 9, M: 6, k: 3, '': 0 } as const;
const binary = { Ti: 2 ** 40, Gi: 2 ** 30, Mi: 2 ** 20, Ki: 2 ** 10 } as const;

function withPrefixes(suffix: string, mantissa = 1): [string, Unit][] {
  return Object.entries(decimal).map(([prefix, exponent]) => [prefix + suffix, { mantissa, exponent }]);
}

function withBinaryPrefixes(suffix: string): [string, Unit][] {
  return Object.entries(binary).map(([prefix, mantissa]) => [prefix + suffix, { mantissa, exponent: 0 }]);
}

function aliasesOf(names: readonly [string, string][]): Map<string, string> {
  return new Map(names);
}

const kinds: Readonly<Record<QuantityKind, Kind>> = {
  bytes: {
    base: 'B',
    examples: ['80 GB', '141 GiB'],
    zeroAllowed: true,
    units: new Map([...withPrefixes('B'), ...withBinaryPrefixes('B')]),
    aliases: aliasesOf([['KB', 'kB']]),
  },
  bandwidth: {
    base: 'B/s',
    examples: ['50 GB/s', '400 Gbps'],
    zeroAllowed: false,
    units: new Map([...withPrefixes('B/s'), ...withBinaryPrefixes('B/s'), ...withPrefixes('bps', 1 / 8)]),
    aliases: aliasesOf([
      ...Object.keys(decimal).map((p): [string, string] => [`${p}b/s`, `${p}bps`]),
      ...Object.keys(decimal).map((p): [string, string] => [`${p}bit/s`, `${p}bps`]),
      ...Object.keys(decimal).map((p): [string, string] => [`${p}Bps`, `${p}B/s`]),
      ['KB/s', 'kB/s'],
    ]),
  },
  duration: {
    base: 'ns',
    examples: ['3 us', '2.5 ms'],
    zeroAllowed: true,
    units: new Map([
      ['h', { mantissa: 3.6, exponent: 12 }],
      ['min', { mantissa: 6, exponent: 10 }],
      ['s', { mantissa: 1, exponent: 9 }],
      ['ms', { mantissa: 1, exponent: 6 }],
      ['us', { mantissa: 1, exponent: 3 }],
      ['ns', { mantissa: 1, exponent: 0 }],
    ]),
    aliases: aliasesOf([
      ['\u00b5s', 'us'],
      ['\u03bcs', 'us'],
    ]),
  },
  flops: {
    base: 'FLOP/s',
    examples: ['989 TFLOPS', '2.25 PFLOP/s'],
    zeroAllowed: false,
    units: new Map(withPrefixes('FLOPS')),
    aliases: aliasesOf(Object.keys(decimal).map((p): [string, string] => [`${p}FLOP/s`, `${p}FLOPS`])),
  },
  power: {
    base: 'W',
    examples: ['700 W', '1.2 kW'],
    zeroAllowed: false,
    units: new Map(withPrefixes('W')),
    aliases: new Map(),
  },
  price: {
    base: '$/h',
    examples: ['2.50 $/h', '$2.50/h'],
    zeroAllowed: true,
    units: new Map([['$/h', { mantissa: 1, exponent: 0 }]]),
    aliases: aliasesOf([
      ['USD/h', '$/h'],
      ['$/hour', '$/h'],
    ]),
  },
};

/** Why a text is not a quantity, in the words of a problem. */
export interface QuantityProblem {
  readonly kind: string;
  readonly subject: string;
  readonly help: string;
}

export type QuantityResult =
  | { readonly ok: true; readonly value: number }
  | { readonly ok: false; readonly problem: QuantityProblem };

/**
 * Reads a quantity in base units: bytes, bytes/s, ns, FLOP/s, W, $/h.
 * Decimal units are exact to the nearest double. Negative values are refused, zero where it makes no sense too.
 */
export function parseQuantity(kind: QuantityKind, input: unknown): QuantityResult {
  const { base, units, aliases, examples, zeroAllowed } = kinds[kind];
  const advice = `write "${examples[0]}" or "${examples[1]}"`;
  const refuse = (what: string, subject: string, help: string): QuantityResult => {
    return { ok: false, problem: { kind: what, subject, help } };
  };
  if (typeof input === 'number' || (typeof input === 'string' && /^\s*[-+.\deE_]+\s*$/.test(input))) {
    return refuse('missing', 'unit', advice);
  }
  if (typeof input !== 'string') return refuse(input === undefined ? 'missing' : 'wrong', 'value', advice);
  const dollars = /^\s*\$\s*([\d.]+)\s*(\/\s*h(?:our)?)\s*$/.exec(input);
  const text = dollars ? `${dollars[1]} $/h` : input;
  const match = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\s\d].*?)\s*$/.exec(text);
  if (!match) return refuse('wrong', 'value', advice);
  const name = aliases.get(match[2]) ?? match[2];
  const unit = units.get(name);
  if (!unit) {
    const guess = nearestName(match[2], units.keys());
    return refuse('unknown', 'unit', (guess === null ? '' : `did you mean ${guess}? `) + advice);
  }
  const value = scaled(match[1], unit);
  if (!Number.isFinite(value)) return refuse('out of range', 'value', 'the number is too large');
  if (value < 0 || (value === 0 && !zeroAllowed)) {
    return refuse('out of range', 'value', `must be ${zeroAllowed ? 'at least' : 'above'} 0 ${base}`);
  }
  return { ok: true, value };
}

function scaled(digits: string, unit: Unit): number {
  const [mantissa, exponent = '0'] = digits.toLowerCase().split('e');
  return Number(`${mantissa}e${Number(exponent) + unit.exponent}`) * unit.mantissa;
}

/** The shortest text with a unit that reads back as exactly `value`; whole bits are never used. */
export function exactQuantity(kind: QuantityKind, value: number): string {
  const { base, units } = kinds[kind];
  let best = `${value} ${base === 'FLOP/s' ? 'FLOPS' : base}`;
  for (const [name, unit] of value === 0 ? [] : units) {
    if (name.endsWith('bps')) continue;
    const count = value / unit.mantissa / 10 ** unit.exponent;
    const candidate = `${count} ${name}`;
    if (Math.abs(count) < 1 || candidate.length >= best.length) continue;
    const back = parseQuantity(kind, candidate);
    if (back.ok && back.value === value) best = candidate;
  }
  return best;
}

/** Three significant digits and the decimal unit that leaves 1 to 999 before the point. */
function formatQuantity(kind: QuantityKind, value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const { base, units } = kinds[kind];
  const magnitude = Math.abs(value);
  let [chosen, size] = [base, 1];
  for (const [name, unit] of units) {
    const unitSize = unit.mantissa * 10 ** unit.exponent;
    const skipped = /i(B|B\/s)$/.test(name) || name.endsWith('bps');
    // 999.5 rounds to 1000 at three digits and belongs to the next unit.
    if (!skipped && magnitude >= unitSize * 0.9995) {
      [chosen, size] = [name, unitSize];
      break;
    }
  }
  const number = Number((value / size).toPrecision(3));
  return `${number} ${chosen}`;
}

/** `1.56 TB`; decimal units, three digits. */
export function formatBytes(bytes: number): string {
  return formatQuantity('bytes', bytes);
}

/** `50 GB/s`; decimal units, three digits. */
export function formatBandwidth(bytesPerSec: number): string {
  return formatQuantity('bandwidth', bytesPerSec);
}

/** `1 rank`, `2 ranks`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2.5 us`, three digits; below a nanosecond still in nanoseconds. */
export function formatNs(ns: number): string {
  return formatQuantity('duration', ns);
}

/** `989 TFLOPS`, three digits. */
export function formatFlops(flopsPerSec: number): string {
  return formatQuantity('flops', flopsPerSec);
}

/** `700 W`, three digits. */
export function formatWatts(watts: number): string {
  return formatQuantity('power', watts);
}

/** `2.5 $/h`, three digits. */
export function formatDollarsPerHour(dollarsPerHour: number): string {
  return formatQuantity('price', dollarsPerHour);
}

/** Text with a unit on the way in, base units on the way out, and back again through `z.encode`. */
function zQuantity(kind: QuantityKind) {
  const { examples } = kinds[kind];
  const text = z.unknown().meta({ type: 'string', title: kind, examples: [...examples] });
  return z.codec(text, z.number(), {
    decode: (input, context) => {
      const result = parseQuantity(kind, input);
      if (result.ok) return result.value;
      const message = `${result.problem.kind} ${result.problem.subject}: ${shownValue(input)}; ${result.problem.help}`;
      context.issues.push({ code: 'custom', input, message, params: { ...result.problem } });
      return z.NEVER;
    },
    encode: (value) => exactQuantity(kind, value),
  });
}

/** A zod type that reads `80 GB` as bytes. */
export const zBytes = () => zQuantity('bytes');
/** A zod type that reads `50 GB/s` or `400 Gbps` as bytes per second. */
export const zBandwidth = () => zQuantity('bandwidth');
/** A zod type that reads `3 us` as nanoseconds. */
export const zDuration = () => zQuantity('duration');
/** A zod type that reads `989 TFLOPS` as FLOP/s. */
export const zFlops = () => zQuantity('flops');
/** A zod type that reads `700 W` as watts. */
export const zWatts = () => zQuantity('power');
/** A zod type that reads `2.50 $/h` as dollars per hour. */
export const zDollarsPerHour = () => zQuantity('price');
