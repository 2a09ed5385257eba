/** What the name of a device says: "B200 SXM", "b200_sxm" and "NVIDIA B200" are one device. */

/** Words of a name in lower case: "H200 SXM" gives h200 and sxm. */
export function deviceWords(name: string): readonly string[] {
  return name.toLowerCase().split(/[^a-z0-9]+/);
}

/** Letters that a name starts with: h for H100, gb for GB200. */
export function deviceGeneration(name: string): string {
  return /^[a-z]+/.exec(name.toLowerCase())?.[0] ?? '';
}
