/**
 * Errors of published serving throughputs, a source left out of the fit of its own rows: predicted / published - 1,
 * and what the errors of the step's parts come to. `npm run docs` writes it from `validateEndToEnd`.
 */
import type { ScoredFigure } from './error-bar.js';

export const scoredRows: readonly ScoredFigure[] = [
  { source: 'LMSYS', phase: 'prefill', error: -0.1292, partsError: 0.1335 },
  { source: 'LMSYS', phase: 'prefill', error: -0.0986, partsError: 0.1345 },
  { source: 'LMSYS', phase: 'prefill', error: -0.0622, partsError: 0.1364 },
  { source: 'LMSYS', phase: 'decode', error: 0.0964, partsError: 0.2208 },
  { source: 'LMSYS', phase: 'decode', error: -0.0778, partsError: 0.227 },
  { source: 'LMSYS', phase: 'decode', error: 0.1683, partsError: 0.2184 },
  { source: 'LMSYS', phase: 'decode', error: 0.0487, partsError: 0.224 },
  { source: 'LMSYS', phase: 'prefill', error: -0.1638, partsError: 0.139 },
  { source: 'DeepSeek', phase: 'prefill', error: -0.1559, partsError: 0.0705 },
  { source: 'DeepSeek', phase: 'decode', error: 0.0375, partsError: 0.091 },
  { source: 'DeepSeek', phase: 'prefill', error: 0.4653, partsError: 0.0763 },
  { source: 'DeepSeek', phase: 'decode', error: 0.0735, partsError: 0.0983 },
  { source: 'vLLM', phase: 'prefill', error: 0.001, partsError: 0.2192 },
  { source: 'vLLM', phase: 'prefill', error: -0.0469, partsError: 0.216 },
  { source: 'vLLM', phase: 'prefill', error: 0.2009, partsError: 0.2196 },
  { source: 'vLLM', phase: 'prefill', error: 0.0792, partsError: 0.2144 },
  { source: 'vLLM', phase: 'prefill', error: 0.0461, partsError: 0.2211 },
  { source: 'vLLM', phase: 'prefill', error: 0.0547, partsError: 0.2158 },
  { source: 'vLLM', phase: 'prefill', error: 0.0611, partsError: 0.2194 },
  { source: 'vLLM', phase: 'prefill', error: 0.0766, partsError: 0.2163 },
];
