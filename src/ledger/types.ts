/**
 * The words of the ledger.
 *
 * - claim: what one verified postback asks the ledger to book.
 * - entry: the kind of movement; a ledger entry is one immutable signed balance change, or a recorded
 *   decision of amount 0.
 * - transaction key: the network's transaction id, or the parts of a composite key joined by U+001F.
 * - id space: the key's first part, the network's name unless the configuration says otherwise.
 * - tombstone: the zero credit and zero reversal written when a reversal finds no credit.
 *
 * @module
 */
import type { PostbackEntry } from '../outcome.js'

/** The kinds of movement; together with id space and transaction key they form the idempotency key. */
export type EntryKind = PostbackEntry | 'withdrawal' | 'withdrawal_return' | 'adjustment'

/**
 * How an entry came to be. `tombstone` and `refused` are decisions of amount 0; `orphan` is a reversal whose
 * wallet was gone, so that no balance moved.
 */
export type EntryDecision = 'booked' | 'tombstone' | 'refused' | 'orphan'

/** What a rule, a pause or a profile says about a claim before the ledger is asked. */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'hold'; readonly reason: string }
  | { readonly kind: 'refuse'; readonly reason: string }

export const OPEN_GATE: Gate = Object.freeze({ kind: 'open' })

/** What one verified postback asks the ledger to book. All texts are already checked by the id and amount grammars. */
export interface Claim {
  /** The postback's own id (UUIDv7), given before the group; it tells a re-run what it wrote itself. */
  readonly postbackId: string
  readonly network: string
  readonly idSpace: string
  readonly transactionKey: string
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
  /** The network marked this as a test. */
  readonly test: boolean
  /** Tests of this network are recorded only: outcome `test`, nothing booked. */
  readonly recordOnly: boolean
  readonly gate: Gate
  readonly eventId: string | null
  readonly offer: string | null
  readonly payout: string | null
  /** Who did it and why, where it was a person or a command and not a network. */
  readonly actor: string | null
  readonly reason: string | null
}

/** What the ledger holds for one entry of a transaction key; the part of a ledger entry that decides. */
export interface StoredEntry {
  readonly entry: PostbackEntry
  readonly user: string
  readonly amount: bigint
  readonly receivedAmount: string | null
  readonly unit: string | null
  readonly test: boolean
  readonly imported: boolean
  readonly decision: EntryDecision
  readonly postbackId: string | null
}

/** Everything stored for one transaction key. */
export interface StoredPair {
  readonly credit: StoredEntry | null
  readonly reversal: StoredEntry | null
}

export const NOTHING_STORED: StoredPair = Object.freeze({ credit: null, reversal: null })

/** An entry that `decide` wants written; the group adds the balance after it. */
export interface PlannedEntry {
  readonly entry: EntryKind
  readonly user: string
  readonly amount: bigint
  readonly decision: EntryDecision
  /** Whether this entry changes the balance of `user`. */
  readonly movesBalance: boolean
  readonly reason: string | null
}

/** One row of the ledger as it is written. */
export interface EntryRow extends PlannedEntry {
  readonly idSpace: string
  readonly network: string
  readonly transactionKey: string
  readonly transactionId: string
  readonly balanceAfter: bigint | null
  readonly test: boolean
  readonly imported: boolean
  readonly postbackId: string | null
  readonly eventId: string | null
  readonly offer: string | null
  readonly payout: string | null
  readonly receivedAmount: string | null
  readonly unit: string | null
  readonly rate: string | null
  readonly actor: string | null
}

/** One row of the ledger as it is read back. */
export interface LedgerEntry extends Omit<EntryRow, 'movesBalance'> {
  /** The store's running number as text: larger is later within one wallet. */
  readonly id: string
  readonly createdAt: Date
  readonly cleared: boolean
}
