/**
 * Slot arithmetic: how many slots it takes, and who gets them when they do not divide.
 * The one idea: a remainder is spread one by one over the first ranks, never piled on the last.
 */
import { NO_EXPERT, type Placement } from '@epsim/spec';
import type { PlacementInput } from './policy.js';

/** The smallest number of equal slots per rank that holds every expert once: ceil(E / R). */
export function leastSlotsPerRank(expertCount: number, rankCount: number): number {
  checkCounts(expertCount, rankCount);
  return Math.ceil(expertCount / rankCount);
}

/** The smallest number of redundant experts with which all ranks have equally many slots: (R - E mod R) mod R. */
export function leastRedundantExperts(expertCount: number, rankCount: number): number {
  checkCounts(expertCount, rankCount);
  return (rankCount - (expertCount % rankCount)) % rankCount;
}

/** The rank counts that divide the experts with no redundancy, ascending. */
export function dividingRankCounts(expertCount: number): number[] {
  checkCounts(expertCount, 1);
  const small: number[] = [];
  const large: number[] = [];
  for (let ranks = 1; ranks * ranks <= expertCount; ranks++) {
    if (expertCount % ranks !== 0) continue;
    small.push(ranks);
    if (ranks * ranks !== expertCount) large.unshift(expertCount / ranks);
  }
  return [...small, ...large];
}

/** `slotCount` slots over `rankCount` ranks, [rankCount]: they differ by at most one, larger first. */
export function evenSlots(slotCount: number, rankCount: number): Int32Array {
  if (!Number.isSafeInteger(slotCount) || slotCount < 0) {
    throw new RangeError(`slot count must be a whole number, not ${slotCount}`);
  }
  checkCounts(1, rankCount);
  const each = Math.floor(slotCount / rankCount);
  const more = slotCount % rankCount;
  return Int32Array.from({ length: rankCount }, (_, rank) => each + (rank < more ? 1 : 0));
}

/** Where the slots of each rank begin, [rankCount + 1]. */
export function slotOffsetsOf(slotsPerRank: Int32Array): Int32Array {
  const offsets = new Int32Array(slotsPerRank.length + 1);
  for (let rank = 0; rank < slotsPerRank.length; rank++) {
    offsets[rank + 1] = offsets[rank] + slotsPerRank[rank];
  }
  return offsets;
}

/** The rank of each slot, [slotCount]. */
export function rankOfSlots(placement: Pick<Placement, 'rankCount' | 'slotOffsets'>): Int32Array {
  const { rankCount, slotOffsets } = placement;
  const ranks = new Int32Array(slotOffsets[rankCount]);
  for (let rank = 0; rank < rankCount; rank++) ranks.fill(rank, slotOffsets[rank], slotOffsets[rank + 1]);
  return ranks;
}

/** The slots that hold each expert, ascending, [expertCount][replicas]. */
export function slotsByExpert(placement: Placement): number[][] {
  const slots: number[][] = Array.from({ length: placement.expertCount }, () => []);
  placement.slotExpert.forEach((expert, slot) => {
    if (expert !== NO_EXPERT) slots[expert].push(slot);
  });
  return slots;
}

/** Throws RangeError when the parts of `input` do not fit together or there are fewer slots than experts. */
export function checkInput(input: PlacementInput): void {
  const { loads, rankCount, slotsPerRank, rankSpeed, rankExpertLoads, previous, domainRanks } = input;
  checkCounts(loads.length, rankCount);
  expectLength('slotsPerRank', slotsPerRank, rankCount, '[rankCount]');
  if (rankSpeed) expectLength('rankSpeed', rankSpeed, rankCount, '[rankCount]');
  if (rankExpertLoads) {
    expectLength('rankExpertLoads', rankExpertLoads, rankCount * loads.length, '[rankCount x expertCount]');
    expectLoads('rankExpertLoads', rankExpertLoads);
  }
  expectLoads('loads', loads);
  if (!(Number.isSafeInteger(domainRanks) && domainRanks > 0)) {
    throw new RangeError(`domainRanks must be a positive whole number, not ${domainRanks}`);
  }
  if (rankSpeed?.some((speed) => !(speed > 0 && speed < Infinity))) {
    throw new RangeError('rankSpeed must be positive; leave a rank that is down without slots instead');
  }
  if (previous && (previous.rankCount !== rankCount || previous.expertCount !== loads.length)) {
    throw new RangeError(
      `previous placement is of ${previous.expertCount} experts on ${previous.rankCount} ranks, ` +
        `the loads of ${loads.length} experts on ${rankCount} ranks`,
    );
  }
  checkSlotCount(loads.length, slotsPerRank);
}

/** Throws RangeError, naming the least that is enough, when the slots cannot hold every expert once. */
export function checkSlotCount(expertCount: number, slotsPerRank: Int32Array): void {
  let slotCount = 0;
  for (const slots of slotsPerRank) {
    if (slots < 0) throw new RangeError(`slotsPerRank must not be negative: ${slots}`);
    slotCount += slots;
  }
  if (slotCount >= expertCount) return;
  const ranks = slotsPerRank.length;
  const even = slotsPerRank.every((slots) => slots === slotsPerRank[0]);
  const sum = even ? `${ranks} ranks x ${slotsPerRank[0]} = ${slotCount}` : `${slotCount}`;
  const least = leastSlotsPerRank(expertCount, ranks);
  throw new RangeError(
    `too few slots: ${sum} < ${expertCount} experts; use ${least} or more per rank ` +
      `(${least * ranks} in all, ${least * ranks - expertCount} redundant), or ${expertCount} uneven ones`,
  );
}

function checkCounts(expertCount: number, rankCount: number): void {
  if (!Number.isSafeInteger(expertCount) || expertCount < 1) {
    throw new RangeError(`expert count must be a positive whole number, not ${expertCount}`);
  }
  if (!Number.isSafeInteger(rankCount) || rankCount < 1) {
    throw new RangeError(`rank count must be a positive whole number, not ${rankCount}`);
  }
}

function expectLength(name: string, array: ArrayLike<number>, length: number, shape: string): void {
  if (array.length !== length) {
    throw new RangeError(`${name} has ${array.length} entries, expected ${length} ${shape}`);
  }
}

function expectLoads(name: string, loads: Float64Array): void {
  const at = loads.findIndex((load) => !(load >= 0 && load < Infinity));
  if (at >= 0) throw new RangeError(`${name}[${at}] must be a finite number >= 0, not ${loads[at]}`);
}
