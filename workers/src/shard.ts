/** Serves shards on a worker thread: one call in, one answer out. */
import { createShardHandler } from '@epsim/engine';

// The pool that starts this thread takes a module's default export.
const handle = createShardHandler();
export default handle;
