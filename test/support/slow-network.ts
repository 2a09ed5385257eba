/** A stretch of network between two processes: it delays what passes, and can be parted and joined again. */
import { connect, createServer, type Socket } from 'node:net';

export interface SlowNetwork {
  readonly port: number;
  /** Nothing passes, and nobody is told, as when a cable is pulled. */
  part(): void;
  /** What was held back passes, and all that follows. */
  join(): void;
  close(): void;
}

export async function slowNetwork(to: number, delayMs: number): Promise<SlowNetwork> {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let parted = false;
  const pass = (from: Socket, into: Socket) => {
    sockets.add(from);
    from.on('data', (bytes) => {
      setTimeout(() => {
        const write = () => void (into.writable && into.write(bytes));
        if (parted) held.push(write);
        else write();
      }, delayMs);
    });
    from.on('close', () => setTimeout(() => into.destroy(), delayMs));
    from.on('error', () => into.destroy());
  };
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    part: () => {
      parted = true;
    },
    join: () => {
      parted = false;
      for (const write of held.splice(0)) write();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
