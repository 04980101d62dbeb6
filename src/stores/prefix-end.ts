/**
 * Prefixes as ranges, which an index serves and in which no character is a wildcard.
 *
 * @module
 */

/** The smallest text beyond every text with this prefix, in byte order of UTF-8; null where there is none. */
export function prefixEnd(prefix: string): string | null {
  const points = Array.from(prefix)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0
    if (point < 0x10ffff) {
      // Surrogates are no characters: after U+D7FF comes U+E000.
      return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
    }
  }
  return null
}
