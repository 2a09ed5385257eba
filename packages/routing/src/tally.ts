/**
 * How far a routing is from plain top-k on the same scores: retained score mass and changed choices.
 * Adds up row by row in row order, so the answer does not depend on how rows are split into ranks.
 */
import { NO_EXPERT } from '@epsim/spec';
import { createSelector } from './select.js';

export interface Tally {
  /** Choices made so far. */
  readonly made: number;
  /**
   * Chosen score mass over that of plain top-k. A token that got more than top-k's mass counts as having just that:
   * what one token has too much does not make up for what another lacks. 1 when there is nothing to retain.
   */
  readonly scoreRetention: number;
  /** Fraction of the choices made that plain top-k would not have made; 0 when there are none. */
  readonly changedChoices: number;
  /** Adds a row of `count` choices whose scores nobody knows: retention and changes become NaN. */
  addUnscored(count: number): void;
  /** Adds one row of choices, [width] at `at`, whose scores start at `offset`. */
  add(scores: Float32Array, offset: number, experts: Int32Array, at: number, width: number): void;
}

/** An empty tally for rows of `expertCount` scores and `topK` choices. */
export function createTally(expertCount: number, topK: number): Tally {
  const plain = createSelector(expertCount, topK);
  const noBias = new Float32Array(expertCount);
  let made = 0;
  let changed = 0;
  let chosenMass = 0;
  let plainMass = 0;
  return {
    get made() {
      return made;
    },
    get scoreRetention() {
      return plainMass === 0 ? 1 : chosenMass / plainMass;
    },
    get changedChoices() {
      return made > 0 ? changed / made : 0;
    },
    addUnscored(count) {
      made += count;
      plainMass = Number.NaN;
      changed = Number.NaN;
    },
    add(scores, offset, experts, at, width) {
      let count = 0;
      let mass = 0;
      for (let i = at; i < at + width; i++) {
        if (experts[i] === NO_EXPERT) continue;
        count++;
        mass += scores[offset + experts[i]];
      }
      plain.select(scores, offset, noBias);
      const cutoff = plain.values[topK - 1];
      const lastId = plain.ids[topK - 1];
      for (let i = at; i < at + width; i++) {
        const expert = experts[i];
        if (expert === NO_EXPERT) continue;
        const score = scores[offset + expert];
        if (score < cutoff || (score === cutoff && expert > lastId)) changed++;
      }
      let rowPlainMass = 0;
      for (let i = 0; i < topK; i++) rowPlainMass += plain.values[i];
      made += count;
      plainMass += rowPlainMass;
      chosenMass += Math.min(mass, rowPlainMass);
    },
  };
}
