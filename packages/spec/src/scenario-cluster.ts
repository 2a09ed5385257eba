/**
 * The `cluster` of a scenario: a preset with changes, or device, domains and links spelled out with units.
 */
import type { Catalog } from './catalog.js';
import type { ClusterSpec, DeviceSpec, KernelFit, LinkSpec, RankOverride } from './cluster-spec.js';
import { longForm, type Path, type Plain, type PlainObject } from './document.js';
import { knownNames, shownValue } from './errors.js';
import { clusterPresets } from './presets/clusters/registry.js';
import { devicePresets } from './presets/devices/registry.js';
import { exactQuantity } from './quantity.js';
import { entryName, entryOptions, type FieldValues, type Reader, without } from './reader.js';
import { fittedFraction, withFits } from './scenario-fits.js';
import type { ReadFile } from './scenario-model.js';
import { clusterFields, deviceFields, linkFields } from './scenario-schema.js';

const PARTS = ['device', 'scaleUp', 'scaleOut', 'topology', 'profiles'] as const;

export interface ReadCluster {
  readonly cluster: ClusterSpec | undefined;
  /** Known even where the rest could not be read. */
  readonly rankCount: number | undefined;
}

/** The cluster, or undefined with every reason reported. */
export function readCluster(
  to: Reader,
  input: Plain | undefined,
  catalog: Catalog,
  readFile?: ReadFile,
): ReadCluster {
  const path: Path = ['cluster'];
  const help = 'write { preset: gb200-nvl72, ranks: 64 }, or ranks, device, domainRanks and scaleUp';
  const fields = to.object(typeof input === 'string' ? longForm(input) : input, path, help);
  if (!fields) return { cluster: undefined, rankCount: undefined };
  const before = to.problems.length;
  const read = to.fields(clusterFields, fields, path, PARTS);
  const base = read.preset === undefined ? undefined : presetOf(to, read.preset, path);
  const rankCount = read.ranks ?? (Object.hasOwn(fields, 'ranks') ? undefined : base?.rankCount);
  const bare = readDevice(to, fields.device, base?.device, [...path, 'device']);
  const device = withFits(to, fields.profiles, bare, [...path, 'profiles'], readFile);
  const fit = (parameter: 'upFraction' | 'outFraction') => device && achievedBy(device, parameter);
  const up = base?.topology.scaleUp;
  const scaleUp = readLink(to, fields.scaleUp, up, [...path, 'scaleUp'], fit('upFraction'));
  const out = base?.topology.scaleOut;
  const scaleOut = readScaleOut(to, fields.scaleOut, out, [...path, 'scaleOut'], fit('outFraction'));
  const topology = readTopology(to, fields.topology, base, catalog, [...path, 'topology']);
  const domainRanks = read.domainRanks ?? base?.topology.domainRanks;
  if (!base) needed(to, fields, path);
  const complete = rankCount && device && scaleUp && scaleOut !== undefined && topology && domainRanks;
  if (to.problems.length > before || !complete) return { cluster: undefined, rankCount };
  const dollars = read.dollarsPerHour ?? base?.dollarsPerHour;
  const cluster: ClusterSpec = {
    name: read.name ?? base?.name ?? 'custom',
    source: read.source ?? base?.source ?? 'the scenario',
    rankCount,
    device,
    topology: { ...topology, domainRanks, scaleUp, scaleOut },
    overrides: (read.overrides ?? []).map(defined<RankOverride>),
    ...(dollars === undefined ? {} : { dollarsPerHour: dollars }),
  };
  return { cluster, rankCount };
}

/** Reports the fields that a cluster without a preset cannot do without. */
function needed(to: Reader, fields: PlainObject, path: Path): void {
  const wanted = { ranks: 'ranks: 64', device: 'device: h100-sxm', domainRanks: 'domainRanks: 8' };
  const links = { scaleUp: 'scaleUp: { bandwidth: 450 GB/s, latency: 2 us, achieved: 0.7 }' };
  if (Object.hasOwn(fields, 'preset')) return;
  for (const [key, example] of Object.entries({ ...wanted, ...links })) {
    if (Object.hasOwn(fields, key)) continue;
    const help = `write "${example}", or name a preset`;
    to.report([...path, key], { kind: 'missing', subject: 'field', value: '', help });
  }
}

