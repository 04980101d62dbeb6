/**
 * @module
 */
import { EXIT } from './failure.js'
import type { Tally } from './tally.js'

/** A call that nobody answered is work that failed; what the answers say is the caller's to judge. */
export function shotExit({ failures }: Tally): number {
  return failures.length === 0 ? EXIT.fine : EXIT.found
}
