/**
 * What is known of an exchange kernel on a system: its fitted numbers, where they hold, and how far to trust them.
 */

export interface LinkProfile {
  /** Times in ns, rates as fractions of the nominal rate of one port, one direction. */
  readonly parameters: Readonly<Record<string, number>>;
  readonly source: string;
  /** Rows that were fitted span this: ep, tokens, hidden, bytes. */
  readonly range: Readonly<Record<string, readonly [number, number]>>;
  readonly medianError: number;
  /** Median error of rows of a group that the fit did not see. */
  readonly leaveOutError: number;
}
