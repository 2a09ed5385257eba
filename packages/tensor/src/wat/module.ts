/**
 * The whole kernel as one WebAssembly module in text form. Read at build time only:
 * scripts/build-kernel.mjs assembles it into kernel-bytes.ts.
 */
import { codecsText } from './codecs.js';
import { fillText } from './fill.js';
import { gemmText } from './gemm.js';
import { mathsText } from './maths.js';
import { rowsText } from './rows.js';
import { topKText } from './top-k.js';

/** Text of the module that imports `env.memory`, which is either shared between threads or not. */
export function kernelText(shared: boolean): string {
  return `(module (import "env" "memory" (memory 0 65536 ${shared ? 'shared' : ''}))
${[gemmText(), fillText(), mathsText(), rowsText(), topKText(), codecsText()].join('\n')})`;
}
