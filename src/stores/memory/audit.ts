/**
 * The audit's three questions, asked of what is kept in memory.
 *
 * @module
 */
import { compareBytes } from '../../ids.js'
import type { AuditBatch, ChainBreak, PairFault, WalletAudit } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import { readPair, type MemoryState } from './state.js'

export function auditMemoryWallets(
  state: MemoryState,
  after: string | null,
  limit: number,
): AuditBatch<WalletAudit> {
  const users = nextUsers(state, after, limit)
  const items = users.map((user) => {
    const moved = movedBy(state, user)
    return {
      user,
      balance: state.wallets.get(user) ?? null,
      ledgerTotal: moved.reduce((sum, entry) => sum + entry.amount, 0n),
      lastBalanceAfter: moved.at(-1)?.balanceAfter ?? null,
    }
  })
  return { items, next: users.length < limit ? null : (users.at(-1) ?? null) }
}

export function auditMemoryChains(
  state: MemoryState,
  after: string | null,
  limit: number,
): AuditBatch<ChainBreak> {
  const users = nextUsers(state, after, limit)
  return {
    items: users.flatMap((user) => chainBreaks(movedBy(state, user))),
    next: users.length < limit ? null : (users.at(-1) ?? null),
  }
}

export function auditMemoryPairs(
  state: MemoryState,
  after: string | null,
  limit: number,
): AuditBatch<PairFault> {
  const start = after === null ? 0 : Number(after)
  const batch = state.ledger.slice(start, start + limit)
  const items = batch
    .filter((entry) => entry.entry === 'reversal')
    .flatMap((entry) => pairFault(state, entry))
  return { items, next: batch.length < limit ? null : String(start + limit) }
}

function nextUsers(state: MemoryState, after: string | null, limit: number): string[] {
  return [...new Set([...state.wallets.keys(), ...state.ledger.map((entry) => entry.user)])]
    .filter((user) => user !== '' && (after === null || compareBytes(user, after) > 0))
    .sort(compareBytes)
    .slice(0, limit)
}

function movedBy(state: MemoryState, user: string): LedgerEntry[] {
  return state.ledger.filter((entry) => entry.user === user && entry.decision === 'booked' && !entry.imported)
}

function chainBreaks(entries: readonly LedgerEntry[]): ChainBreak[] {
  const breaks: ChainBreak[] = []
  for (let index = 1; index < entries.length; index += 1) {
    const before = entries[index - 1]?.balanceAfter ?? 0n
    const entry = entries[index] as LedgerEntry
    const balanceAfter = entry.balanceAfter ?? 0n
    if (before + entry.amount !== balanceAfter) {
      const { user, id, network, transactionId, amount } = entry
      breaks.push({
        user,
        entryId: id,
        network,
        transactionId,
        entry: entry.entry,
        amount,
        balanceAfter,
        balanceBefore: before,
      })
    }
  }
  return breaks
}

function pairFault(state: MemoryState, reversal: LedgerEntry): PairFault[] {
  const { credit } = readPair(state, reversal)
  const fault = faultOf(credit, reversal)
  if (fault === null) return []
  const { id, network, transactionId, user } = reversal
  return [
    {
      entryId: id,
      network,
      transactionId,
      user,
      fault,
      creditAmount: credit?.amount ?? null,
      reversalAmount: reversal.amount,
    },
  ]
}

function faultOf(
  credit: { amount: bigint; user: string } | null,
  reversal: LedgerEntry,
): PairFault['fault'] | null {
  if (credit === null) return 'reversal_without_credit'
  if (reversal.amount !== -credit.amount) return 'reversal_amount'
  if (reversal.user !== credit.user) return 'reversal_user'
  return reversal.decision === 'orphan' ? 'orphan' : null
}
