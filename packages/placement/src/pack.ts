/**
 * Packs weighted items into packs of fixed size, heaviest item first, each into the lightest pack with room
 * (EPLB, `balanced_packing`; Graham's longest processing time first).
 */

export interface Packing {
  /** Pack of each item, [itemCount]. */
  readonly pack: Int32Array;
  /** Place of each item within its pack, [itemCount]. */
  readonly position: Int32Array;
}

/**
 * Packs items of `weights` ([itemCount]) into packs of `capacity` ([packCount]) items, which must have room.
 * Sums in single precision and gives ties to the lower pack and the lower item, as the published form does.
 * With `speed` ([packCount]) the pack that would finish first takes the item.
 */
export function packBalanced(weights: Float32Array, capacity: Int32Array, speed?: Float64Array): Packing {
  const pack = new Int32Array(weights.length);
  const position = new Int32Array(weights.length);
  // Published: with one item a pack, item i goes to pack i.
  if (!speed && weights.length === capacity.length && capacity.every((room) => room === 1)) {
    return { pack: pack.map((_, i) => i), position };
  }
  const packWeight = new Float32Array(capacity.length);
  const packItems = new Int32Array(capacity.length);
  for (const item of heaviestFirst(weights)) {
    let lightest = -1;
    let least = Infinity;
    for (let p = 0; p < capacity.length; p++) {
      if (packItems[p] === capacity[p]) continue;
      const weight = speed ? (packWeight[p] + weights[item]) / speed[p] : packWeight[p];
      if (lightest < 0 || weight < least) {
        least = weight;
        lightest = p;
      }
    }
    pack[item] = lightest;
    position[item] = packItems[lightest]++;
    packWeight[lightest] += weights[item];
  }
  return { pack, position };
}

/**
 * Item numbers by falling weight, equal weights in order, [itemCount].
 * The bits of a float that is not negative sort as it does, so weight and number fit one sortable double:
 * a numeric sort without a callback. At most 2^20 items.
 */
export function heaviestFirst(weights: Float32Array): Int32Array {
  const bits = new Uint32Array(weights.slice().buffer);
  const keys = new Float64Array(weights.length);
  for (let i = 0; i < keys.length; i++) keys[i] = (0xffffffff - bits[i]) * 2 ** 20 + i;
  keys.sort();
  return Int32Array.from(keys, (key) => key % 2 ** 20);
}
