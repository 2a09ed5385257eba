/**
 * Values computed once, when they are first asked for, and kept: solving a layer takes milliseconds, keeping it
 * kilobytes.
 */

/** Gives the kept value of a key, else computes and keeps it; the oldest goes when `capacity` are kept. */
export function keeper<T>(capacity: number): (key: number, compute: () => T) => T {
  const kept = new Map<number, T>();
  return (key, compute) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const value = compute();
    if (kept.size >= capacity) kept.delete(kept.keys().next().value as number);
    kept.set(key, value);
    return value;
  };
}
