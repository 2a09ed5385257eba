/**
 * The points of a comparison or a sweep: all combinations of what `--vary` names, or else of what the scenario's own
 * `vary` names, each read before the first one runs, so that no mistake is found late.
 */
import { type Scenario, settingText } from '@epsim/spec';
import { UsageError } from './failure.js';
import { loadScenario, readerBeside } from './scenario-file.js';
import { gridOf, overridesOf, type Point, parseVariation, type Variation } from './variations.js';

export interface ScenarioPoint {
  readonly values: Point;
  /** The scenario at this point; it varies no further. */
  readonly scenario: Scenario;
  /** Reads the files that it names. */
  readonly readFile: (path: string) => Uint8Array;
}

/** Throws UsageError where nothing varies, UserError with what is wrong at any point. */
export function readPoints(
  path: string,
  set: readonly string[],
  vary: readonly string[],
): { readonly vary: readonly string[]; readonly points: readonly ScenarioPoint[] } {
  const asked = vary.map(parseVariation);
  const variations = asked.length > 0 ? asked : ownVariations(path, set);
  const points = gridOf(variations).map((values): ScenarioPoint => {
    const overrides = overridesOf(values);
    // Files that the command line names count from where the user stands, those of the scenario from its folder.
    const [settings, point] = asked.length > 0 ? [[...set, ...overrides], []] : [set, overrides];
    const scenario = { ...loadScenario(path, settings, point), vary: null };
    return { values, scenario, readFile: readerBeside(path, settings) };
  });
  return { vary: variations.map((variation) => variation.path), points };
}

function ownVariations(path: string, set: readonly string[]): Variation[] {
  const { vary } = loadScenario(path, set);
  if (vary === null) {
    throw new UsageError(
      `${path}: nothing varies; write --vary routing.policy=top-k,quantile, or a "vary" section in the file`,
    );
  }
  return Object.entries(vary).map(([name, values]) => ({ path: name, values: values.map(settingText) }));
}
