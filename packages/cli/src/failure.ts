/**
 * From anything thrown to what the user reads and the exit code that scripts see.
 * Codes are a contract: 0 done, 1 our fault, 2 wrong command line or input, 3 no feasible answer, 4 a worker,
 * transport or Redis failed beyond recovery, 130 interrupted.
 */
import { RunFolderError } from '@epsim/results';
import { UserError } from '@epsim/spec';
import { ClusterFailure, TransportError } from '@epsim/transport';
import { CommanderError } from 'commander';

export const exitCodes = {
  done: 0,
  fault: 1,
  usage: 2,
  infeasible: 3,
  transport: 4,
  interrupted: 130,
} as const;

/** A wrong command line or file, in one line: place, value and repair. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The run was interrupted; `kept` says what is finished and where. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A worker, Redis or the disk failed beyond recovery; the message says what is kept and how to go on. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** No layout, placement or policy meets what was asked; the message says what misses by how much. */
export class Infeasible extends Error {
  override readonly name = 'Infeasible';
}

export interface Failure {
  readonly code: number;
  /** Lines for standard error; empty when they have been written already. */
  readonly message: string;
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof CommanderError) {
    return { code: thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage, message: '' };
  }
  if (isUsersMistake(thrown)) {
    return { code: exitCodes.usage, message: thrown.message };
  }
  if (thrown instanceof Infeasible) return { code: exitCodes.infeasible, message: thrown.message };
  if (thrown instanceof Stopped) return { code: exitCodes.transport, message: thrown.message };
  const cause = causeOfStop(thrown);
  if (cause !== null) return { code: exitCodes.transport, message: cause };
  if (thrown instanceof Interrupted) return { code: exitCodes.interrupted, message: thrown.message };
  const refused = refusedByTheSystem(thrown);
  if (refused !== null) return { code: exitCodes.usage, message: refused };
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { code: exitCodes.fault, message: `epsim: a fault of ours, please report it: ${text}` };
}

const fullDisk: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than is allowed',
  EIO: 'the disk does not answer',
  EROFS: 'the disk cannot be written to',
};

/** Why a run cannot go on, when that is the fault of something outside it; null for any other error. */
export function causeOfStop(thrown: unknown): string | null {
  if (thrown instanceof TransportError || thrown instanceof ClusterFailure) return thrown.message;
  const { code, path } = (thrown ?? {}) as NodeJS.ErrnoException;
  const why = code === undefined ? undefined : fullDisk[code];
  return why === undefined ? null : path === undefined ? why : `${path}: ${why}`;
}

/**
 * Libraries throw a RangeError for what a caller asks and nothing can do, and here the caller is the user.
 * The engine's own, a stack that is too deep, is a fault of ours.
 */
function isUsersMistake(thrown: unknown): thrown is Error {
  if (thrown instanceof RangeError) return !thrown.message.includes('call stack');
  return thrown instanceof UserError || thrown instanceof UsageError || thrown instanceof RunFolderError;
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EEXIST: 'something else has that name',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  ENOENT: 'no such file or folder',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'links lead in a circle',
  EINVAL: 'the system refuses it',
};

/** A path that the user named and the system will not read or write, with the reason; null for any other error. */
function refusedByTheSystem(thrown: unknown): string | null {
  const { code, path } = (thrown ?? {}) as NodeJS.ErrnoException;
  const why = code === undefined ? undefined : refusals[code];
  return why === undefined || path === undefined ? null : `${path}: ${why}; name another path`;
}
