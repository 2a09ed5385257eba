// What docs/mechanisms.md and docs/k2-vs-k3.md repeat from code: tables of full-size Kimi K3 and of Kimi K2 beside it.
import { contextMarkdown, ledgerMarkdown, mechanismsMarkdown } from '@epsim/report';
import { fullScale } from '../packages/cli/dist/journey/scale.js';

/** Page to its blocks by name. */
export function k3Blocks() {
  const scale = fullScale();
  return {
    'mechanisms.md': { mechanisms: mechanismsMarkdown(scale), context: contextMarkdown(scale) },
    'k2-vs-k3.md': { ledger: ledgerMarkdown(scale.ledger) },
  };
}
