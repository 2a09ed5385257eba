/**
 * Figures of the machines that tables name, from the device presets.
 * The one idea: "b200_sxm", "B200 SXM" and "NVIDIA B200" are one device, found by the word that only it has.
 */
import { deviceWords } from '@epsim/model';
import { type DeviceSpec, devicePresets } from '@epsim/spec';

export interface SystemFigures {
  /** Short name that profiles use: b200, gb200, h100. */
  readonly system: string;
  readonly device: DeviceSpec;
  /** Nominal, one direction, of one device. */
  readonly scaleUpBytesPerSec: number;
  readonly scaleOutBytesPerSec: number;
  readonly domainRanks: number;
  readonly smCount: number;
}

/** Streaming multiprocessors where a preset does not state them: those of the current generation. */
export const USUAL_SM_COUNT = 148;

/** Figures of a named system; null when no preset has its name or its links. */
export function systemFigures(name: string): SystemFigures | null {
  const wanted = deviceWords(name);
  for (const [presetName, preset] of Object.entries(devicePresets)) {
    const system = deviceWords(presetName)[0] as string;
    if (!wanted.includes(system) || preset.scaleUpBytesPerSec === null) continue;
    const device: DeviceSpec = preset.device;
    return {
      system,
      device,
      scaleUpBytesPerSec: preset.scaleUpBytesPerSec,
      scaleOutBytesPerSec: preset.nicBytesPerSec ?? 0,
      domainRanks: preset.domainRanks,
      smCount: device.smCount ?? USUAL_SM_COUNT,
    };
  }
  return null;
}
