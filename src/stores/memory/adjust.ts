/**
 * An operator's correction on the memory store.
 *
 * @module
 */
import { RESERVED_ID_SPACE } from '../../ids.js'
import { adjustmentEntry, judgeAdjustment } from '../../ledger/adjustment.js'
import type { Adjustment, AdjustmentResult } from '../../ledger/store.js'
import { lockWallet } from './lock-wallet.js'
import { appendEntry, findEntry, outboxRowOf, releaseLocks, type MemoryState } from './state.js'

/** As on the databases. */
const WALLET_WAIT_MS = 3_000

export async function adjustMemory(
  state: MemoryState,
  adjustment: Adjustment,
  now: () => Date,
  outbox: boolean,
): Promise<AdjustmentResult> {
  const transaction = {}
  try {
    await lockWallet(state, transaction, adjustment.user, Date.now() + WALLET_WAIT_MS)
    return settle(state, adjustment, now(), outbox)
  } finally {
    releaseLocks(state, transaction)
  }
}

function settle(state: MemoryState, adjustment: Adjustment, now: Date, outbox: boolean): AdjustmentResult {
  const stored = findEntry(state, {
    idSpace: RESERVED_ID_SPACE,
    transactionKey: adjustment.key,
    entry: 'adjustment',
  })
  const balance = state.wallets.get(adjustment.user) ?? null
  const judgement = judgeAdjustment(adjustment, stored ?? null, balance)
  if (judgement !== 'book') {
    return judgement === 'repeated'
      ? { kind: 'repeated', entry: stored as NonNullable<typeof stored> }
      : { kind: judgement }
  }
  const row = adjustmentEntry(adjustment, balance as bigint)
  state.wallets.set(adjustment.user, row.balanceAfter as bigint)
  const message = outbox ? outboxRowOf(row) : null
  if (message !== null) state.outbox.push(message)
  return { kind: 'booked', entry: appendEntry(state, row, now) }
}
