/**
 * An operator's correction: one entry and one balance change, repeatable by its key.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../errors.js'
import { RESERVED_ID_SPACE } from '../../ids.js'
import { adjustmentEntry, judgeAdjustment } from '../../ledger/adjustment.js'
import type { Adjustment, AdjustmentResult } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import { beginAndLock } from './apply-group.js'
import type { MysqlContext } from './context.js'
import { isDuplicateOf } from './errors.js'
import { insertEntries, insertMessages } from './group-statements.js'
import { bytes, ENTRY_COLUMNS, readEntry } from './rows.js'
import { withSession, type Session } from './session.js'
import { changeBalances } from './wallet-table.js'

/** How long the wallet's lock is waited for. */
const WAIT_MS = 3_000

/** An adjustment meets another one on its key, a deadlock or a lost reply; more of them in a row is a fault elsewhere. */
const ATTEMPTS = 5

/** Books an adjustment once; see `LedgerStore.adjust`. */
export async function adjust(context: MysqlContext, adjustment: Adjustment): Promise<AdjustmentResult> {
  let doubtful = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await tryAdjust(context, adjustment)
      // What a run finds after a lost reply is most likely its own: a first call is not called a repetition.
      if (result !== 'raced')
        return doubtful && result.kind === 'repeated' ? { ...result, kind: 'booked' } : result
      if (attempt >= ATTEMPTS) {
        throw new StoreError(
          'retry',
          `The adjustment ${JSON.stringify(adjustment.key)} was raced ${ATTEMPTS} times.`,
        )
      }
    } catch (error) {
      // After a lost COMMIT reply as well: the same key finds what stands and changes nothing twice.
      const passes = error instanceof StoreError && (error.failure === 'retry' || error.failure === 'unknown')
      if (!passes || attempt >= ATTEMPTS) throw error
      doubtful ||= error.failure === 'unknown'
      await sleep(attempt * 10)
    }
  }
}

async function tryAdjust(context: MysqlContext, adjustment: Adjustment): Promise<AdjustmentResult | 'raced'> {
  const { source, names, scale, outbox } = context
  const wallets = await context.wallets()
  return withSession(source, { timeoutMs: WAIT_MS + 5_000, waitMs: WAIT_MS }, async (session) => {
    const options = { waitMs: WAIT_MS, owns: () => true }
    const locked = (await beginAndLock(context, session, [adjustment.user], options)).get(adjustment.user)
    const stored = await readAdjustment(context, session, adjustment.key)
    const balance = locked?.kind === 'locked' ? locked.balance : null
    const judgement = judgeAdjustment(adjustment, stored, balance)
    if (judgement !== 'book' || balance === null) {
      // A repeated answer is as durable as the first: nothing here is told before this commit.
      await session.commit()
      if (stored !== null && judgement === 'repeated') return { kind: 'repeated', entry: stored }
      return { kind: judgement === 'book' || judgement === 'repeated' ? 'unknown_user' : judgement }
    }
    const entries = [adjustmentEntry(adjustment, balance)]
    try {
      await session.write(insertEntries(names, scale, entries), 'ledger')
    } catch (error) {
      if (isDuplicateOf(error, `${names.prefix}ledger_key`)) return 'raced'
      throw error
    }
    const change = { user: adjustment.user, amount: adjustment.amount, after: balance + adjustment.amount }
    const changed = await session.write(changeBalances(wallets, [change]))
    if (wallets.foreign && changed !== 1) {
      throw new StoreError(
        'refused',
        `The locked balance of ${JSON.stringify(adjustment.user)} was not changed.`,
      )
    }
    const messages = outbox ? insertMessages(names, entries) : null
    if (messages !== null) await session.write(messages)
    const booked = await readAdjustment(context, session, adjustment.key)
    if (booked === null) throw new StoreError('retry', 'The entry just written is not there; rolled back.')
    await session.commit()
    return { kind: 'booked', entry: booked }
  })
}

async function readAdjustment(
  { names, scale }: MysqlContext,
  session: Session,
  key: string,
): Promise<LedgerEntry | null> {
  const [row] = await session.read({
    sql: `select ${ENTRY_COLUMNS} from ${names.table('ledger')}
where id_space = ? and transaction_key = ? and entry = 'adjustment'`,
    values: [bytes(RESERVED_ID_SPACE), bytes(key)],
  })
  return row === undefined ? null : readEntry(row, scale)
}
