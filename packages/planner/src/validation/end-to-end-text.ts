/** Predicted against published serving throughputs for a terminal, with what was assumed. */
import type { EndToEnd } from './end-to-end.js';

/** Lines of text, no colours. */
export function endToEndText({ rows, ...score }: EndToEnd): string {
  const names = rows.map(({ source, name }) => `${source}: ${name}`);
  const width = Math.max(...names.map((name) => name.length));
  return [
    `${rows.length} published serving throughputs, tokens/s per rank: median error ${percent(score.medianError)}, 90th percentile ${percent(score.p90Error)}, bias ${percent(score.bias)}`,
    `    prefill ${percent(score.medianErrorByPhase.prefill)}, decode ${percent(score.medianErrorByPhase.decode)}; a source left out of the fitted shares ${percent(score.leaveSourceOutMedianError)}`,
    ...rows.flatMap(({ published, predicted, error, assumed }, i) => [
      `  ${names[i].padEnd(width)} ${published.toFixed(0).padStart(7)} published ${predicted.toFixed(0).padStart(7)} predicted ${percent(error).padStart(8)}`,
      ...(assumed.length === 0 ? [] : [`      assumed: ${assumed.join('; ')}`]),
    ]),
  ].join('\n');
}

const percent = (fraction: number) => `${(100 * fraction).toFixed(1)} %`;
