/**
 * A correction by the operator: idempotent by its key, under the wallet's lock.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../errors.js'
import { RESERVED_ID_SPACE } from '../../ids.js'
import { adjustmentEntry, judgeAdjustment } from '../../ledger/adjustment.js'
import type { Adjustment, AdjustmentResult } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import type { PostgresContext } from './context.js'
import { beginGroup } from './group-statements.js'
import { ENTRY_SELECT, need, readEntry, refuseUnchanged } from './rows.js'
import type { Session } from './session.js'
import { readWalletRow } from './wallet-table.js'
import { writeValues } from './write-statement.js'

const WALLET_WAIT_MS = 3000

/** Races on the key, serialization failures and lost replies are run again, this often at most. */
const ATTEMPTS = 5

export async function adjust(context: PostgresContext, adjustment: Adjustment): Promise<AdjustmentResult> {
  if (typeof adjustment.amount !== 'bigint' || adjustment.amount === 0n) {
    throw new TypeError('An adjustment needs an amount in minor units that is not 0.')
  }
  // Known before a connection is taken: finding them out needs one of its own.
  await context.statements()
  let doubtful = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await context.sessions((session) => attemptOnce(context, session, adjustment))
      // What a run finds after a lost reply is most likely its own: a first call is not called a repetition.
      if (result !== null)
        return doubtful && result.kind === 'repeated' ? { ...result, kind: 'booked' } : result
      if (attempt === ATTEMPTS)
        throw new StoreError('key_busy', `Adjustment ${adjustment.key} was raced too often.`)
    } catch (error) {
      const again = error instanceof StoreError && (error.failure === 'retry' || error.failure === 'unknown')
      if (!again || attempt === ATTEMPTS) throw error
      doubtful ||= error.failure === 'unknown'
      await sleep(attempt * 10)
    }
  }
}

/** Null where somebody else wrote the key meanwhile. */
async function attemptOnce(
  context: PostgresContext,
  session: Session,
  adjustment: Adjustment,
): Promise<AdjustmentResult | null> {
  const wallets = await context.wallets()
  await session.begin(beginGroup(context.isolation, WALLET_WAIT_MS), WALLET_WAIT_MS)
  const users = [adjustment.user]
  const [locked] = await session.run('lock', wallets.lockWaiting, [users, wallets.keysOf(users)])
  const stored = await readAdjustment(context, session, adjustment.key)
  const balance = locked === undefined ? null : readWalletRow(locked).balance
  const judgement = judgeAdjustment(adjustment, stored, balance)
  if (stored !== null && judgement === 'repeated') {
    // The wallet's lock was a write: its COMMIT makes this answer as durable as the first one.
    await session.commit()
    return { kind: 'repeated', entry: stored }
  }
  if (judgement !== 'book' || balance === null) return { kind: judgement as 'unknown_user' }

  const { user, amount } = adjustment
  const plan = {
    entries: [adjustmentEntry(adjustment, balance)],
    changes: [{ user, amount, after: balance + amount }],
    rows: [],
  }
  const { write } = await context.statements()
  const [counts = {}] = await session.run('write', write, writeValues(plan, wallets, context.scale))
  if (need(counts, 'entries') !== '1') return null
  refuseUnchanged(need(counts, 'changes'), 1)
  const entry = await readAdjustment(context, session, adjustment.key)
  if (entry === null) return null
  await session.commit()
  return { kind: 'booked', entry }
}

async function readAdjustment(
  { names, scale }: PostgresContext,
  session: Session,
  key: string,
): Promise<LedgerEntry | null> {
  const [row] = await session.runOnce(
    'read',
    `select ${ENTRY_SELECT} from ${names.table('ledger')} l
where l.id_space = $1 and l.transaction_key = $2 and l.entry = 'adjustment'`,
    [RESERVED_ID_SPACE, key],
  )
  return row === undefined ? null : readEntry(row, scale)
}
