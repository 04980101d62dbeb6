/**
 * What the server says about the publisher's wallet table.
 *
 * @module
 */
import type { WalletTable } from '../../ledger/store.js'
import type { TableNames } from '../table-names.js'
import type { Row } from './driver.js'
import { optionalText, text } from './rows.js'
import type { Session } from './session.js'

/** One column as information_schema tells it. */
export interface ColumnFacts {
  /** Lower case, for example `varchar`. */
  readonly type: string
  /** With length and attributes, for example `int(10) unsigned`. */
  readonly fullType: string
  readonly nullable: boolean
  readonly precision: number
  readonly scale: number
  readonly charset: string | null
  readonly collation: string | null
  readonly generated: boolean
}

/** Everything that is judged about the table. */
export interface WalletFacts {
  /** Null where there is no such table. */
  readonly table: { readonly isView: boolean; readonly engine: string | null } | null
  readonly id: ColumnFacts | null
  readonly balance: ColumnFacts | null
  /** A whole unique B-tree index on the id alone. */
  readonly uniqueIndex: string | null
  readonly checks: readonly string[]
  readonly hasNullBalance: boolean
}

export function qualified(names: TableNames, { schema, table }: WalletTable): string {
  return schema === undefined ? names.quote(table) : `${names.quote(schema)}.${names.quote(table)}`
}

/** Looks everything up. */
export async function readFacts(
  session: Session,
  names: TableNames,
  wallets: WalletTable,
): Promise<WalletFacts> {
  const schema = wallets.schema === undefined ? 'database()' : '_utf8mb4 ?'
  const values = [
    ...(wallets.schema === undefined ? [] : [Buffer.from(wallets.schema)]),
    Buffer.from(wallets.table),
  ]
  const where = `table_schema = ${schema} and table_name = _utf8mb4 ?`
  const [table] = await session.read({
    sql: `select table_type as kind, engine as engine from information_schema.tables where ${where}`,
    values,
  })
  if (table === undefined) {
    return { table: null, id: null, balance: null, uniqueIndex: null, checks: [], hasNullBalance: false }
  }
  const columns = await session.read({
    sql: `select column_name as name, data_type as type, column_type as full_type, is_nullable as nullable,
  numeric_precision as digits, numeric_scale as decimals, character_set_name as charset, collation_name as collation,
  extra as extra
from information_schema.columns where ${where}`,
    values,
  })
  const columnOf = (name: string): ColumnFacts | null => {
    const row = columns.find((candidate) => text(candidate['name']).toLowerCase() === name.toLowerCase())
    return row === undefined ? null : readColumn(row)
  }
  const balance = columnOf(wallets.balance)
  const isView = !text(table['kind']).toUpperCase().includes('BASE TABLE')
  return {
    table: { isView, engine: optionalText(table['engine']) },
    id: columnOf(wallets.id),
    balance,
    uniqueIndex: await readUniqueIndex(session, where, values, wallets.id),
    checks: await readChecks(session, schema, values),
    hasNullBalance: balance?.nullable === true && !isView && (await hasNull(session, names, wallets)),
  }
}

function readColumn(row: Row): ColumnFacts {
  return {
    type: text(row['type']).toLowerCase(),
    fullType: text(row['full_type']).toLowerCase(),
    nullable: text(row['nullable']).toUpperCase() === 'YES',
    precision: Number(row['digits'] ?? 0),
    scale: Number(row['decimals'] ?? 0),
    charset: optionalText(row['charset']),
    collation: optionalText(row['collation']),
    generated: /generated/i.test(text(row['extra'])) && !/default_generated/i.test(text(row['extra'])),
  }
}

async function readUniqueIndex(
  session: Session,
  where: string,
  values: readonly Buffer[],
  id: string,
): Promise<string | null> {
  const rows = await session.read({
    sql: `select index_name as name, min(column_name) as first_column from information_schema.statistics
where ${where} and non_unique = 0 and index_type = 'BTREE'
group by index_name having count(*) = 1 and max(sub_part) is null`,
    values,
  })
  const found = rows
    // An index on an expression has no column.
    .filter((row) => optionalText(row['first_column'])?.toLowerCase() === id.toLowerCase())
    .map((row) => text(row['name']))
  return found.find((name) => name === 'PRIMARY') ?? found[0] ?? null
}

/** CHECK clauses: MariaDB names the table beside them, MySQL elsewhere, and MySQL before 8.0.16 knows none. */
async function readChecks(session: Session, schema: string, values: readonly Buffer[]): Promise<string[]> {
  const hasTableName = await session.read({
    sql: `select column_name as name from information_schema.columns
where table_schema = 'information_schema' and table_name = 'CHECK_CONSTRAINTS'`,
    values: [],
  })
  if (hasTableName.length === 0) return []
  const isMaria = hasTableName.some((row) => text(row['name']).toLowerCase() === 'table_name')
  const rows = await session.read({
    sql: isMaria
      ? `select check_clause as clause from information_schema.check_constraints
where constraint_schema = ${schema} and table_name = _utf8mb4 ?`
      : `select c.check_clause as clause from information_schema.check_constraints c
join information_schema.table_constraints t
  on t.constraint_schema = c.constraint_schema and t.constraint_name = c.constraint_name and t.constraint_type = 'CHECK'
where t.table_schema = ${schema} and t.table_name = _utf8mb4 ?`,
    values,
  })
  return rows.map((row) => text(row['clause']))
}

async function hasNull(session: Session, names: TableNames, wallets: WalletTable): Promise<boolean> {
  const rows = await session.read({
    sql: `select 1 as found from ${qualified(names, wallets)} where ${names.quote(wallets.balance)} is null limit 1`,
    values: [],
  })
  return rows.length > 0
}
