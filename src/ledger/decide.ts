/**
 * The rule: one pure function of what is stored, whether the wallet exists, and what arrives.
 *
 * A row found is final, because entries never change. An absence is a guess that the database's unique key
 * confirms or refutes at the write.
 *
 * @module
 */
import type { Settled } from '../outcome.js'
import type { Claim, PlannedEntry, StoredEntry, StoredPair } from './types.js'

/** What happens to a credit whose user has no wallet. `create` never reaches `decide`: the wallet is made first. */
export type UnknownUserPolicy = 'retry' | 'create' | 'hold'

/** The fate of one claim and the entries to write for it, in key order (credit before reversal). */
export interface Decision extends Settled {
  readonly entries: readonly PlannedEntry[]
}

/** The wallet whose balance this claim may change, or null where it changes none whatever the wallet holds. */
export function walletOf(stored: StoredPair, claim: Claim): string | null {
  if (claim.recordOnly && claim.test) return null
  if (stored.credit === null && stored.reversal === null) {
    return claim.entry === 'credit' && claim.gate.kind !== 'hold' ? claim.user : null
  }
  return canBeReversed(stored, claim) && claim.gate.kind !== 'hold'
    ? (stored.credit as StoredEntry).user
    : null
}

/**
 * Decides one claim.
 *
 * @param walletExists whether the wallet named by `walletOf` exists; ignored where that is null.
 * @example
 * ```ts
 * import { decide, NOTHING_STORED, type Claim } from 'paidonce/testing'
 *
 * declare const claim: Claim // a credit
 * decide(NOTHING_STORED, true, claim).outcome // "credited"
 * ```
 */
export function decide(
  stored: StoredPair,
  walletExists: boolean,
  claim: Claim,
  unknownUser: UnknownUserPolicy = 'retry',
): Decision {
  if (claim.test && claim.recordOnly) return settle('test', 'test_recorded_only')
  const own = ownOutcome(stored, claim)
  if (own !== null) return own
  if (stored.credit !== null || stored.reversal !== null) return decideStored(stored, walletExists, claim)
  if (claim.gate.kind === 'hold') return settle('held', claim.gate.reason)
  if (claim.entry === 'reversal') return tombstone(claim)
  if (!walletExists) {
    return settle(unknownUser === 'hold' ? 'held' : 'unknown_user', 'unknown_user')
  }
  if (claim.gate.kind === 'refuse') {
    const { reason } = claim.gate
    return {
      outcome: 'refused',
      reason,
      entries: [planned('credit', claim.user, 0n, 'refused', reason)],
    }
  }
  return {
    outcome: 'credited',
    reason: null,
    entries: [planned('credit', claim.user, required(claim.amount), 'booked', claim.reason)],
  }
}

/** What a re-run after a lost COMMIT reply finds of its own, so that a first delivery is never called a copy. */
function ownOutcome(stored: StoredPair, claim: Claim): Decision | null {
  const mine = claim.entry === 'credit' ? stored.credit : stored.reversal
  if (mine === null || mine.postbackId === null || mine.postbackId !== claim.postbackId) return null
  if (claim.entry === 'credit') {
    return mine.decision === 'refused' ? settle('refused', null) : settle('credited', null)
  }
  return mine.decision === 'tombstone'
    ? settle('tombstoned', 'reversal_without_credit')
    : settle('reversed', noteOf(stored.credit as StoredEntry, claim))
}

function decideStored(stored: StoredPair, walletExists: boolean, claim: Claim): Decision {
  const credit = stored.credit as StoredEntry
  if (claim.entry === 'credit') return decideLateCredit(credit, claim)
  if (stored.reversal !== null) return settle('already_reversed', noteOf(credit, claim))
  if (credit.decision === 'refused') return settle('already_reversed', 'credit_was_refused')
  if (claim.gate.kind === 'hold') return settle('held', claim.gate.reason)
  const entry = walletExists
    ? planned('reversal', credit.user, -credit.amount, 'booked', claim.reason)
    : planned('reversal', credit.user, -credit.amount, 'orphan', 'wallet_gone')
  return {
    outcome: 'reversed',
    reason: walletExists ? noteOf(credit, claim) : 'wallet_gone',
    entries: [entry],
  }
}

function decideLateCredit(credit: StoredEntry, claim: Claim): Decision {
  if (credit.decision === 'tombstone') return settle('tombstoned', 'reversed_before_credit')
  if (credit.decision === 'refused') return settle('refused', 'refused_before')
  if (credit.user !== claim.user) return settle('conflict', 'other_user')
  if (credit.imported) {
    // The old table kept coins only, and its rounding is unknown: a differing amount is told, never judged.
    return settle('duplicate', credit.amount === claim.amount ? 'imported' : 'imported_other_amount')
  }
  if (credit.receivedAmount !== claim.receivedAmount) return settle('conflict', 'other_amount')
  if (credit.unit !== claim.unit) return settle('conflict', 'other_unit')
  return settle('duplicate', null)
}

function tombstone(claim: Claim): Decision {
  const reason = 'reversal_without_credit'
  return {
    outcome: 'tombstoned',
    reason,
    entries: [
      planned('credit', claim.user, 0n, 'tombstone', reason),
      planned('reversal', claim.user, 0n, 'tombstone', reason),
    ],
  }
}

function canBeReversed(stored: StoredPair, claim: Claim): boolean {
  return (
    claim.entry === 'reversal' &&
    stored.credit !== null &&
    stored.reversal === null &&
    stored.credit.decision === 'booked'
  )
}

/** A reversal takes user and amount from the stored credit; what the call said otherwise is noted, never used. */
function noteOf(credit: StoredEntry, claim: Claim): string | null {
  if (claim.user !== '' && credit.user !== claim.user) return 'reversal_names_other_user'
  if (claim.receivedAmount === null || credit.receivedAmount === null) return null
  return credit.receivedAmount === claim.receivedAmount ? null : 'reversal_names_other_amount'
}

function planned(
  entry: 'credit' | 'reversal',
  user: string,
  amount: bigint,
  decision: PlannedEntry['decision'],
  reason: string | null,
): PlannedEntry {
  return { entry, user, amount, decision, reason, movesBalance: decision === 'booked' }
}

function settle(outcome: Settled['outcome'], reason: string | null): Decision {
  return { outcome, reason, entries: [] }
}

function required(amount: bigint | null): bigint {
  if (amount === null || amount <= 0n)
    throw new RangeError(`A credit needs a positive amount, not ${String(amount)}.`)
  return amount
}
