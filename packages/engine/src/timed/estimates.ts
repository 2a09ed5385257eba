/** Arithmetic on estimates that keeps where they come from. */
import type { Estimate, Provenance } from '@epsim/spec';

const weakest: readonly Provenance[] = ['derived', 'fitted', 'measured'];

/**
 * The sum of estimates. It is only as good as its weakest part: provenance is the weakest, and the error bar is
 * the parts' bars weighted by time (errors taken to agree in sign), or null when a part with time has none.
 */
export function addEstimates(parts: readonly Estimate[]): Estimate {
  let ns = 0;
  let error: number | null = 0;
  for (const part of parts) {
    ns += part.ns;
    if (part.ns === 0) continue;
    error = error === null || part.relErrorBar === null ? null : error + part.relErrorBar * part.ns;
  }
  const provenance = weakest.find((p) => parts.some((part) => part.provenance === p)) ?? 'derived';
  return {
    ns,
    provenance,
    source: [...new Set(parts.map((part) => part.source))].join('; '),
    relErrorBar: error === null ? null : ns === 0 ? 0 : error / ns,
  };
}
