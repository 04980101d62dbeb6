/**
 * Wallets in our table or in the publisher's, behind one set of statements. A user is found by the index and then by
 * the exact bytes, whatever the id column's type and collation are.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { WalletChange } from '../../ledger/group.js'
import type { TableNames } from '../table-names.js'
import { textLiteral } from './literals.js'
import { bytes, decimal, floorMinor, text } from './rows.js'
import type { Row, SqlValue, Statement } from './driver.js'

/** How the id column holds a user. */
export type IdKind =
  | { readonly kind: 'bytes' }
  | { readonly kind: 'text'; readonly charset: string; readonly collation: string }
  | { readonly kind: 'integer'; readonly min: bigint; readonly max: bigint }
  | { readonly kind: 'uuid' }

/** A wallet table as its statements need it; every name is quoted already. */
export interface WalletColumns {
  readonly foreign: boolean
  readonly table: string
  readonly id: string
  readonly balance: string
  /** The unique index on the id, so that no optimizer scans (and locks) the table. */
  readonly index: string
  readonly idKind: IdKind
  readonly scale: number
}

export interface WalletRead {
  readonly user: string
  readonly balance: bigint
}

/** Our own table, whose columns we know. */
export function ownWallets(names: TableNames, scale: number): WalletColumns {
  return {
    foreign: false,
    table: names.table('wallets'),
    id: names.quote('user_id'),
    balance: names.quote('balance'),
    index: 'primary',
    idKind: { kind: 'bytes' },
    scale,
  }
}

/**
 * Reads wallets; `lock` says how. Null where no user of the list can be in such a column at all.
 *
 * `skip` leaves locked rows out, `wait` waits for them (no longer than the session's lock wait), `none` is a plain read.
 */
export function selectWallets(
  columns: WalletColumns,
  users: readonly string[],
  lock: 'skip' | 'wait' | 'none',
): Statement | null {
  const match = matchUsers(columns, users)
  if (match === null) return null
  const clause = lock === 'skip' ? ' for update skip locked' : lock === 'wait' ? ' for update' : ''
  return {
    sql: `select ${userBytes(columns)} as user_bytes, cast(${columns.balance} as char) as balance
from ${columns.table} force index (${columns.index})
where ${match}${clause}`,
    values: [],
  }
}

/** @throws StoreError `refused` where the publisher's balance is NULL */
export function readWalletRow(columns: WalletColumns, row: Row): WalletRead {
  const user = text(row['user_bytes'])
  if (row['balance'] === null) {
    throw new StoreError(
      'refused',
      `The balance of user ${JSON.stringify(user)} is NULL in ${columns.table}.`,
    )
  }
  return { user, balance: floorMinor(row['balance'], columns.scale) }
}

/** Changes each locked balance once, by its sum and never by its value. */
export function changeBalances(columns: WalletColumns, changes: readonly WalletChange[]): Statement {
  const { table, id, balance, scale, foreign } = columns
  if (!foreign) {
    const rows = changes.map(
      ({ user, amount }) => `(${textLiteral(user)},${decimal(amount, scale)},utc_timestamp(3))`,
    )
    return {
      sql: `insert into ${table} (${id}, ${balance}, created_at)
values ${rows.join(',')}
on duplicate key update ${balance} = ${balance} + values(${balance})`,
      values: [],
    }
  }
  const match = matchUsers(
    columns,
    changes.map(({ user }) => user),
  )
  if (match === null) throw new StoreError('refused', `No changed user can be in ${table}.`)
  const cases = changes.map(
    ({ user, amount }) =>
      `when ${textLiteral(user)} then cast(${decimal(amount, scale)} as decimal(19, ${scale}))`,
  )
  return {
    sql: `update ${table} force index (${columns.index})
set ${balance} = ${balance} + case ${userBytes(columns)}
${cases.join('\n')} end
where ${match}`,
    values: [],
  }
}

export interface WalletPage {
  /** Users after this one, in the order of the id's index. */
  readonly after: string | null
  readonly prefix: string
  readonly negative: boolean
  readonly limit: number
}

/** One page of wallets, or null where the cursor can be no user of this table. */
export function pageOfWallets(columns: WalletColumns, page: WalletPage): Statement | null {
  const conditions = ['true']
  const values: SqlValue[] = []
  if (page.after !== null) {
    const after = idLiteral(columns.idKind, page.after)
    if (after === null) return null
    conditions.push(`${columns.id} > ${after}`)
  }
  if (page.prefix !== '') {
    const prefix = bytes(page.prefix)
    conditions.push(`left(${userBytes(columns)}, ${prefix.length}) = ?`)
    values.push(prefix)
    if (columns.idKind.kind === 'bytes') {
      // As a range, so that the index ends where the prefix does. No byte of UTF-8 is 255, so the last one can grow.
      const end = bytes(page.prefix)
      end.writeUInt8((end.at(-1) ?? 0) + 1, end.length - 1)
      conditions.push(`${columns.id} >= ? and ${columns.id} < ?`)
      values.push(prefix, end)
    }
  }
  if (page.negative) conditions.push(`${columns.balance} < 0`)
  return {
    sql: `select ${userBytes(columns)} as user_bytes, cast(${columns.balance} as char) as balance
from ${columns.table} force index (${columns.index})
where ${conditions.join(' and ')}
order by ${columns.id} limit ${page.limit}`,
    values,
  }
}

/** The condition that finds these users: the index narrows, the bytes decide. Null where it can find none. */
export function matchUsers(columns: WalletColumns, users: readonly string[]): string | null {
  const found: string[] = []
  const literals: string[] = []
  for (const user of users) {
    const literal = idLiteral(columns.idKind, user)
    if (literal === null) continue
    found.push(textLiteral(user))
    literals.push(literal)
  }
  if (found.length === 0) return null
  const indexed = `${columns.id} in (${literals.join(',')})`
  return columns.idKind.kind === 'text'
    ? `${indexed} and ${userBytes(columns)} in (${found.join(',')})`
    : indexed
}

/** The user's text as the database prints it, in UTF-8 bytes. */
export function userBytes({ id, idKind }: WalletColumns): string {
  switch (idKind.kind) {
    case 'bytes':
      return id
    case 'text':
      return `cast(convert(${id} using utf8mb4) as binary)`
    case 'integer':
      // Through a plain integer, because ZEROFILL would print zeros that no network sent.
      return `cast(cast(${id} as ${idKind.min < 0n ? 'signed' : 'unsigned'}) as binary)`
    case 'uuid':
      return `cast(cast(${id} as char) as binary)`
  }
}

const CANONICAL_INTEGER = /^(0|-?[1-9]\d{0,19})$/
const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A user as a value of the id's own type, so that the index serves; null where the type has no such value. */
function idLiteral(idKind: IdKind, user: string): string | null {
  switch (idKind.kind) {
    case 'bytes':
      return textLiteral(user)
    case 'text':
      // Converted and collated here, because a character that the column cannot hold would otherwise be an error for
      // the whole group. It becomes '?', and the byte-wise condition rejects whatever that finds.
      return `convert(_utf8mb4 ${textLiteral(user)} using ${idKind.charset}) collate ${idKind.collation}`
    case 'integer': {
      // "001234" and "72abc" are users of no integer column: the server would make 1234 and 72 of them.
      if (!CANONICAL_INTEGER.test(user)) return null
      const number = BigInt(user)
      return number < idKind.min || number > idKind.max ? null : number.toString()
    }
    case 'uuid':
      return CANONICAL_UUID.test(user) ? `'${user}'` : null
  }
}
