/**
 * JSON text of a value whose numbers are all finite, keys in the order in which the value holds them.
 * JSON has no NaN: `JSON.stringify` would write null and a later reader would take it for "absent".
 * Throws an Error that names the key when a number is not finite.
 */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (key, item: unknown) => {
      if (typeof item === 'number' && !Number.isFinite(item)) {
        throw new Error(`invariant: ${key} is ${item}; a result is a finite number`);
      }
      return item;
    },
    indent,
  );
}
