/**
 * Other tools' outputs that are understood as they are. A new one is a file and a line here.
 */
import { aiconfigurator } from './aiconfigurator.js';
import { deepEpOutput } from './deepep-output.js';
import type { ForeignReader } from './foreign-reader.js';
import { ncclOutput } from './nccl-output.js';

export const foreignReaders = {
  'deepep-tests': deepEpOutput,
  'nccl-tests': ncclOutput,
  aiconfigurator,
} as const satisfies Record<string, ForeignReader>;
