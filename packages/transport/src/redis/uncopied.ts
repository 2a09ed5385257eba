/**
 * A command whose long arguments are written to the socket as they are. The client's own commands copy all arguments
 * into one buffer first, which costs as much as sending it.
 * The socket is to be corked, so that the pieces leave together.
 */
import type { Writable } from 'node:stream';
import { Command } from 'ioredis';

/** Shorter ones are cheaper to copy than to write apart. */
const LONG_BYTES = 16_384;

export class UncopiedCommand extends Command {
  /** Writes all but the end of the command, and returns that. */
  override toWritable(socket: object): string | Buffer {
    if (!this.args.some((arg) => Buffer.isBuffer(arg) && arg.length >= LONG_BYTES)) {
      return super.toWritable(socket);
    }
    const out = socket as Writable;
    out.write(`*${this.args.length + 1}\r\n$${this.name.length}\r\n${this.name}\r\n`);
    for (const arg of this.args as (string | Buffer)[]) {
      out.write(`$${Buffer.byteLength(arg)}\r\n`);
      out.write(arg);
      out.write('\r\n');
    }
    return '';
  }
}
