/** Answers that are kept: each question is worked out once. */

/** `find` with its answers kept by key. */
export function memo<K, V>(find: (key: K) => V): (key: K) => V {
  return memoBy((key: K) => key, find);
}

/** `find` with its answers kept by what `keyOf` makes of the question. */
export function memoBy<Q, K, V>(keyOf: (question: Q) => K, find: (question: Q) => V): (question: Q) => V {
  const known = new Map<K, V>();
  return (question) => {
    const key = keyOf(question);
    let value = known.get(key);
    if (value === undefined) {
      value = find(question);
      known.set(key, value);
    }
    return value;
  };
}
