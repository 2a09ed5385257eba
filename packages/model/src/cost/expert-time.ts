/**
 * Time of the routed experts of one rank from the rows that each of its slots computes.
 * The one idea: an expert costs the streaming of its weights and the multiplying of whole tiles, whichever
 * the kernel cannot hide; experts follow one another; every presented row is permuted once.
 * Knows no network and no other rank.
 */
import type { DeviceSpec, Estimate, ModelShape, MoeShape, Precision } from '@epsim/spec';
import { expertBiasElements, expertElements } from '../parameters/feed-forward-parameters.js';
import { storedBytes } from '../parameters/tensor-entry.js';
import type { DeviceProfile, ExpertKernel } from './device-profile.js';
import { profileFor } from './profiles.js';
import { combine, errorBar, peakFlops } from './roofline.js';

/** Bytes of one row element as it is permuted: 16 bits, in and out. */
const PERMUTED_BYTES = 4;

export interface ExpertLoad {
  /** Rows that each slot of one rank computes, [slots of the rank]. */
  readonly tokensPerSlot: Int32Array;
  /**
   * Rows that the kernel is handed, of which it keeps those of its own slots. Larger than the sum of
   * `tokensPerSlot` where all ranks' rows are gathered before the layer; equal after an all-to-all.
   */
  readonly presentedRows?: number;
  /** Slots that each entry stands for, [entries]; 1 each when absent. For loads kept as a histogram. */
  readonly slotsPerEntry?: Int32Array;
}

/** Sizes of one expert as it is computed here; a tensor-parallel slice has a smaller inner size. */
export interface ExpertSizes {
  readonly weightBytes: number;
  readonly flopsPerRow: number;
  readonly rowElements: number;
}

/**
 * Bytes, FLOPs per row and row width of one expert. K3 in MXFP4: 17,547,264 B, 66,060,288 FLOP, 3584.
 * `innerBlock` is the kernel's: a narrower inner size is computed as wide as whole blocks.
 */
export function expertSizes(moe: MoeShape, precision: Precision, innerBlock = 1): ExpertSizes {
  const expertInnerSize = Math.ceil(moe.expertInnerSize / innerBlock) * innerBlock;
  const elements = expertElements({ ...moe, expertInnerSize });
  return {
    weightBytes: storedBytes(elements, precision) + 2 * expertBiasElements(moe),
    flopsPerRow: 2 * elements,
    rowElements: moe.expertWidth,
  };
}

/** The tile that a kernel picks when its experts have `meanRows` rows on average. */
export function tileFor(kernel: ExpertKernel, meanRows: number): number {
  const fitting = kernel.tileRows.find((rows) => meanRows < rows * kernel.tileFill);
  return fitting ?? (kernel.tileRows.at(-1) as number);
}

/** Nanoseconds of the experts in slots `first` to `last` - 1 of a load, all of them unless said. */
export type ExpertTimer = (load: ExpertLoad, first?: number, last?: number) => number;

/** Rows and slots of a rank. */
function loadTotals(
  { tokensPerSlot, slotsPerEntry }: ExpertLoad,
  first = 0,
  last = tokensPerSlot.length,
): { rows: number; slots: number } {
  let rows = 0;
  let slots = 0;
  for (let i = first; i < last; i++) {
    const count = slotsPerEntry === undefined ? 1 : slotsPerEntry[i];
    rows += count * tokensPerSlot[i];
    slots += count;
  }
  return { rows, slots };
}

/** An expert of so many tiles. */
function tilesNs(kernel: ExpertKernel, streamNs: number, multiplyNs: number, tiles: number): number {
  const stream = streamNs * (1 + kernel.rereadFraction * (tiles - 1));
  return combine(stream, tiles * multiplyNs, kernel.overlapExponent) + tiles * kernel.tileNs;
}

