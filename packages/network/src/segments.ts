/**
 * Halves of paths, each listed once: what many flows have in common on their way.
 * One idea: all flows of a sender leave by the same few runs of links and all flows to a receiver arrive by the
 * same few, so a path is a pair of small numbers however many links it has.
 * Does not know how links are shared.
 */
import type { Flows } from './flows.js';

/** The flows at hand: all of `flows`, or those listed, with the bytes that each still has to send. */
export interface FlowsLeft {
  readonly count: number;
  /** Index in the full list of flows, ascending, [count or more]; null = all. */
  readonly flow: Int32Array | null;
  /** [count or more] */
  readonly left: Float64Array;
}

export interface Segments {
  readonly count: number;
  /** Links of segment i: links[offsets[i]] .. links[offsets[i + 1] - 1]. */
  readonly offsets: Int32Array;
  readonly links: Int32Array;
  /** Segment of each flow at hand, [flows at hand]. */
  readonly ofFlow: Int32Array;
}

/** Finds the distinct first or second halves of the paths of flows; of an odd path the first half is the longer one. */
export function findSegments(flows: Flows, at: FlowsLeft, half: 'first' | 'second'): Segments {
  const { pathOffsets, pathLinks } = flows;
  const ofFlow = new Int32Array(at.count);
  const known = segmentTable();
  for (let i = 0; i < at.count; i++) {
    const f = at.flow === null ? i : at.flow[i];
    const middle = (pathOffsets[f] + pathOffsets[f + 1] + 1) >> 1;
    ofFlow[i] =
      half === 'first'
        ? known.idOf(pathLinks, pathOffsets[f], middle)
        : known.idOf(pathLinks, middle, pathOffsets[f + 1]);
  }
  return { ...known.list(), ofFlow };
}

/** Numbers runs of links in the order in which they are first seen; a hash table with open addressing. */
function segmentTable() {
  let count = 0;
  let offsets = new Int32Array(256);
  let links = new Int32Array(1024);
  let hashes = new Int32Array(256);
  /** A power of 2 long, at most half full. */
  let slots = new Int32Array(512).fill(-1);
  /** The segment that last ended in each of some links. */
  const recent = new Int32Array(1 << 14);

  function same(id: number, path: Int32Array, begin: number, end: number): boolean {
    const first = offsets[id];
    if (offsets[id + 1] - first !== end - begin) return false;
    for (let hop = begin; hop < end; hop++) if (links[first + hop - begin] !== path[hop]) return false;
    return true;
  }

  function add(path: Int32Array, begin: number, end: number, hash: number): number {
    const first = offsets[count];
    if (count + 2 > offsets.length) {
      offsets = doubled(offsets, count + 2);
      hashes = doubled(hashes, count + 2);
    }
    links = doubled(links, first + end - begin);
    for (let hop = begin; hop < end; hop++) links[first + hop - begin] = path[hop];
    hashes[count] = hash;
    offsets[count + 1] = first + end - begin;
    count += 1;
    if (2 * count > slots.length) {
      slots = new Int32Array(4 * slots.length).fill(-1);
      for (let id = 0; id < count; id++) slots[freeSlot(hashes[id])] = id;
    } else slots[freeSlot(hash)] = count - 1;
    return count - 1;
  }

  function freeSlot(hash: number): number {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] >= 0) slot = (slot + 1) & mask;
    return slot;
  }

  return {
    idOf(path: Int32Array, begin: number, end: number): number {
      const place = path[end - 1] & (recent.length - 1);
      if (recent[place] < count && same(recent[place], path, begin, end)) return recent[place];
      let hash = end - begin;
      for (let hop = begin; hop < end; hop++) {
        hash = Math.imul(hash ^ path[hop], 0x9e3779b1);
        hash ^= hash >>> 15;
      }
      const mask = slots.length - 1;
      let slot = hash & mask;
      while (slots[slot] >= 0) {
        const id = slots[slot];
        if (hashes[id] === hash && same(id, path, begin, end)) {
          recent[place] = id;
          return id;
        }
        slot = (slot + 1) & mask;
      }
      recent[place] = add(path, begin, end, hash);
      return recent[place];
    },
    list: () => ({ count, offsets: offsets.slice(0, count + 1), links: links.slice(0, offsets[count]) }),
  };
}

function doubled(array: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  if (needed <= array.length) return array;
  const larger = new Int32Array(Math.max(needed, 2 * array.length));
  larger.set(array);
  return larger;
}
