/**
 * What a verified postback asks to be booked, as the pure reader knows it.
 *
 * @module
 */
import type { PostbackEntry } from '../outcome.js'

/** A ledger claim without its id space and its gate, which the receiver adds. */
export interface PostbackClaim {
  readonly postbackId: string
  readonly network: string
  /** The parts of the profile's key joined by U+001F. */
  readonly transactionKey: string
  /** The id of the conversion; for a reversal, of the conversion that it takes back. */
  readonly transactionId: string
  readonly entry: PostbackEntry
  /** Empty only where a reversal came without a user. */
  readonly user: string
  /** Positive minor units; null only where a reversal came without an amount. */
  readonly amount: bigint | null
  /** The amount as received, in the network's unit and in its one canonical spelling. */
  readonly receivedAmount: string | null
  readonly unit: string
  /** Coins per unit, where the profile's amount is a payout. */
  readonly rate: string | null
  readonly test: boolean
  /** Tests of this network are recorded only. */
  readonly recordOnly: boolean
  readonly eventId: string | null
  readonly offer: string | null
  readonly payout: string | null
  readonly actor: string | null
  readonly reason: string | null
}
