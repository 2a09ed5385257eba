/**
 * How many groups a token's choices touch when choices are uniform and distinct.
 * The one idea: a group is missed when all choices fall outside it.
 */

/**
 * Expected number of groups with at least one of `choices` distinct experts, out of `groups` equal groups of
 * `experts` in all. K3 over 8 ranks: 7.07. Exact for whole numbers.
 */
export function distinctGroups(groups: number, experts: number, choices: number): number {
  const perGroup = experts / groups;
  let missed = 1;
  for (let i = 0; i < choices; i++) missed *= Math.max(0, experts - perGroup - i) / (experts - i);
  return groups * (1 - missed);
}