function presetOf(to: Reader, name: string, path: Path): ClusterSpec | undefined {
  if (Object.hasOwn(clusterPresets, name)) return clusterPresets[name as keyof typeof clusterPresets].cluster;
  const help = knownNames(name, Object.keys(clusterPresets));
  to.report([...path, 'preset'], {
    kind: 'unknown',
    subject: 'cluster preset',
    value: shownValue(name),
    help,
  });
  return undefined;
}

function readDevice(
  to: Reader,
  input: Plain | undefined,
  base: DeviceSpec | undefined,
  path: Path,
): DeviceSpec | undefined {
  if (input === undefined) return base;
  const help = 'write a device such as h100-sxm, or its memory, memoryBandwidth and bf16';
  const fields = to.object(typeof input === 'string' ? { preset: input } : input, path, help);
  if (!fields) return undefined;
  const read = to.fields(deviceFields, fields, path);
  let from = base;
  if (read.preset !== undefined) {
    if (!Object.hasOwn(devicePresets, read.preset)) {
      const names = knownNames(read.preset, Object.keys(devicePresets));
      const value = shownValue(read.preset);
      to.report([...path, 'preset'], { kind: 'unknown', subject: 'device', value, help: names });
      return undefined;
    }
    from = devicePresets[read.preset as keyof typeof devicePresets].device;
  }
  const memoryBytes = read.memory ?? from?.memoryBytes;
  const memoryBytesPerSec = read.memoryBandwidth ?? from?.memoryBytesPerSec;
  const bf16 = read.bf16 ?? from?.flopsPerSec.bf16;
  if (!from) {
    for (const key of ['memory', 'memoryBandwidth', 'bf16'] as const) {
      if (!Object.hasOwn(fields, key))
        to.report([...path, key], { kind: 'missing', subject: 'field', value: '', help });
    }
  }
  if (memoryBytes === undefined || memoryBytesPerSec === undefined || bf16 === undefined) return undefined;
  const changed = Object.keys(fields).some((key) => key !== 'preset' && key !== 'name' && key !== 'source');
  return defined<DeviceSpec>({
    name: read.name ?? from?.name ?? 'custom',
    memoryBytes,
    memoryBytesPerSec,
    flopsPerSec: defined({
      ...from?.flopsPerSec,
      bf16,
      fp8: read.fp8 ?? from?.flopsPerSec.fp8,
      fp4: read.fp4 ?? from?.flopsPerSec.fp4,
    }),
    watts: read.power ?? from?.watts,
    smCount: read.smCount ?? from?.smCount,
    source: read.source ?? sourceOf(from?.source, changed),
  });
}

function sourceOf(base: string | undefined, changed: boolean): string {
  if (base === undefined) return 'the scenario';
  return changed ? `${base}; changed by the scenario` : base;
}

function readScaleOut(
  to: Reader,
  input: Plain | undefined,
  base: LinkSpec | null | undefined,
  path: Path,
  fitted: LinkSpec['achieved'] | undefined,
): LinkSpec | null | undefined {
  if (input === null || (input === undefined && !base)) return null;
  return readLink(to, input, base ?? undefined, path, fitted);
}

function readLink(
  to: Reader,
  input: Plain | undefined,
  base: LinkSpec | undefined,
  path: Path,
  fitted: LinkSpec['achieved'] | undefined,
): LinkSpec | undefined {
  if (input === undefined) return base && fitted ? { ...base, achieved: fitted } : base;
  const help = 'write { bandwidth: 50 GB/s, latency: 5 us, achieved: 0.8 }';
  const fields = to.object(input, path, help);
  if (!fields) return undefined;
  const read = to.fields(linkFields, fields, path);
  if (!base) {
    for (const key of ['bandwidth', 'latency'] as const) {
      if (!Object.hasOwn(fields, key))
        to.report([...path, key], { kind: 'missing', subject: 'field', value: '', help });
    }
  }
  const bytesPerSec = read.bandwidth ?? base?.bytesPerSec;
  const latencyNs = read.latency ?? base?.latencyNs;
  if (bytesPerSec === undefined || latencyNs === undefined) return undefined;
  const changed = read.bandwidth !== undefined || read.latency !== undefined;
  return {
    bytesPerSec,
    latencyNs,
    achieved: achievedOf(read, base, fitted),
    source: read.source ?? sourceOf(base?.source, changed),
  };
}

