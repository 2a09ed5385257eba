/**
 * BullMQ's worker, made safe to close at any moment. Closed while its connection is still being opened, or while
 * Redis is away, BullMQ emits an error that nobody listens to any more, and Node ends the process.
 */
import type { EventEmitter } from 'node:events';
import { type Processor, Worker, type WorkerOptions } from 'bullmq';

export class QuietWorker extends Worker {
  constructor(name: string, processor: Processor, options: WorkerOptions) {
    super(name, processor, options);
    // Lost connections and lost locks are not errors here: the job is done again, by us or by another worker.
    this.on('error', ignore);
    const { blockingConnection } = this as unknown as { readonly blockingConnection: EventEmitter };
    for (const connection of [this.connection as EventEmitter, blockingConnection]) {
      const remove = connection.removeAllListeners.bind(connection);
      connection.removeAllListeners = (event?: string | symbol) => {
        remove(event);
        return connection.on('error', ignore);
      };
    }
  }
}

function ignore(): void {}
