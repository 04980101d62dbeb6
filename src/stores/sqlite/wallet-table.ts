/**
 * Where balances are: our own table, or the publisher's. His ids are found byte for byte whatever the column's type or
 * collation, and still through the index on the id.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { WalletTable } from '../../ledger/store.js'
import type { TableNames } from '../table-names.js'
import type { SqlConnection } from './connection.js'
import type { SqlRow, SqlValue } from './driver.js'

/** The pieces of SQL that differ between wallet tables. */
export interface WalletSql {
  readonly table: string
  readonly balance: string
  /** The user as text, compared and ordered by bytes. */
  readonly user: string
  /** Rows whose id can be a user at all. */
  readonly usable: string
  /** Finds one user; its parameters are what `bind` gives. */
  readonly match: string
  /** Null where no row can have this user. */
  readonly bind: (user: string) => readonly SqlValue[] | null
}

/** What the publisher's table turned out to be. */
export interface WalletShape {
  /** How the unique index on the id compares; null for an INTEGER id. */
  readonly collation: string | null
}

/** A reason not to use the table, with what cures it. */
export interface WalletRefusal {
  readonly message: string
  readonly cure: string
}

export function ownWallets(names: TableNames): WalletSql {
  return {
    table: names.table('wallets'),
    balance: 'balance',
    user: 'user_id',
    usable: '1',
    match: 'user_id = ?',
    bind: (user) => [user],
  }
}

export function foreignWallets(wallets: WalletTable, names: TableNames, shape: WalletShape): WalletSql {
  const id = names.quote(wallets.id)
  const common = { table: names.quote(wallets.table), balance: names.quote(wallets.balance) }
  if (shape.collation === null) {
    return {
      ...common,
      user: `cast(${id} as text)`,
      usable: `typeof(${id}) = 'integer'`,
      match: `${id} = ?`,
      bind: (user) => bindInteger(user),
    }
  }
  const user = `${id} collate binary`
  const usable = `typeof(${id}) = 'text'`
  if (shape.collation === 'BINARY') {
    return { ...common, user, usable, match: `${id} = ? collate binary`, bind: (text) => [text] }
  }
  // The first comparison is the one that the index serves, the second is the one that counts.
  const match = `${id} = ? collate ${shape.collation} and cast(${id} as blob) = cast(? as blob)`
  return { ...common, user, usable, match, bind: (text) => [text, text] }
}

/** Only the text that the database itself would print: "001234" and "72abc" are other users than 1234 and 72. */
function bindInteger(user: string): readonly SqlValue[] | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(user)) return null
  const value = BigInt(user)
  return BigInt.asIntN(64, value) === value ? [value] : null
}

/**
 * Looks at the publisher's table without touching its rows.
 *
 * @returns its shape, or why it cannot be used.
 */
export function inspectWalletTable(
  connection: SqlConnection,
  { table, id, balance }: WalletTable,
  amountScale: number,
): WalletShape | WalletRefusal {
  const found = connection
    .prepare("select name, type, wr from pragma_table_list where schema = 'main' and name = ? collate nocase")
    .get(table)
  if (found === undefined) {
    return refusal(
      `There is no table ${table} in the SQLite file.`,
      'Correct wallets.table, or create the table.',
    )
  }
  if (found['type'] !== 'table') {
    return refusal(
      `${table} is a ${String(found['type'])}, not a table.`,
      'Name the table that holds the balances.',
    )
  }
  const columns = connection.prepare('select name, type, pk, hidden from pragma_table_xinfo(?)').all(table)
  const idColumn = columnOf(columns, id)
  const balanceColumn = columnOf(columns, balance)
  for (const [name, column] of [
    [id, idColumn],
    [balance, balanceColumn],
  ] as const) {
    if (column === undefined || column['hidden'] !== 0n) {
      return refusal(`${table} has no writable column ${name}.`, 'Correct wallets.id and wallets.balance.')
    }
  }
  if (amountScale !== 0) {
    return refusal(
      `The SQLite column ${table}.${balance} holds whole numbers, but amountScale is ${amountScale}.`,
      'Set amountScale to 0 and let a coin be the smallest unit, or leave out "wallets" and use our own table.',
    )
  }
  if (!isIntegerType(balanceColumn)) {
    return refusal(
      `${table}.${balance} is declared as ${declared(balanceColumn)}, which SQLite may store as a float.`,
      `alter table "${table}" add column "${balance}_coins" integer not null default 0; ` +
        `update "${table}" set "${balance}_coins" = cast("${balance}" as integer); and set wallets.balance to it.`,
    )
  }
  return inspectId(connection, table, id, idColumn)
}

export function isRefusal(value: WalletShape | WalletRefusal): value is WalletRefusal {
  return 'cure' in value
}

/** @throws PaidonceError `wallet_table_refused` */
export function walletTableRefused({ message, cure }: WalletRefusal): PaidonceError {
  return new PaidonceError('wallet_table_refused', message, { hint: cure })
}

function inspectId(
  connection: SqlConnection,
  table: string,
  id: string,
  column: SqlRow | undefined,
): WalletShape | WalletRefusal {
  const type = declared(column).toUpperCase()
  const integer = isIntegerType(column)
  if (!integer && !/CHAR|CLOB|TEXT/.test(type)) {
    return refusal(
      `${table}.${id} is declared as ${type}; ids can be read from TEXT or INTEGER columns only.`,
      `Declare the column ${id} as TEXT or INTEGER, or name one that is.`,
    )
  }
  const collations = connection
    .prepare(
      `select x.name as name, x.coll as coll from pragma_index_list(?) l, pragma_index_xinfo(l.name) x
where l."unique" = 1 and l.partial = 0 and x.key = 1
  and (select count(*) from pragma_index_xinfo(l.name) where key = 1) = 1`,
    )
    .all(table)
    .filter((row) => sameName(row['name'], id))
    .map((row) => String(row['coll']).toUpperCase())
  const isRowid = type === 'INTEGER' && column?.['pk'] === 1n && isSolePrimaryKey(connection, table)
  if (integer && (isRowid || collations.length > 0)) return { collation: null }
  const collation = ['BINARY', 'NOCASE', 'RTRIM'].find((known) => collations.includes(known))
  if (!integer && collation !== undefined) return { collation }
  return refusal(
    `${table}.${id} is not unique, so that one user could have two balances.`,
    `create unique index "${table}_${id}_unique" on "${table}" ("${id}" collate binary);`,
  )
}

function isSolePrimaryKey(connection: SqlConnection, table: string): boolean {
  const row = connection.prepare('select count(*) as n from pragma_table_info(?) where pk > 0').get(table)
  return row?.['n'] === 1n
}

/** INTEGER affinity (sqlite.org/datatype3.html, 3.1): the declared type contains "INT". */
function isIntegerType(column: SqlRow | undefined): boolean {
  return declared(column).toUpperCase().includes('INT')
}

function declared(column: SqlRow | undefined): string {
  const type = column?.['type']
  return typeof type === 'string' && type !== '' ? type : 'no type'
}

function columnOf(columns: readonly SqlRow[], name: string): SqlRow | undefined {
  return columns.find((column) => sameName(column['name'], name))
}

/** SQLite folds the case of ASCII letters in names. */
function sameName(a: unknown, b: string): boolean {
  return typeof a === 'string' && a.toLowerCase() === b.toLowerCase()
}

function refusal(message: string, cure: string): WalletRefusal {
  return { message, cure }
}
