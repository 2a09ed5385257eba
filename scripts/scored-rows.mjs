// The errors of published serving throughputs as source text of the planner, computed by its own validation.
import { validateEndToEnd } from '@epsim/planner';

const HEAD = `/**
 * Errors of published serving throughputs, a source left out of the fit of its own rows: predicted / published - 1,
 * and what the errors of the step's parts come to. \`npm run docs\` writes it from \`validateEndToEnd\`.
 */
import type { ScoredFigure } from './error-bar.js';

export const scoredRows: readonly ScoredFigure[] = [
`;

export function scoredRowsText() {
  const lines = validateEndToEnd().rows.map(({ source, phase, leaveOutError, partsError }) => {
    const [error, parts] = [leaveOutError, partsError].map((value) => Number(value.toFixed(4)));
    return `  { source: '${source}', phase: '${phase}', error: ${error}, partsError: ${parts} },\n`;
  });
  return `${HEAD}${lines.join('')}];\n`;
}
