/**
 * Whether rebalancing pays: what it saves on every step against what a move costs once.
 * Plain arithmetic on three times; how they were found is the caller's.
 */

export interface NetBenefit {
  /** Part of a step's time that the new placement saves; negative when it is slower. */
  readonly savedFraction: number;
  /** Part of the old steps' time that one move costs, spread over the interval; null without an interval. */
  readonly costFraction: number | null;
  /** Fewest steps between moves for which the savings cover the move; null when none do. */
  readonly breakEvenSteps: number | null;
  /** The answer in a sentence. */
  readonly sentence: string;
}

/**
 * Step time before and after a move in nanoseconds, and what the move costs in all (what it adds to the steps
 * it disturbs, when it runs beside them). `everySteps` is the interval asked about, when there is one.
 * Throws RangeError on times that are not positive, or a negative cost.
 */
export function netBenefit(
  stepNsBefore: number,
  stepNsAfter: number,
  moveNs: number,
  everySteps?: number,
): NetBenefit {
  if (!(stepNsBefore > 0 && stepNsAfter > 0 && moveNs >= 0)) {
    throw new RangeError(
      `netBenefit: times must be positive: ${stepNsBefore}, ${stepNsAfter}, move ${moveNs}`,
    );
  }
  if (everySteps !== undefined && !(everySteps > 0)) {
    throw new RangeError(`netBenefit: everySteps must be positive, not ${everySteps}`);
  }
  const savedNs = stepNsBefore - stepNsAfter;
  const savedFraction = savedNs / stepNsBefore;
  const costFraction = everySteps === undefined ? null : moveNs / (everySteps * stepNsBefore);
  const breakEvenSteps = savedNs > 0 ? Math.max(1, Math.ceil(moveNs / savedNs)) : null;
  return {
    savedFraction,
    costFraction,
    breakEvenSteps,
    sentence: sentenceOf(savedFraction, costFraction, breakEvenSteps, everySteps),
  };
}

function sentenceOf(
  saved: number,
  cost: number | null,
  breakEven: number | null,
  everySteps: number | undefined,
): string {
  if (breakEven === null) {
    const slower =
      saved < 0 ? `a step takes ${percent(-saved)} longer after it` : 'a step is no faster after it';
    return `rebalancing does not pay: ${slower}`;
  }
  if (cost === null || everySteps === undefined) {
    return `rebalancing saves ${percent(saved)} of a step and pays from ${grouped(breakEven)} steps between moves`;
  }
  const both = `rebalancing every ${grouped(everySteps)} steps saves ${percent(saved)} and costs ${percent(cost)}`;
  return everySteps >= breakEven ? both : `${both}: it does not pay below ${grouped(breakEven)} steps`;
}

/** One decimal place, or two significant digits where that would read 0.0. */
function percent(fraction: number): string {
  const value = fraction * 100;
  return `${value === 0 || value >= 0.1 ? value.toFixed(1) : value.toPrecision(2)} %`;
}

/** 1234567 as 1,234,567. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
