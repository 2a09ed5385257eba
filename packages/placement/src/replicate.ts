/**
 * Which experts get the redundant slots: each next one goes to the expert with the most load per replica.
 * That is the best choice for the heaviest replica, one step at a time (EPLB, `replicate_experts`).
 */

export interface Replicas {
  /** Item of each replica, [replicaCount]: every item once in order, then the redundant ones as made. */
  readonly item: Int32Array;
  /** Which replica of its item it is, [replicaCount], from 0. */
  readonly copy: Int32Array;
  /** Load of each replica, [replicaCount]: the item's load over its replicas. */
  readonly loads: Float32Array;
  /** Replicas of each item, [itemCount]. */
  readonly counts: Int32Array;
}

/**
 * `replicaCount` replicas of the items with `loads` ([itemCount]), at most `mostCopies` of each.
 * Makes fewer when every item has `mostCopies`. Equal loads per replica go to the lower item.
 * Divides in single precision, as the published form does.
 */
export function replicate(loads: Float32Array, replicaCount: number, mostCopies = Infinity): Replicas {
  const counts = new Int32Array(loads.length).fill(1);
  const perReplica = Float32Array.from(loads);
  const made = Math.min(replicaCount, loads.length * mostCopies);
  const item = new Int32Array(made);
  const copy = new Int32Array(made);
  for (let i = 0; i < loads.length; i++) item[i] = i;
  for (let i = loads.length; i < made; i++) {
    const heaviest = indexOfMax(perReplica);
    item[i] = heaviest;
    copy[i] = counts[heaviest]++;
    // An item with all its copies leaves the contest; loads are never negative.
    perReplica[heaviest] = counts[heaviest] < mostCopies ? loads[heaviest] / counts[heaviest] : -1;
  }
  return { item, copy, loads: Float32Array.from(item, (of) => loads[of] / counts[of]), counts };
}

function indexOfMax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}
