/**
 * What each difference between the ledger and the balances means, in words, with its cure.
 *
 * @module
 */
import type { ChainBreak, PairFault, WalletAudit } from '../ledger/store.js'
import type { LedgerEntry } from '../ledger/types.js'
import { formatMinor } from '../money.js'

/** `error` and `warning` need somebody; `info` is only to be known. */
export type Severity = 'error' | 'warning' | 'info'

/** One difference that the audit found. */
export interface Finding {
  /** A stable name of the check, such as `drift`. */
  readonly check: string
  readonly severity: Severity
  readonly message: string
  readonly user?: string
  readonly network?: string
  readonly transactionId?: string
  /** The money at stake as decimal text, without sign where only its size counts. */
  readonly amount?: string
  readonly cure: string
}

export interface AuditFacts {
  /** Decimals of a coin. */
  readonly scale: number
  /** Whether the wallets are the publisher's own, which the app changes too. */
  readonly foreign: boolean
}

const COMPARE =
  'Compare "paidonce wallets show USER" with your records, find what wrote to the table beside Paidonce, then correct it with "paidonce wallets adjust".'

/** Judges one wallet against the sum of its entries. */
export function walletFindings(row: WalletAudit, { scale, foreign }: AuditFacts): Finding[] {
  const { user, balance, ledgerTotal, lastBalanceAfter } = row
  if (balance === null) return missingWallet(row, { scale, foreign })
  const findings: Finding[] = []
  const expected = foreign ? lastBalanceAfter : ledgerTotal
  if (expected !== null && balance !== expected) {
    const amount = formatMinor(balance - expected, scale)
    findings.push(
      foreign
        ? {
            check: 'outside_movement',
            severity: 'info',
            message: `The balance of ${quoted(user)} is ${formatMinor(balance, scale)} and was ${formatMinor(expected, scale)} after its newest entry: your app moved ${amount} since.`,
            user,
            amount,
            cure: 'None is needed where your app spends or grants coins.',
          }
        : {
            check: 'drift',
            severity: 'error',
            message: `The balance of ${quoted(user)} is ${formatMinor(balance, scale)}, but its ledger entries add up to ${formatMinor(ledgerTotal, scale)}: ${amount} cannot be accounted for.`,
            user,
            amount: formatMinor(size(balance - expected), scale),
            cure: COMPARE,
          },
    )
  }
  if (balance < 0n) {
    findings.push({
      check: 'negative_balance',
      severity: 'info',
      message: `The balance of ${quoted(user)} is ${formatMinor(balance, scale)}: more was taken back or spent than is left.`,
      user,
      amount: formatMinor(-balance, scale),
      cure: 'Decide whether the user owes it; "paidonce wallets adjust" evens it out.',
    })
  }
  return findings
}

/** An app deletes users and their rows as a matter of course; an own wallet that is gone was taken by somebody. */
function missingWallet({ user, ledgerTotal }: WalletAudit, { scale, foreign }: AuditFacts): Finding[] {
  if (ledgerTotal === 0n) return []
  const amount = formatMinor(ledgerTotal, scale)
  return [
    {
      check: 'missing_wallet',
      severity: foreign ? 'info' : 'warning',
      message: `User ${quoted(user)} has no wallet any more, but ledger entries that add up to ${amount}.`,
      user,
      amount,
      cure: 'If the user was deleted on purpose, nothing has to be done; else restore the wallet with this balance.',
    },
  ]
}

/**
 * Judges a step between two entries of one wallet.
 *
 * @param overwritten the credit whose amount the app took back by writing an older balance, where exactly one fits
 */
export function chainFinding(
  row: ChainBreak,
  overwritten: LedgerEntry | null,
  { scale, foreign }: AuditFacts,
): Finding {
  const { user, network, transactionId, entry, amount, balanceAfter, balanceBefore } = row
  const start = balanceAfter - amount
  const gap = start - balanceBefore
  const place = `Before the ${entry} of ${quoted(transactionId)} (${network})`
  const common = { user, network, transactionId }
  if (!foreign) {
    return {
      ...common,
      check: 'chain_break',
      severity: 'error',
      message: `${place} the balance of ${quoted(user)} was ${formatMinor(start, scale)}, but the entry before it left ${formatMinor(balanceBefore, scale)}.`,
      amount: formatMinor(size(gap), scale),
      cure: COMPARE,
    }
  }
  const moved = `${place} the balance of ${quoted(user)} moved by ${formatMinor(gap, scale)} outside Paidonce`
  if (overwritten === null) {
    return {
      ...common,
      check: 'outside_movement',
      severity: 'info',
      message: `${moved}.`,
      amount: formatMinor(gap, scale),
      cure: 'None is needed where your app spends or grants coins.',
    }
  }
  return {
    ...common,
    check: 'overwritten_balance',
    severity: 'info',
    message: `${moved}, exactly the credit of ${quoted(overwritten.transactionId)} (${overwritten.network}): the app probably overwrote the balance.`,
    amount: formatMinor(gap, scale),
    cure: 'Let the app change the balance relatively ("balance = balance - 5"), never write back one that it read earlier; give the credit back with "paidonce wallets adjust" if it was lost.',
  }
}

const PAIR_CURES: Readonly<Record<PairFault['fault'], string>> = {
  reversal_without_credit:
    'No version of Paidonce writes this: find what wrote to or deleted from the ledger table beside it, and restore the row from a backup.',
  reversal_amount:
    'Find what changed the ledger table beside Paidonce; even the difference out with "paidonce wallets adjust".',
  reversal_user:
    'Find what changed the ledger table beside Paidonce; even both wallets out with "paidonce wallets adjust".',
  orphan:
    'If the user was deleted on purpose, nothing has to be done; else restore the wallet and take the amount away with "paidonce wallets adjust".',
}

/** Judges a reversal against its credit. */
export function pairFinding(row: PairFault, { scale }: AuditFacts): Finding {
  const { user, network, transactionId, fault, creditAmount, reversalAmount } = row
  return {
    check: fault,
    // A user who was deleted on purpose stays deleted: this must not fail a regular check for ever.
    severity: fault === 'orphan' ? 'info' : 'error',
    message: pairMessage(row, scale),
    user,
    network,
    transactionId,
    amount: formatMinor(
      fault === 'reversal_amount' ? size(reversalAmount + (creditAmount ?? 0n)) : size(reversalAmount),
      scale,
    ),
    cure: PAIR_CURES[fault],
  }
}

function pairMessage(
  { user, network, transactionId, fault, creditAmount, reversalAmount }: PairFault,
  scale: number,
): string {
  const reversal = `The reversal of ${quoted(transactionId)} (${network})`
  const taken = formatMinor(reversalAmount, scale)
  switch (fault) {
    case 'reversal_without_credit':
      return `${reversal} of ${taken} for ${quoted(user)} stands without a credit.`
    case 'reversal_amount':
      return `${reversal} took ${taken} from ${quoted(user)}, but the credit is ${formatMinor(creditAmount ?? 0n, scale)}.`
    case 'reversal_user':
      return `${reversal} of ${taken} was taken from ${quoted(user)}, who is not the user of the credit.`
    case 'orphan':
      return `${reversal} of ${taken} moved no balance, because the wallet of ${quoted(user)} was gone.`
  }
}

const size = (amount: bigint): bigint => (amount < 0n ? -amount : amount)
const quoted = (text: string): string => JSON.stringify(text)
