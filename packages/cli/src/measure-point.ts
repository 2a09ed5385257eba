/** One scenario run for its numbers alone, here; Ctrl-C ends it between two records. */

import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { type Measured, measure } from '@epsim/engine';
import type { Scenario } from '@epsim/spec';
import { Interrupted } from './failure.js';
import { version } from './version.js';

export async function measurePoint(
  scenario: Scenario,
  readFile: (path: string) => Uint8Array,
  signal: AbortSignal,
  onRecord: () => void = () => {},
): Promise<Measured> {
  return measure(scenario, {
    ...{ readFile, version },
    onRecord: async () => {
      onRecord();
      await eventLoopTurn();
      if (signal.aborted) throw new Interrupted('interrupted');
    },
  });
}