/** Times ranks on one kernel: those of an expert are kept by its number of tiles, since powers are slow. */
export function expertTimer(sizes: ExpertSizes, device: DeviceSpec, kernel: ExpertKernel): ExpertTimer {
  const bandwidth = device.memoryBytesPerSec * kernel.memoryFraction;
  const streamNs = (1e9 * sizes.weightBytes) / bandwidth;
  const peak = peakFlops(device, kernel.computeFormat) * kernel.computeFraction;
  const permuteBandwidth = device.memoryBytesPerSec * kernel.permuteFraction;
  const knownOf = new Map<number, number[]>(kernel.tileRows.map((rows) => [rows, []]));
  return (load, first = 0, last = load.tokensPerSlot.length) => {
    const { tokensPerSlot, slotsPerEntry } = load;
    const { rows: own, slots } = loadTotals(load, first, last);
    const presented = load.presentedRows ?? own;
    if (presented === 0) return 0;
    const picked = kernel.tileLoad === 'own' ? own : presented;
    const tile = tileFor(kernel, picked / Math.max(1, slots));
    const multiplyNs = (1e9 * tile * sizes.flopsPerRow) / peak;
    const known = knownOf.get(tile) as number[];
    let sum = 0;
    // Neighbours often need as many tiles as the entry before: fits to sorted histograms take a fifth of the time.
    let lastTiles = 0;
    let lastNs = 0;
    for (let i = first; i < last; i++) {
      const tiles = Math.ceil(tokensPerSlot[i] / tile);
      if (tiles === 0) continue;
      if (tiles !== lastTiles) {
        lastTiles = tiles;
        lastNs = known[tiles] ??= tilesNs(kernel, streamNs, multiplyNs, tiles);
      }
      sum += slotsPerEntry === undefined ? lastNs : slotsPerEntry[i] * lastNs;
    }
    const permuteNs = (1e9 * presented * sizes.rowElements * PERMUTED_BYTES) / permuteBandwidth;
    return kernel.startNs + sum + permuteNs;
  };
}

/** What kernels were last asked about: fits ask of many loads in a row. */
const lastAsked = new WeakMap<ExpertKernel, { sizes: ExpertSizes; device: DeviceSpec; time: ExpertTimer }>();

/** Nanoseconds of one rank's experts, without provenance: the form that fitting calls. */
export function expertNs(
  load: ExpertLoad,
  sizes: ExpertSizes,
  device: DeviceSpec,
  kernel: ExpertKernel,
): number {
  const last = lastAsked.get(kernel);
  if (last !== undefined && last.device === device && sameSizes(last.sizes, sizes)) return last.time(load);
  const time = expertTimer(sizes, device, kernel);
  lastAsked.set(kernel, { sizes, device, time });
  return time(load);
}

function sameSizes(a: ExpertSizes, b: ExpertSizes): boolean {
  return (
    a.weightBytes === b.weightBytes && a.flopsPerRow === b.flopsPerRow && a.rowElements === b.rowElements
  );
}

function within(value: number, range: readonly [number, number]): boolean {
  return value >= range[0] && value <= range[1];
}

/**
 * Error bar of one rank's experts: that of degrees left out of the profile's fit, doubled where experts, their
 * rows or their shape lie outside what was measured; null when nothing was. Inner sizes cut `ways` ways.
 */
export function expertErrorBar(
  { expertWidth, expertInnerSize }: Pick<MoeShape, 'expertWidth' | 'expertInnerSize'>,
  profile: DeviceProfile,
  slots: number,
  rowsPerExpert: number,
  ways = 1,
): number | null {
  const { range } = profile;
  const inRange =
    within(slots, range.expertsPerRank) &&
    within(rowsPerExpert, range.rowsPerExpert) &&
    within(expertWidth, range.expertWidth) &&
    within(Math.ceil(expertInnerSize / ways), range.expertInnerSize);
  return errorBar(profile, inRange);
}

/**
 * Time of one rank's routed experts in one layer of `model`. A rank without rows takes no time.
 * Without a profile the fitted one of the device is taken, or that of the nearest device, and the
 * estimate says which. The error bar is that of degrees left out of the fit, doubled outside its range.
 */
export function expertComputeTime(
  model: ModelShape,
  device: DeviceSpec,
  load: Int32Array | ExpertLoad,
  profile: DeviceProfile = profileFor(device, model.precision.routedExperts),
): Estimate {
  const full: ExpertLoad = load instanceof Int32Array ? { tokensPerSlot: load } : load;
  const sizes = expertSizes(model.moe, model.precision.routedExperts, profile.experts.innerBlock);
  const { rows, slots } = loadTotals(full);
  return {
    ns: expertNs(full, sizes, device, profile.experts),
    provenance: profile.provenance,
    source: profile.source,
    relErrorBar: expertErrorBar(model.moe, profile, slots, rows / Math.max(1, slots)),
  };
}
