/**
 * How fast a device really runs a kind of kernel: a few fractions of its nominal figures, and a start cost.
 * The one idea: everything is a fraction of what the vendor states, so a profile fitted on one device
 * can be tried on another. A profile is plain data; fitting it is not done here.
 */
import type { Provenance } from '@epsim/spec';

/** Number format that the multiply units run in; picks the device's peak. */
export type ComputeFormat = 'bf16' | 'fp8' | 'fp4';

/** A grouped multiply over the experts of one rank: gate and up, activation, down, and the rows around them. */
export interface ExpertKernel {
  /** Launches and everything else that is paid once per layer. */
  readonly startNs: number;
  /** Fraction of the memory bandwidth at which weights of activated experts stream in. */
  readonly memoryFraction: number;
  /** Fraction of the peak at which whole tiles are multiplied. */
  readonly computeFraction: number;
  readonly computeFormat: ComputeFormat;
  /** Rows of a tile: an expert's rows are rounded up to whole tiles. Several when the kernel picks by load. */
  readonly tileRows: readonly number[];
  /** The smallest tile is taken whose rows x this exceed the mean rows of an expert. */
  readonly tileFill: number;
  /**
   * Which rows the kernel's choice of tile looks at: those of the experts here ('own'), or all that were
   * presented to it, including rows of experts that live elsewhere ('presented').
   */
  readonly tileLoad: 'own' | 'presented';
  /** Fraction of an expert's weights that each further tile reads again. */
  readonly rereadFraction: number;
  /** How weight streaming and multiplying combine: 1 adds them, large values take the longer one. */
  readonly overlapExponent: number;
  /** Fraction of the memory bandwidth at which presented rows are permuted in and out, 16 bits both ways. */
  readonly permuteFraction: number;
  /** Paid once per tile, beside its streaming and multiplying. */
  readonly tileNs: number;
  /** The inner size is computed in whole blocks of so many columns; it shows where tensor parallelism cuts it. */
  readonly innerBlock: number;
}

/** Ordinary matrix products, attention and element-wise kernels: a roofline with a start. */
export interface DenseKernel {
  /** Paid once per kernel. */
  readonly startNs: number;
  readonly memoryFraction: number;
  readonly computeFraction: number;
  /** As in `ExpertKernel`: 1 adds the memory and the compute side, large values take the longer one. */
  readonly overlapExponent: number;
}

/** Where a profile was fitted; outside, its error bar doubles. */
export interface ProfileRange {
  /** Mean rows of an expert of the rank, smallest and largest. */
  readonly rowsPerExpert: readonly [number, number];
  /** Experts that live on the rank. */
  readonly expertsPerRank: readonly [number, number];
  /** Columns of a row as an expert reads it, and of the inner size that one rank computes. */
  readonly expertWidth: readonly [number, number];
  readonly expertInnerSize: readonly [number, number];
}

export interface DeviceProfile {
  readonly name: string;
  /** Device the figures were measured on, by the name of its preset. */
  readonly device: string;
  /** The library and number formats that ran. */
  readonly kernel: string;
  readonly provenance: Provenance;
  readonly source: string;
  readonly experts: ExpertKernel;
  readonly dense: DenseKernel;
  /** Attention proper: scores, weighted sums and recurrent states. */
  readonly attention: DenseKernel;
  readonly range: ProfileRange;
  /** Median |predicted / measured - 1| over the rows it was fitted to; null when nothing was measured. */
  readonly medianError: number | null;
  /** The same over rows of a degree that was left out of the fit. */
  readonly leaveOutError: number | null;
}
