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
import type { WriteStep } from './writer.js'

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
export function insertWallet(context: SqliteContext, user: string): boolean {
  return run(context, walletStep(context, [user])) === 1
}

/** False where the key is taken. Only our own key is asked; any other conflict is an error. */
export function insertEntry(context: SqliteContext, entry: EntryRow): boolean {
  return run(context, entryStep(context, [entry])) === 1
}

export function changeBalance({ connection, wallets }: SqliteContext, { user, amount }: WalletChange): void {
  const { table, balance, match, bind } = wallets()
  const values = bind(text(user))
  const sql = `update ${table} set ${balance} = ${balance} + ? where ${match}`
  const changed = values === null ? 0 : connection.prepare(sql).run(integer(amount), ...values)
  if (changed !== 1) throw balanceRefused(user, changed)
}

export function balanceRefused(user: string, changed: number): StoreError {
  return new StoreError(
    'refused',
    `The balance of the user ${JSON.stringify(user)} was changed in ${changed} rows instead of 1.`,
  )
}

/** One message for each entry that changes a balance now; an imported one did long ago. */
export function insertMessage(context: SqliteContext, entry: EntryRow): void {
  run(context, messageStep(context, [entry]))
}

export function upsertPostback(context: SqliteContext, row: PostbackRow): void {
  run(context, postbackStep(context, [row]))
}

export function walletStep({ names }: SqliteContext, users: readonly string[]): WriteStep {
  return {
    sql: `insert into ${names.table('wallets')} (user_id) values (?) on conflict (user_id) do nothing`,
    rows: users.map((user) => [text(user)]),
  }
}

export function entryStep({ names }: SqliteContext, entries: readonly EntryRow[]): WriteStep {
  return {
    sql: `insert into ${names.table('ledger')} ${NEW_ENTRY}
on conflict (id_space, transaction_key, entry) do nothing`,
    rows: entries.map(entryValues),
  }
}

export function messageStep({ names, outbox }: SqliteContext, entries: readonly EntryRow[]): WriteStep {
  const told = outbox ? entries.filter((entry) => entry.amount !== 0n && !entry.imported) : []
  return {
    sql: `insert into ${names.table('outbox')} (event, id_space, transaction_key, entry, user_id)
values (?, ?, ?, ?, ?)`,
    rows: told.map(({ entry, idSpace, transactionKey, user }) => [
      `${entry}.booked`,
      idSpace,
      transactionKey,
      entry,
      user,
    ]),
  }
}

export function postbackStep({ names }: SqliteContext, rows: readonly PostbackRow[]): WriteStep {
  return {
    sql: `insert into ${names.table('postbacks')} ${NEW_POSTBACK}
on conflict (id) do update set ${REWRITTEN}`,
    rows: rows.map(postbackValues),
  }
}

/** Changes balances that are still what they were when they were read. */
export function balanceStep({ wallets }: SqliteContext, changes: readonly WalletChange[]): WriteStep {
  const { table, balance, match, bind } = wallets()
  return {
    sql: `update ${table} set ${balance} = ${balance} + ? where ${match} and ${balance} = ?`,
    rows: changes.map(({ user, amount, after }) => [
      integer(amount),
      ...(bind(text(user)) ?? []),
      integer(after - amount),
    ]),
  }
}

/** The number of changed rows. */
function run({ connection }: SqliteContext, { sql, rows }: WriteStep): number {
  return rows.reduce((sum, values) => sum + connection.prepare(sql).run(...values), 0)
}
