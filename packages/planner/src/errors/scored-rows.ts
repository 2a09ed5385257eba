/**
 * Errors of published serving throughputs, a source left out of the fit of its own rows: predicted / published - 1,
 * and what the errors of the step's parts come to. `npm run docs` writes it from `validateEndToEnd`.
 */
import type { ScoredFigure } from './error-bar.js';

export const scoredRows: readonly ScoredFigure[] = [
  { source: 'LMSYS', phase: 'prefill', error: -0.1156, partsError: 0.2048 },
  { source: 'LMSYS', phase: 'prefill', error: -0.085, partsError: 0.2042 },
  { source: 'LMSYS', phase: 'prefill', error: -0.0491, partsError: 0.2032 },
  { source: 'LMSYS', phase: 'decode', error: 0.1213, partsError: 0.2173 },
  { source: 'LMSYS', phase: 'decode', error: -0.0424, partsError: 0.2225 },
  { source: 'LMSYS', phase: 'decode', error: 0.1903, partsError: 0.215 },
  { source: 'LMSYS', phase: 'decode', error: 0.0826, partsError: 0.2195 },
  { source: 'LMSYS', phase: 'prefill', error: -0.1322, partsError: 0.2098 },
  { source: 'DeepSeek', phase: 'prefill', error: -0.1228, partsError: 0.1294 },
  { source: 'DeepSeek', phase: 'decode', error: -0.113, partsError: 0.1033 },
  { source: 'DeepSeek', phase: 'prefill', error: 0.4554, partsError: 0.1286 },
  { source: 'DeepSeek', phase: 'decode', error: -0.0705, partsError: 0.098 },
  { source: 'vLLM', phase: 'prefill', error: -0.0331, partsError: 0.2292 },
  { source: 'vLLM', phase: 'prefill', error: -0.079, partsError: 0.2252 },
  { source: 'vLLM', phase: 'prefill', error: 0.1601, partsError: 0.2379 },
  { source: 'vLLM', phase: 'prefill', error: 0.0432, partsError: 0.2304 },
  { source: 'vLLM', phase: 'prefill', error: 0.0107, partsError: 0.239 },
  { source: 'vLLM', phase: 'prefill', error: 0.0195, partsError: 0.2315 },
  { source: 'vLLM', phase: 'prefill', error: 0.0185, partsError: 0.245 },
  { source: 'vLLM', phase: 'prefill', error: 0.0344, partsError: 0.24 },
];
