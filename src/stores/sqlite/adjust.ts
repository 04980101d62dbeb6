/**
 * An operator's correction, booked once by its key.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import { RESERVED_ID_SPACE } from '../../ids.js'
import { adjustmentEntry, judgeAdjustment } from '../../ledger/adjustment.js'
import type { Adjustment, AdjustmentResult } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import type { SqliteContext } from './context.js'
import { changeBalance, insertEntry, insertMessage, readBalance } from './group-statements.js'
import { ENTRY_COLUMNS, entryFrom, text } from './rows.js'
import { writeTransaction } from './transaction.js'

const WAITING = { milliseconds: 3_000, whenBusy: 'wallet_busy' } as const

/** After a COMMIT of unknown fate it runs again: the same key makes that safe. */
export async function adjust(context: SqliteContext, adjustment: Adjustment): Promise<AdjustmentResult> {
  const book = (): Promise<AdjustmentResult> =>
    writeTransaction(context.connection, WAITING, () => settle(context, adjustment))
  try {
    return await book()
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure !== 'unknown') throw error
    // What this run finds is its own of a moment ago: a first call is not called a repetition.
    const result = await book()
    return result.kind === 'repeated' ? { ...result, kind: 'booked' } : result
  }
}

function settle(context: SqliteContext, adjustment: Adjustment): AdjustmentResult {
  const stored = readAdjustment(context, adjustment.key)
  const balance = readBalance(context, adjustment.user)
  const verdict = judgeAdjustment(adjustment, stored, balance)
  if (verdict === 'repeated' && stored !== null) return { kind: 'repeated', entry: stored }
  if (verdict !== 'book' || balance === null) {
    return { kind: verdict as Exclude<typeof verdict, 'book' | 'repeated'> }
  }
  const row = adjustmentEntry(adjustment, balance)
  if (!insertEntry(context, row))
    throw new StoreError('retry', 'The key of the adjustment was taken meanwhile.')
  changeBalance(context, { ...adjustment, after: balance + adjustment.amount })
  insertMessage(context, row)
  const entry = readAdjustment(context, adjustment.key)
  if (entry === null) throw new StoreError('retry', 'The adjustment was not found after its insert.')
  return { kind: 'booked', entry }
}

function readAdjustment({ connection, names }: SqliteContext, key: string): LedgerEntry | null {
  const row = connection
    .prepare(
      `select ${ENTRY_COLUMNS} from ${names.table('ledger')}
where id_space = ? and transaction_key = ? and entry = 'adjustment'`,
    )
    .get(RESERVED_ID_SPACE, text(key))
  return row === undefined ? null : entryFrom(row)
}
