/**
 * The `cluster.profiles` of a scenario: what `epsim calibrate -o` wrote, by the path of its file or spelled out.
 * The one idea: a fit belongs to the device that was measured, so it travels with the device to whoever times it.
 * Knows no kernel: who times one looks for its own.
 */
import * as z from 'zod';
import type { DeviceSpec, KernelFit } from './cluster-spec.js';
import { type Path, type Plain, readDocument } from './document.js';
import { shownValue } from './errors.js';
import { type Reader, reader } from './reader.js';
import type { ReadFile } from './scenario-model.js';

const zError = z.number().min(0).nullable();

/** Further fields of the file, such as a summary, are for people. */
export const kernelFit = z.object({
  profile: z
    .string()
    .regex(/^[a-z0-9]+\/[a-z0-9-]+$/, 'write a system and a kernel: h200/low-latency-dispatch'),
  model: z.string(),
  parameters: z.record(z.string(), z.number().min(0)),
  range: z.record(z.string(), z.tuple([z.number(), z.number()])),
  medianError: zError,
  leaveGroupOutMedianError: zError,
  source: z.string(),
});

const HELP = 'write the path of what epsim calibrate -o wrote, or a list of such paths';

/** The device with the fits that speak for it; undefined, reported, where they cannot be read or speak for none. */
export function withFits(
  to: Reader,
  input: Plain | undefined,
  device: DeviceSpec | undefined,
  path: Path,
  readFile?: ReadFile,
): DeviceSpec | undefined {
  if (input === undefined || input === null || device === undefined) return device;
  const several = Array.isArray(input);
  const entries: readonly Plain[] = several ? input : [input];
  const before = to.problems.length;
  const fits = entries.flatMap((entry, index) => {
    const at = several ? [...path, index] : path;
    if (typeof entry === 'string') return fitsIn(to, entry, at, readFile);
    const fit = to.value(kernelFit, entry, at);
    return fit === undefined ? [] : [fit];
  });
  if (to.problems.length > before) return undefined;
  const words = device.name.toLowerCase().split(/[^a-z0-9]+/);
  const own = fits.filter(({ profile }) => words.includes(profile.split('/')[0] as string));
  if (own.length === 0) {
    const value = `${fits.map(({ profile }) => profile).join(', ') || 'nothing'} for ${device.name}`;
    const help = 'measure this device, or name the device that was measured';
    to.report(path, { kind: 'wrong', subject: 'device', value, help });
    return undefined;
  }
  return { ...device, fits: own };
}

/** The fits of a file; their sources say which. Problems inside it are reported with its own lines. */
function fitsIn(to: Reader, file: string, path: Path, readFile: ReadFile | undefined): KernelFit[] {
  let text: string;
  try {
    if (readFile === undefined) throw new Error('no files can be read here');
    text = readFile(file, path.join('.'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    to.report(path, {
      kind: 'unreadable',
      subject: 'file',
      value: shownValue(file),
      help: `${why}; ${HELP}`,
    });
    return [];
  }
  const document = readDocument(text, file);
  const inside = reader(document);
  const fits =
    document.data === null
      ? []
      : inside.value(z.array(kernelFit).min(1), document.data.profiles, ['profiles']);
  to.problems.push(...inside.problems);
  return (fits ?? []).map((fit) => ({ ...fit, source: `${fit.profile} of ${file}: ${fit.source}` }));
}

/**
 * The lowest share of a nominal rate that the fits to exchanges state, by the name of their parameter; undefined
 * where none states it. For those who time links without a kernel.
 */
export function fittedFraction(
  device: DeviceSpec,
  parameter: 'upFraction' | 'outFraction',
): KernelFit | undefined {
  const of = (fit: KernelFit) => fit.parameters[parameter] ?? Number.POSITIVE_INFINITY;
  return (device.fits ?? [])
    .filter((fit) => Number.isFinite(of(fit)) && /(dispatch|combine|alltoall)$/.test(fit.profile))
    .sort((a, b) => of(a) - of(b))[0];
}
