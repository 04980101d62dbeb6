/**
 * New ids of postbacks: UUIDs of version 7 (RFC 9562, section 5.7), which grow with time.
 *
 * @module
 */
import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

/** Random words that are drawn at once: one call for each id costs as much as to read the postback. */
const WORDS = 1024

export function postbackIds(): () => string {
  const words = new Uint32Array(WORDS)
  let next = WORDS
  const generator = new V7Generator({
    nextUint32() {
      if (next === WORDS) {
        randomFillSync(words)
        next = 0
      }
      next += 1
      return words[next - 1] as number
    },
  })
  return () => generator.generate().toString()
}
