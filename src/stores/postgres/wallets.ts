/**
 * Reading and making wallets.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { Page, PageOf, WalletRow } from '../../ledger/store.js'
import type { PostgresContext } from './context.js'
import { pageOf, prefixPattern } from './pages.js'
import { readWalletRow } from './wallet-table.js'

export async function readWallet(context: PostgresContext, user: string): Promise<WalletRow | null> {
  const wallets = await context.wallets()
  const users = [user]
  const [row] = await context.sessions((session) =>
    session.run('read', wallets.find, [users, wallets.keysOf(users)]),
  )
  return row === undefined ? null : readWalletRow(row)
}

export async function listWallets(
  context: PostgresContext,
  { limit, cursor, prefix, negative }: Page & { readonly prefix?: string; readonly negative?: boolean },
): Promise<PageOf<WalletRow>> {
  const { relation } = await context.wallets()
  const rows = await context.sessions((session) =>
    session.runOnce(
      'read',
      `select w.user_id, w.minor from ${relation} w
where ($1::text is null or w.user_id > $1) and ($2::text is null or w.user_id like $2)
  and (not $3::boolean or w.minor like '-%')
order by w.user_id limit $4`,
      [cursor, prefix === undefined ? null : prefixPattern(prefix), negative === true, limit + 1],
    ),
  )
  return pageOf(rows.map(readWalletRow), limit, (row) => row.user)
}

/** @throws PaidonceError `foreign_wallets` where the table is the publisher's */
export async function createWallet(context: PostgresContext, user: string): Promise<boolean> {
  if (context.foreignWallets) {
    throw new PaidonceError('foreign_wallets', `The wallet of ${JSON.stringify(user)} cannot be made here.`, {
      hint: "Wallets are kept in the publisher's own table: create the user there.",
    })
  }
  const rows = await context.sessions((session) =>
    session.runOnce(
      'single',
      `insert into ${context.names.table('wallets')} (user_id) values ($1) on conflict (user_id) do nothing returning 1`,
      [user],
    ),
  )
  return rows.length > 0
}
