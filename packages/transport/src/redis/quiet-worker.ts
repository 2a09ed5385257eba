/**
 * BullMQ's worker, made safe to close at any moment. Closed while its connection is still being opened, or while
 * Redis is away, BullMQ emits an error that nobody listens to any more, and Node ends the process.
 */
import type { EventEmitter } from 'node:events';
import { type Processor, Worker, type WorkerOptions } from 'bullmq';

/** What BullMQ keeps to itself of its second connection. */
interface Inner {
  readonly blockingConnection: EventEmitter & { readonly _client: { disconnect(): void } };
}

export class QuietWorker extends Worker {
  constructor(name: string, processor: Processor, options: WorkerOptions) {
    super(name, processor, options);
    // Lost connections and lost locks are not errors here: the job is done again, by us or by another worker.
    this.on('error', ignore);
    const { blockingConnection } = this as unknown as Inner;
    for (const connection of [this.connection as EventEmitter, blockingConnection]) {
      const remove = connection.removeAllListeners.bind(connection);
      connection.removeAllListeners = (event?: string | symbol) => {
        remove(event);
        return connection.on('error', ignore);
      };
    }
  }

  /** Lets go of its connection without a farewell, for when Redis does not answer one. */
  abandon(): void {
    (this as unknown as Inner).blockingConnection._client.disconnect();
  }
}

function ignore(): void {}
