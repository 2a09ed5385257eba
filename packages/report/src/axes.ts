/** Axes that choose their scale by what they have to show. */
import type { Axis } from './chart-spec.js';

/** Logarithmic when positive values span more than a factor of 20, else linear from 0. */
export function wideAxis(
  label: string,
  series: readonly { readonly values: readonly (number | null)[] }[],
): Axis {
  const values = series.flatMap((line) => line.values).filter((value) => value !== null);
  const least = Math.min(...values);
  return least > 0 && Math.max(...values) / least > 20
    ? { label: `${label}, logarithmic`, unit: 'ratio', log: true }
    : { label, unit: 'ratio', min: 0 };
}
