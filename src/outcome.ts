/**
 * What a postback led to, and the answer that leaves. An outcome is a value, never an exception.
 *
 * @module
 */

/** Outcomes that a verified claim can have after it met the ledger. */
export const LEDGER_OUTCOMES = [
  'credited',
  'reversed',
  'duplicate',
  'already_reversed',
  'conflict',
  'tombstoned',
  'refused',
  'held',
  'unknown_user',
  'test',
  'ignored',
] as const

/** Outcomes of calls that never reached the ledger, or whose fate the ledger could not settle. */
export const OTHER_OUTCOMES = [
  'malformed',
  'bad_signature',
  'ip_not_allowed',
  'overloaded',
  'failed',
] as const

export const OUTCOMES = [...LEDGER_OUTCOMES, ...OTHER_OUTCOMES] as const

export type Outcome = (typeof OUTCOMES)[number]

/** The two kinds of movement that a postback can ask for. */
export type PostbackEntry = 'credit' | 'reversal'

/** What goes back to the network: short text with a status, never a redirect. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** What became of one postback, with the reason that an operator reads (a stable code, not a sentence). */
export interface Settled {
  readonly outcome: Outcome
  /** A stable code such as `unknown_user` or `too_many_decimals`, optionally followed by `: detail`. */
  readonly reason: string | null
}
