/**
 * The statements of a group. Every one runs inside the transaction that `apply-group.ts` opened.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { WalletChange } from '../../ledger/group.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { EntryRow, StoredEntry } from '../../ledger/types.js'
import type { SqliteContext } from './context.js'
import {
  entryValues,
  integer,
  NEW_ENTRY,
  NEW_POSTBACK,
  postbackValues,
  readIntegerOrNull,
  STORED_COLUMNS,
  storedEntryFrom,
  text,
} from './rows.js'

/**
 * What an inbox row takes from a later write of the same call: after a lost COMMIT reply, or when reprocessed. What a
 * person has closed stays closed.
 */
const REWRITTEN = `${(
  'outcome reason verified test transaction_id id_space transaction_key entry user_id amount answer_status ' +
  'answer_body milliseconds'
)
  .split(' ')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')}, open = excluded.open and resolved_reason is null`

export function readStored(
  { connection, names }: SqliteContext,
  key: { readonly idSpace: string; readonly transactionKey: string },
): StoredEntry[] {
  return connection
    .prepare(
      `select ${STORED_COLUMNS} from ${names.table('ledger')}
where id_space = ? and transaction_key = ? and entry in ('credit', 'reversal')`,
    )
    .all(text(key.idSpace), text(key.transactionKey))
    .map(storedEntryFrom)
}

/** Null where there is no such wallet. */
export function readBalance({ connection, wallets }: SqliteContext, user: string): bigint | null {
  const { table, balance, match, bind } = wallets()
  const values = bind(text(user))
  if (values === null) return null
  const row = connection.prepare(`select ${balance} as balance from ${table} where ${match}`).get(...values)
  if (row === undefined) return null
  const found = readIntegerOrNull(row, 'balance')
  if (found === null) {
    throw new StoreError('refused', `The balance of the user ${JSON.stringify(user)} is NULL.`)
  }
  return found
}

/** False where the wallet existed. */
export function insertWallet({ connection, names }: SqliteContext, user: string): boolean {
  const sql = `insert into ${names.table('wallets')} (user_id) values (?) on conflict (user_id) do nothing`
  return connection.prepare(sql).run(text(user)) === 1
}

/** False where the key is taken. Only our own key is asked; any other conflict is an error. */
export function insertEntry({ connection, names }: SqliteContext, entry: EntryRow): boolean {
  const sql = `insert into ${names.table('ledger')} ${NEW_ENTRY}
on conflict (id_space, transaction_key, entry) do nothing`
  return connection.prepare(sql).run(...entryValues(entry)) === 1
}

export function changeBalance({ connection, wallets }: SqliteContext, { user, amount }: WalletChange): void {
  const { table, balance, match, bind } = wallets()
  const values = bind(text(user))
  const sql = `update ${table} set ${balance} = ${balance} + ? where ${match}`
  const changed = values === null ? 0 : connection.prepare(sql).run(integer(amount), ...values)
  if (changed !== 1) {
    throw new StoreError(
      'refused',
      `The balance of the user ${JSON.stringify(user)} was changed in ${changed} rows instead of 1.`,
    )
  }
}

/** One message for each entry that changes a balance now; an imported one did long ago. */
export function insertMessage({ connection, names, outbox }: SqliteContext, entry: EntryRow): void {
  if (!outbox || entry.amount === 0n || entry.imported) return
  const sql = `insert into ${names.table('outbox')} (event, id_space, transaction_key, entry, user_id)
values (?, ?, ?, ?, ?)`
  connection
    .prepare(sql)
    .run(`${entry.entry}.booked`, entry.idSpace, entry.transactionKey, entry.entry, entry.user)
}

export function upsertPostback({ connection, names }: SqliteContext, row: PostbackRow): void {
  const sql = `insert into ${names.table('postbacks')} ${NEW_POSTBACK}
on conflict (id) do update set ${REWRITTEN}`
  connection.prepare(sql).run(...postbackValues(row))
}
