/**
 * Finds the word that a mistyped one was meant to be.
 *
 * @module
 */

/** The known word closest to `given`, or null where none is near enough to be a slip of the keyboard. */
export function nearestKey(given: string, known: readonly string[]): string | null {
  const limit = Math.max(2, Math.floor(given.length / 3))
  let best: string | null = null
  let bestDistance = limit + 1
  for (const word of known) {
    const distance = editDistance(given.toLowerCase(), word.toLowerCase())
    if (distance < bestDistance) {
      best = word
      bestDistance = distance
    }
  }
  return best
}

/** Levenshtein's distance, one row at a time; an unknown key may be long, so it is cut first. */
function editDistance(a: string, b: string): number {
  const left = a.slice(0, 64)
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (left[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
