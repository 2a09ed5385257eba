/**
 * The miniature's words: the line end, then the 95 printable ASCII characters. 96 in all.
 */

/** Ids of a text. Throws RangeError for a character outside the vocabulary. */
export function encodeText(text: string): Int32Array {
  return Int32Array.from([...text], (letter, at) => {
    const code = letter.codePointAt(0) ?? -1;
    if (letter === '\n') return 0;
    if (code < 32 || code > 126) throw new RangeError(`character ${at} (${letter}) is not printable ASCII`);
    return code - 31;
  });
}

export function decodeText(ids: ArrayLike<number>): string {
  return Array.from(ids, (id) => (id === 0 ? '\n' : String.fromCodePoint(id + 31))).join('');
}
