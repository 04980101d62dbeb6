/**
 * Waits for a key that somebody else has written and not committed.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { MysqlContext } from './context.js'
import { bytes } from './rows.js'
import { withSession } from './session.js'

/** A shared lock on the key's entries is given when their writer has committed or rolled back, and let go at once. */
export async function awaitKey(
  { source, names }: MysqlContext,
  key: { readonly idSpace: string; readonly transactionKey: string },
  waitMs: number,
): Promise<boolean> {
  const statement = {
    sql: `select 1 from ${names.table('ledger')} where id_space = ? and transaction_key = ? lock in share mode`,
    values: [bytes(key.idSpace), bytes(key.transactionKey)],
  }
  try {
    await withSession(source, { timeoutMs: waitMs + 2_000, waitMs }, async (session) => {
      // At READ COMMITTED, because a waiting lock of REPEATABLE READ stops inserts of neighbouring keys too.
      await session.begin()
      await session.read(statement, 'ledger')
    })
    return true
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure !== 'key_busy') throw error
    return false
  }
}
