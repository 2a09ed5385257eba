/**
 * vLLM's log with EPLB on: lines `EPLB step: avg_tokens=..., max_tokens=..., balancedness=...`, tokens of the mean
 * and the busiest rank summed over layers. It says how balanced ranks were and nothing about experts.
 */

import { plural } from '@epsim/spec';
import { utf8 } from '../formats/bytes.js';
import { fileList, type Importer } from './importer.js';

const LINE = /EPLB step: avg_tokens=([\d.]+), max_tokens=([\d.]+), balancedness=([\d.]+)/;

export const vllmEplbLog: Importer = {
  summary: 'vLLM log lines "EPLB step: avg_tokens=..., max_tokens=..., balancedness=..."',
  detect: (file) => !file.bytes.subarray(0, 4096).includes(0) && LINE.test(utf8(file.bytes)),
  read: async (files, hints) => {
    const means: number[] = [];
    const maxima: number[] = [];
    let idle = 0;
    for (const file of files) {
      utf8(file.bytes)
        .split('\n')
        .forEach((line, i) => {
          const found = LINE.exec(line);
          if (found === null) return;
          const [mean, max, balancedness] = found.slice(1).map(Number);
          if (max === 0) {
            idle++;
            return;
          }
          // The log rounds the mean to hundredths and the ratio to ten-thousandths.
          if (!(Math.abs(mean / max - balancedness) < 0.01 / max + 0.001)) {
            throw new RangeError(
              `${file.name}:${i + 1}: balancedness=${balancedness} is not ${mean} / ${max}`,
            );
          }
          means.push(mean);
          maxima.push(max);
        });
    }
    if (means.length === 0) throw new RangeError(`${fileList(files)}: no EPLB step with tokens`);
    return {
      kind: 'balance',
      model: hints.model ?? null,
      source: `vllm-eplb-log: ${fileList(files)}`,
      notes: idle > 0 ? [`${plural(idle, 'step')} without tokens left out`] : [],
      meanTokens: Float64Array.from(means),
      maxTokens: Float64Array.from(maxima),
    };
  },
};
