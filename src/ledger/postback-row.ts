/**
 * The inbox row of one postback, as the ledger's transaction writes it.
 *
 * @module
 */
import type { Answer, Outcome, PostbackEntry } from '../outcome.js'

/** Everything kept of one call. The raw parts are bytes, so that an odd byte can never fail its own credit. */
export interface PostbackRow {
  /** UUIDv7, given when the call arrived. */
  readonly id: string
  /** The configured network's name, or the name as called where no such network is configured. */
  readonly network: string
  readonly receivedAt: Date
  readonly method: string
  /** The raw request target as it arrived. */
  readonly url: Buffer
  /** The headers that a check may need, as one JSON object. */
  readonly headers: string
  readonly body: Buffer
  readonly ip: string
  readonly outcome: Outcome
  readonly reason: string | null
  readonly verified: boolean
  readonly test: boolean
  /** Null where the call held none that the id grammar accepts. */
  readonly transactionId: string | null
  readonly idSpace: string | null
  readonly transactionKey: string | null
  readonly entry: PostbackEntry | null
  readonly user: string | null
  /** Minor units. */
  readonly amount: bigint | null
  readonly answer: Answer
  /** From the call's arrival to the writing of this row. */
  readonly milliseconds: number
  /** Waits for a person or for a later call; a ledger entry of the same key closes it too. */
  readonly open: boolean
}

/** Outcomes that wait for a person, or for a later call that succeeds. */
export function isOpenOutcome(outcome: Outcome, verified: boolean): boolean {
  if (outcome === 'held' || outcome === 'unknown_user' || outcome === 'conflict') return true
  return outcome === 'malformed' && verified
}
