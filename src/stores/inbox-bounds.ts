/**
 * What bounds the inbox's upkeep, the same on every store: how far a look goes, and what a clean-up may take.
 *
 * @module
 */
import type { Outcome } from '../outcome.js'

/** The newest rows among which sender addresses are looked up: a start must never read the whole inbox. */
export const ADDRESS_ROWS = 20_000

/**
 * Rows that are deleted although they are still open: their network was told that the call was not delivered, so
 * nothing was promised. A held row or a conflict stays until somebody decides about it.
 */
export const PRUNED_THOUGH_OPEN: readonly Outcome[] = ['unknown_user', 'malformed']

/** The same as a list for SQL's `in`; the words are ours and need no escape. */
export const PRUNED_THOUGH_OPEN_SQL = `(${PRUNED_THOUGH_OPEN.map((outcome) => `'${outcome}'`).join(', ')})`

/** Rows of other outcomes are never open. */
export const OPEN_OUTCOMES: readonly Outcome[] = ['held', 'unknown_user', 'conflict', 'malformed']

/** Open rows that an entry of the same key closes by itself. */
export const CLOSED_BY_ENTRY: readonly Outcome[] = ['unknown_user', 'held']

/** The same for SQL's `in`. */
export const CLOSED_BY_ENTRY_SQL = `(${CLOSED_BY_ENTRY.map((outcome) => `'${outcome}'`).join(', ')})`

/**
 * A row of this outcome always has an entry of its user and its transaction in the ledger, which leads to it. So the
 * indexes of the inbox by user and by transaction leave such rows out, and a credit does not pay for them.
 */
export const LED_TO_BY_LEDGER: Outcome = 'credited'

/** Of a row `p` that those indexes hold. */
export const NOT_LED_TO_SQL = `p.outcome <> '${LED_TO_BY_LEDGER}'`

const LAST_TIME = 2 ** 48 - 1

/**
 * The smallest UUIDv7 of a moment (RFC 9562, section 5.7: the first 48 bits are Unix milliseconds). Every row that
 * arrived earlier has a smaller id, so that the primary key alone finds the old ones.
 */
export function firstIdAt(time: Date): string {
  const milliseconds = Math.min(Math.max(Math.trunc(time.getTime()), 0), LAST_TIME)
  const digits = milliseconds.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`
}