/** What a user's own fits say of a link; undefined where they say nothing. */
function achievedBy(
  device: DeviceSpec,
  parameter: 'upFraction' | 'outFraction',
): LinkSpec['achieved'] | undefined {
  const fit: KernelFit | undefined = fittedFraction(device, parameter);
  if (fit === undefined) return undefined;
  const fraction = Math.min(1, fit.parameters[parameter] as number);
  return { fraction, source: fit.source, provenance: 'fitted' };
}

/** As written, else as the user measured it, else as published. */
function achievedOf(
  read: FieldValues<typeof linkFields>,
  base: LinkSpec | undefined,
  fitted: LinkSpec['achieved'] | undefined,
): LinkSpec['achieved'] {
  if (typeof read.achieved === 'object') return read.achieved;
  if (read.achieved !== undefined) {
    return { fraction: read.achieved, source: 'the scenario', provenance: 'derived' };
  }
  return (
    fitted ??
    base?.achieved ?? {
      fraction: 1,
      source: 'not stated: the nominal rate is assumed',
      provenance: 'derived',
    }
  );
}

function readTopology(
  to: Reader,
  input: Plain | undefined,
  base: ClusterSpec | undefined,
  catalog: Catalog,
  path: Path,
): { readonly kind: string; readonly options: PlainObject } | undefined {
  const help = 'write { kind: nvlink-domain } and the options of that kind';
  const fields = to.object(typeof input === 'string' ? { kind: input } : (input ?? {}), path, help);
  if (!fields) return undefined;
  const standard = base?.topology.kind ?? Object.keys(catalog.topology)[0];
  const written = Object.hasOwn(fields, 'kind') ? fields.kind : standard;
  const kind = entryName(to, catalog.topology, 'topology', written, [...path, 'kind']);
  if (kind === undefined) return undefined;
  const kept = base && base.topology.kind === kind ? (base.topology.options as PlainObject) : {};
  const options = entryOptions(to, catalog.topology[kind], { ...kept, ...without(fields, ['kind']) }, path, [
    'kind',
  ]);
  return options && { kind, options };
}

/** The value without its undefined fields, which exact optional fields do not allow. */
function defined<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** What to write for `cluster` so that it reads as this cluster, every figure with its unit. */
export function writtenCluster(cluster: ClusterSpec): unknown {
  const { device, topology } = cluster;
  const { bf16, fp8, fp4 } = device.flopsPerSec;
  const flops = (value: number | undefined) =>
    value === undefined ? undefined : exactQuantity('flops', value);
  const link = (spec: LinkSpec) => ({
    bandwidth: exactQuantity('bandwidth', spec.bytesPerSec),
    latency: exactQuantity('duration', spec.latencyNs),
    achieved: spec.achieved,
    source: spec.source,
  });
  return defined({
    name: cluster.name,
    source: cluster.source,
    ranks: cluster.rankCount,
    device: defined({
      name: device.name,
      memory: exactQuantity('bytes', device.memoryBytes),
      memoryBandwidth: exactQuantity('bandwidth', device.memoryBytesPerSec),
      bf16: flops(bf16),
      fp8: flops(fp8),
      fp4: flops(fp4),
      power: device.watts === undefined ? undefined : exactQuantity('power', device.watts),
      smCount: device.smCount,
      source: device.source,
    }),
    profiles: device.fits,
    domainRanks: topology.domainRanks,
    scaleUp: link(topology.scaleUp),
    scaleOut: topology.scaleOut === null ? null : link(topology.scaleOut),
    topology: { kind: topology.kind, ...topology.options },
    overrides: cluster.overrides,
    dollarsPerHour:
      cluster.dollarsPerHour === undefined ? undefined : exactQuantity('price', cluster.dollarsPerHour),
  });
}
