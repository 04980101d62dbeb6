/**
 * The rule of an operator's correction: pure, the same on every store.
 *
 * @module
 */
import { RESERVED_ID_SPACE } from '../ids.js'
import { MAX_BALANCE_MINOR } from '../money.js'
import type { Adjustment, AdjustmentResult } from './store.js'
import type { EntryRow } from './types.js'

/**
 * Judges an adjustment under the wallet's lock.
 *
 * @param stored the adjustment entry that stands under the same key, if any
 * @param balance the locked balance, or null where the wallet does not exist
 */
export function judgeAdjustment(
  adjustment: Adjustment,
  stored: { readonly user: string; readonly amount: bigint } | null,
  balance: bigint | null,
): 'book' | 'repeated' | Exclude<AdjustmentResult['kind'], 'booked' | 'repeated'> {
  if (stored !== null) {
    return stored.user === adjustment.user && stored.amount === adjustment.amount
      ? 'repeated'
      : 'key_conflict'
  }
  if (balance === null) return 'unknown_user'
  const after = balance + adjustment.amount
  if (after > MAX_BALANCE_MINOR || after < -MAX_BALANCE_MINOR) return 'balance_limit'
  if (adjustment.amount < 0n && after < 0n && !adjustment.overdraw) return 'insufficient_balance'
  return 'book'
}

/** The ledger entry of an adjustment that was judged `book`. */
export function adjustmentEntry(adjustment: Adjustment, balance: bigint): EntryRow {
  return {
    idSpace: RESERVED_ID_SPACE,
    network: RESERVED_ID_SPACE,
    transactionKey: adjustment.key,
    transactionId: adjustment.key,
    entry: 'adjustment',
    user: adjustment.user,
    amount: adjustment.amount,
    balanceAfter: balance + adjustment.amount,
    decision: 'booked',
    movesBalance: true,
    reason: adjustment.reason,
    actor: adjustment.actor,
    test: false,
    imported: false,
    postbackId: null,
    eventId: null,
    offer: null,
    payout: null,
    receivedAmount: null,
    unit: null,
    rate: null,
  }
}
