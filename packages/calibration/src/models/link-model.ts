/**
 * Models of an exchange over links: a fixed part, and bytes over an achieved rate.
 * The one idea: every published exchange kernel follows start + messages + bytes / rate closely; they differ in
 * which of these they have. Contention and uneven pairs belong to the network package, not here.
 */
import { combine } from '@epsim/model';
import { type Parameter, recordOf, rememberLast, type TimeModel } from '../experiment.js';
import type { SystemFigures } from '../systems.js';

/** What one rank sends in one exchange. */
export interface Exchange {
  /** Bytes that leave the rank inside its scale-up domain, and those that leave the domain. */
  readonly scaleUpBytes: number;
  readonly scaleOutBytes: number;
  /** Messages or flags that are written whatever the bytes: experts, or ranks. */
  readonly messages: number;
  /** Rows that one multiprocessor has to pack; 0 where that never limits. */
  readonly rowsPerUnit: number;
}

export interface LinkParameters {
  /** Before the first byte, inside a domain. */
  readonly startNs: number;
  readonly perMessageNs: number;
  /** Achieved fraction of the nominal scale-up rate. */
  readonly upFraction: number;
  /** Further start when bytes leave the domain. */
  readonly outStartNs: number;
  /** Achieved fraction of the nominal rate of the network interface. */
  readonly outFraction: number;
  /** Packing one row on one multiprocessor. */
  readonly rowNs: number;
  /** How the fixed part and the bytes combine: 1 adds them; below 1 rates ramp up slowly. */
  readonly overlapExponent: number;
}

/** A link that costs nothing beside its bytes at nominal rates. */
export const NEUTRAL_LINK: LinkParameters = {
  startNs: 0,
  perMessageNs: 0,
  upFraction: 1,
  outStartNs: 0,
  outFraction: 1,
  rowNs: 0,
  overlapExponent: 1,
};

const bounds: Readonly<Record<keyof LinkParameters, Omit<Parameter, 'name'>>> = {
  startNs: { start: 10_000, min: 500, max: 60_000 },
  perMessageNs: { start: 10, min: 0, max: 100 },
  upFraction: { start: 0.6, min: 0.05, max: 1 },
  outStartNs: { start: 12_000, min: 0, max: 60_000 },
  outFraction: { start: 0.9, min: 0.1, max: 1 },
  rowNs: { start: 1000, min: 0, max: 10_000 },
  overlapExponent: { start: 1, min: 0.4, max: 3 },
};

function model(name: string, summary: string, ...free: readonly (keyof LinkParameters)[]): TimeModel {
  return { name, summary, parameters: free.map((key) => ({ name: key, ...bounds[key] })) };
}

export const lowLatencyModel = model(
  'low-latency',
  'start + flags per expert + remote payload over the achieved rate + packing of rows',
  'startNs',
  'perMessageNs',
  'upFraction',
  'outStartNs',
  'outFraction',
  'rowNs',
);

export const oneSidedModel = model(
  'one-sided',
  'start and remote rows over the achieved rate, partly overlapped',
  'startNs',
  'upFraction',
  'overlapExponent',
);

export const throughputModel = model(
  'throughput',
  'start + the slower of scale-up and scale-out bytes over their achieved rates',
  'startNs',
  'upFraction',
  'outFraction',
);

/** Kernels whose multiprocessors are given: their copying and the links are two limits that meet softly. */
export const unitLimitedModel: TimeModel = {
  name: 'unit-limited',
  summary: 'bandwidth of the multiprocessors that copy, and of the links at their achieved rates',
  parameters: [
    { name: 'unitBytesPerSec', start: 15e9, min: 0.5e9, max: 200e9 },
    { name: 'linkFraction', start: 0.8, min: 0.1, max: 1 },
    { name: 'overlapExponent', start: 3, min: 1, max: 12 },
  ],
};

/** Bandwidth, bytes/s, of `units` multiprocessors over links that allow `linkBytesPerSec` nominally. */
export function unitLimitedBandwidth(
  units: number,
  linkBytesPerSec: number,
  values: readonly number[],
): number {
  const [unitBytesPerSec = 1, linkFraction = 1, overlapExponent = 1] = values;
  const copyNsPerByte = 1 / (units * unitBytesPerSec);
  const linkNsPerByte = 1 / (linkBytesPerSec * linkFraction);
  return 1 / combine(copyNsPerByte, linkNsPerByte, overlapExponent);
}

/** A message of a collective is a step of the ring or tree, with its own wait. */
const STEP_BOUNDS = { start: 1000, min: 0, max: 6000 };

const plainCollective = model(
  'collective',
  'start + steps and bus bytes over the achieved rate, with a ramp',
  'startNs',
  'perMessageNs',
  'upFraction',
  'overlapExponent',
);

export const collectiveModel: TimeModel = {
  ...plainCollective,
  parameters: plainCollective.parameters.map((parameter) =>
    parameter.name === 'perMessageNs' ? { name: parameter.name, ...STEP_BOUNDS } : parameter,
  ),
};

/** Link numbers with a model's values in them; what the model lacks has no effect. */
export function linkMaker(timeModel: TimeModel): (values: readonly number[]) => LinkParameters {
  return rememberLast((values: readonly number[]) => ({ ...NEUTRAL_LINK, ...recordOf(timeModel, values) }));
}

/** Nanoseconds of one exchange. A rank that sends nothing still pays the start. */
export function exchangeNs(exchange: Exchange, system: SystemFigures, link: LinkParameters): number {
  const { scaleUpBytes, scaleOutBytes } = exchange;
  const upNs = (1e9 * scaleUpBytes) / (system.scaleUpBytesPerSec * link.upFraction);
  const outNs =
    scaleOutBytes === 0 ? 0 : (1e9 * scaleOutBytes) / (system.scaleOutBytesPerSec * link.outFraction);
  const fixedNs =
    link.startNs + link.perMessageNs * exchange.messages + (scaleOutBytes > 0 ? link.outStartNs : 0);
  const bytesNs = Math.max(upNs, outNs) + link.rowNs * exchange.rowsPerUnit;
  return combine(fixedNs, bytesNs, link.overlapExponent);
}
