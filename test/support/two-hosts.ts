/**
 * Two hosts on one machine: network namespaces with a cable between them, which can be pulled, and made long where
 * the kernel can. Needs no root: both live in a user namespace of their own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { ended } from './redis.js';

export interface Host {
  readonly address: string;
  /** What stands before a command that runs there. */
  readonly prefix: readonly string[];
}

export interface TwoHosts {
  readonly near: Host;
  readonly far: Host;
  /** The cable is out: nothing passes, and nobody is told. */
  part(): void;
  join(): void;
  /** Everything takes so long each way. */
  delay(ms: number): void;
  close(): Promise<void>;
}

/** Why there can be no two hosts here, or no long cable; null where there can. */
export const noHosts = reasonOf('ip link add cable type veth peer name other');
export const noDelay =
  noHosts ??
  reasonOf('ip link add cable type veth peer name other && tc qdisc add dev cable root netem delay 50ms');

function reasonOf(commands: string): string | null {
  const { status, stderr, error } = spawnSync('unshare', ['-Urn', 'sh', '-c', commands], {
    encoding: 'utf8',
  });
  return status === 0 ? null : `${commands}: ${error?.message ?? stderr.trim()}`;
}

export async function twoHosts(): Promise<TwoHosts> {
  const wait = ['sh', '-c', 'ip link set lo up; echo ready; exec sleep 600'];
  const first = await ready('unshare', ['-Urn', ...wait]);
  const inside = (pid: number | undefined) => [
    ...['nsenter', '-t', String(pid), '-U', '-n', '--preserve-credentials'],
  ];
  const near = { address: '10.77.0.1', prefix: inside(first.pid) };
  const second = await ready(near.prefix[0], [...near.prefix.slice(1), 'unshare', '-n', ...wait]);
  const far = { address: '10.77.0.2', prefix: inside(second.pid) };
  const on = ({ prefix }: Host, command: string) => {
    const { status, stderr } = spawnSync(prefix[0], [...prefix.slice(1), ...command.split(' ')], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
  };
  on(near, `ip link add cable type veth peer name cable netns ${second.pid}`);
  for (const host of [near, far]) {
    on(host, `ip addr add ${host.address}/24 dev cable`);
    on(host, 'ip link set cable up');
  }
  return {
    near,
    far,
    part: () => on(near, 'ip link set cable down'),
    join: () => on(near, 'ip link set cable up'),
    delay: (ms) => {
      for (const host of [near, far]) on(host, `tc qdisc add dev cable root netem delay ${ms}ms`);
    },
    close: async () => {
      for (const host of [second, first]) {
        host.kill('SIGKILL');
        await ended(host);
      }
    },
  };
}

async function ready(command: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout?.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code}`)));
  });
  return child;
}
