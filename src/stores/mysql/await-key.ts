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
): Promise<void> {
  const statement = {
    sql: `select 1 from ${names.table('ledger')} where id_space = ? and transaction_key = ? lock in share mode`,
    values: [bytes(key.idSpace), bytes(key.transactionKey)],
  }
  try {
    await withSession(source, { timeoutMs: waitMs + 2_000, waitMs }, (session) =>
      session.read(statement, 'ledger'),
    )
  } catch (error) {
    // The time is over: what to do about it is for the claim's deadline to say.
    if (!(error instanceof StoreError) || error.failure !== 'key_busy') throw error
  }
}
