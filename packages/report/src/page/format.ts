/**
 * Numbers as people read them: three significant digits and a unit, the same on paper, page and terminal.
 * One of the modules that also run inside the page, so it imports nothing.
 */

export type Unit = 'count' | 'bytes' | 'ns' | 'ratio' | 'fraction' | 'perSec' | 'dollars';

const scales: Readonly<Record<'count' | 'bytes' | 'ns', readonly (readonly [number, string])[]>> = {
  count: [
    [1e12, ' T'],
    [1e9, ' G'],
    [1e6, ' M'],
  ],
  bytes: [
    [1e15, ' PB'],
    [1e12, ' TB'],
    [1e9, ' GB'],
    [1e6, ' MB'],
    [1e3, ' kB'],
    [0, ' B'],
  ],
  ns: [
    [1e9, ' s'],
    [1e6, ' ms'],
    [1e3, ' µs'],
    [0, ' ns'],
  ],
};

/**
 * `value` of a base unit as text with its unit, in `significant` digits; "n/a" for null.
 * Prefixes are decimal: 1 kB = 1000 B.
 */
export function formatValue(value: number | null, unit: Unit, significant = 3): string {
  if (value === null || Number.isNaN(value)) return 'n/a';
  switch (unit) {
    case 'fraction':
      return `${digits(value * 100, significant)} %`;
    case 'ratio':
      return digits(value, significant);
    case 'perSec':
      return `${scaled(value, 'count', significant)}/s`;
    case 'dollars':
      return `$${digits(value, significant)}`;
    default:
      return scaled(value, unit, significant);
  }
}

function scaled(value: number, unit: 'count' | 'bytes' | 'ns', significant: number): string {
  for (const [size, suffix] of scales[unit]) {
    // A value that would round up to 1000 of the smaller unit is 1 of the larger.
    if (Math.abs(value) >= size * 0.9995) {
      return `${digits(size === 0 ? value : value / size, significant)}${suffix}`;
    }
  }
  return digits(value, significant);
}

/** `significant` digits; whole numbers from 1000 up are written out with separators. */
function digits(value: number, significant: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size > 0 && size < 1e-3) return value.toExponential(1).replace('.0e', 'e');
  return String(Number(value.toPrecision(significant)));
}
