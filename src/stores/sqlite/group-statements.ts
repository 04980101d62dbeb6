/**
 * The statements of a group. Every one runs inside the transaction that `apply-group.ts` opened.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import { keyOf, type GroupPlan, type WalletChange } from '../../ledger/group.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { EntryRow, StoredEntry } from '../../ledger/types.js'
import { MAX_BALANCE_MINOR } from '../../money.js'
import type { KnownCredit } from '../guess.js'
import type { SqliteContext } from './context.js'
import type { SqlRow } from './driver.js'
import {
  BALANCE_PLACE,
  entryValues,
  integer,
  NEW_ENTRY,
  newEntry,
  NEW_POSTBACK,
  postbackValues,
  readInteger,
  readIntegerOrNull,
  STORED_COLUMNS,
  storedEntryFrom,
  text,
  textOrNull,
} from './rows.js'
import type { WalletSql } from './wallet-table.js'
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

/** Escapes that SQLite reads as another text than the same parameter; their keys are looked up one by one. */
const ODD_IN_JSON = /\\u(0000|d[89a-f])/

interface Key {
  readonly idSpace: string
  readonly transactionKey: string
}

/**
 * The stored entries by `keyOf`, without the keys that have none. One statement for all of them: what the thread writes
 * makes the cache of this connection old, so that every page is better fetched once for the whole group.
 */
export function readStored(context: SqliteContext, keys: readonly Key[]): Map<string, StoredEntry[]> {
  const found = new Map<string, StoredEntry[]>()
  const json = JSON.stringify(keys.map((key) => [text(key.idSpace), text(key.transactionKey)]))
  const rows = ODD_IN_JSON.test(json) ? readAlone(context, keys) : readTogether(context, json)
  for (const [place, row] of rows) {
    const key = keyOf(keys[place] as Key)
    found.set(key, [...(found.get(key) ?? []), storedEntryFrom(row)])
  }
  return found
}

function readTogether({ connection, names }: SqliteContext, json: string): [number, SqlRow][] {
  return connection
    .prepare(
      // CROSS JOIN keeps the order: a look-up for each key.
      `select k.key as place, ${STORED_COLUMNS} from json_each(?) k cross join ${names.table('ledger')} l
where l.id_space = json_extract(k.value, '$[0]') and l.transaction_key = json_extract(k.value, '$[1]')
  and l.entry in ('credit', 'reversal')`,
    )
    .all(json)
    .map((row) => [Number(readInteger(row, 'place')), row])
}

function readAlone({ connection, names }: SqliteContext, keys: readonly Key[]): [number, SqlRow][] {
  const statement = connection.prepare(
    `select ${STORED_COLUMNS} from ${names.table('ledger')}
where id_space = ? and transaction_key = ? and entry in ('credit', 'reversal')`,
  )
  return keys.flatMap(({ idSpace, transactionKey }, place) =>
    statement.all(idSpace, transactionKey).map((row): [number, SqlRow] => [place, row]),
  )
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

/**
 * Right after the step of the same entries: nobody else inserts meanwhile, so theirs are the last ids. (SQLite would
 * prepare a statement with `limit ?` anew for every number.)
 */
export function messageStep({ names, outbox }: SqliteContext, entries: readonly EntryRow[]): WriteStep {
  const told = outbox ? entries.filter(isTold).length : 0
  return {
    sql: `insert into ${names.table('outbox')} (event, id_space, transaction_key, entry, user_id)
select entry || '.booked', id_space, transaction_key, entry, user_id
from ${names.table('ledger')}
where id > (select max(id) from ${names.table('ledger')}) - ? and amount <> 0 and imported = 0 order by id`,
    rows: told === 0 ? [] : [[BigInt(entries.length)]],
    changes: told,
  }
}

function isTold({ amount, imported }: EntryRow): boolean {
  return amount !== 0n && !imported
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

/**
 * Changes balances that nobody has read. One that is missing, NULL or so near the limit that a group could cross it counts
 * as a miss.
 */
export function unreadBalanceStep(
  { table, balance, match, bind }: WalletSql,
  changes: readonly WalletChange[],
): WriteStep {
  return {
    sql: `update ${table} set ${balance} = ${balance} + ?
where ${match} and ${balance} between -${SAFE_BALANCE} and ${SAFE_BALANCE}`,
    rows: changes.map(({ user, amount }) => [integer(amount), ...(bind(text(user)) ?? [])]),
  }
}

/** A balance within half of the limit is within the limit after whatever one group can add to it or take from it. */
const SAFE_BALANCE = MAX_BALANCE_MINOR / 2n

/** Entries whose balance is what their wallet holds now and what lies between the two. */
export function unreadEntryStep(
  { names }: Pick<SqliteContext, 'names'>,
  { table, balance, match, bind }: WalletSql,
  { entries, changes }: GroupPlan,
): WriteStep {
  const after = new Map(changes.map((change) => [change.user, change.after]))
  return {
    sql: `insert into ${names.table('ledger')} ${newEntry(`(select ${balance} from ${table} where ${match}) + ?`)}
on conflict (id_space, transaction_key, entry) do nothing`,
    rows: entries.map((entry) => {
      const values = entryValues(entry)
      const behind =
        entry.balanceAfter === null ? null : integer(entry.balanceAfter - (after.get(entry.user) ?? 0n))
      values.splice(BALANCE_PLACE, 1, ...(bind(text(entry.user)) ?? []), behind)
      return values
    }),
  }
}

/** A credit that does not stand as it was planned makes a row too many, which is rolled back with all others. */
export function knownStep({ names }: Pick<SqliteContext, 'names'>, known: readonly KnownCredit[]): WriteStep {
  return {
    sql: `insert into ${names.table('settings')} (name, value) select 'unknown', '' where not exists (
  select 1 from ${names.table('ledger')}
  where id_space = ? and transaction_key = ? and entry = 'credit' and user_id = ? and amount = ? and unit is ?
    and received_amount is ? and decision = 'booked' and imported = 0 and postback_id is not ?
)`,
    rows: known.map(({ claim, postbackId }) => [
      text(claim.idSpace),
      text(claim.transactionKey),
      text(claim.user),
      integer(claim.amount),
      textOrNull(claim.unit),
      textOrNull(claim.receivedAmount),
      text(postbackId),
    ]),
    changes: 0,
  }
}

/** The number of changed rows. */
function run({ connection }: SqliteContext, { sql, rows }: WriteStep): number {
  return rows.reduce((sum, values) => sum + connection.prepare(sql).run(...values), 0)
}
