/**
 * Mistakes of the user that only a router can find, in the form that all such mistakes are told.
 * The file and line are not known here; the path in the scenario is.
 */
import { type Problem, UserError } from '@epsim/spec';

/** One problem at `path` of a scenario, as an error to throw. */
export function userMistake(
  path: string,
  what: Pick<Problem, 'kind' | 'subject' | 'value' | 'help'>,
): UserError {
  return new UserError([{ file: '', line: null, path, ...what }]);
}
