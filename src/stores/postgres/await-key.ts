/**
 * Waits for a key that somebody else has written and not committed.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { PostgresContext } from './context.js'
import { beginGroup } from './group-statements.js'

/**
 * Only an insert of the same key waits for its writer, because an uncommitted row cannot be seen. The entries that it
 * inserts where nobody holds the key are rolled back at once.
 */
export async function awaitKey(
  { sessions, names }: PostgresContext,
  key: { readonly idSpace: string; readonly transactionKey: string },
  waitMs: number,
): Promise<boolean> {
  try {
    await sessions(async (session) => {
      await session.begin(beginGroup('read committed', waitMs), waitMs)
      await session.runOnce(
        'write',
        `insert into ${names.table('ledger')}
  (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision)
select $1, $2, entry, $1, $2, '', 0, 'tombstone' from unnest(array['credit', 'reversal']) as entry
on conflict do nothing`,
        [key.idSpace, key.transactionKey],
      )
      await session.rollback()
    })
    return true
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure !== 'key_busy') throw error
    return false
  }
}
