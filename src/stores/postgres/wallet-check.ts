/**
 * Whether the publisher's own table can carry wallets, and how it has to be asked.
 *
 * @module
 */
import type { StoreFinding, WalletTable } from '../../ledger/store.js'
import type { TableNames } from '../table-names.js'
import type { TextRow } from './driver.js'
import { isTrue, maybe, need } from './rows.js'
import type { Session } from './session.js'
import { fine, refuse, warn } from './verify.js'
import { ID_TYPES, type IdType, type WalletPlace } from './wallet-table.js'

export interface WalletCheck {
  readonly findings: readonly StoreFinding[]
  /** Null where the table is refused. */
  readonly place: WalletPlace | null
}

const CHECK = 'wallet_table'

/** Looks at the table, its two columns, its constraints and its rows. */
export async function checkWalletTable(
  session: Session,
  wallets: WalletTable,
  scale: number,
  names: TableNames,
): Promise<WalletCheck> {
  const table =
    (wallets.schema === undefined ? '' : `${names.quote(wallets.schema)}.`) + names.quote(wallets.table)
  const columns = await readColumns(session, table, [wallets.id, wallets.balance])
  const id = columns.find((row) => row['name'] === wallets.id)
  const balance = columns.find((row) => row['name'] === wallets.balance)
  const [any] = columns
  if (any === undefined)
    return refused([
      refuse(CHECK, `There is no table ${table}.`, 'Correct wallets.table and wallets.schema.'),
    ])
  const findings = judgeTable(any, table)
  if (id === undefined) findings.push(missing(table, wallets.id, 'id'))
  if (balance === undefined) findings.push(missing(table, wallets.balance, 'balance'))
  if (id === undefined || balance === undefined || findings.length > 0) return refused(findings)

  const idColumn = names.quote(wallets.id)
  const balanceColumn = names.quote(wallets.balance)
  findings.push(...judgeId(id, table, idColumn), ...judgeBalance(balance, table, balanceColumn, scale))
  if (findings.some(isRefusal)) return refused(findings)
  findings.push(
    ...(await judgeNulls(session, balance, table, balanceColumn)),
    ...(await judgeConstraints(session, balance, table, balanceColumn)),
  )
  if (findings.some(isRefusal)) return refused(findings)
  const idType = need(id, 'type') as IdType
  return {
    findings: [fine(CHECK, `${table} can carry wallets.`), ...findings],
    place: {
      table,
      id: idColumn,
      balance: balanceColumn,
      idType,
      castType: idType === 'varchar' ? 'text' : idType === 'bpchar' ? 'bpchar' : need(id, 'type_name'),
      bytewise: false,
    },
  }
}

function refused(findings: readonly StoreFinding[]): WalletCheck {
  return { findings, place: null }
}

function isRefusal({ severity }: StoreFinding): boolean {
  return severity === 'refuse'
}

function missing(table: string, column: string, role: 'id' | 'balance'): StoreFinding {
  return refuse(CHECK, `${table} has no column "${column}".`, `Correct wallets.${role}.`)
}

async function readColumns(session: Session, table: string, names: readonly string[]): Promise<TextRow[]> {
  return session.runOnce(
    'read',
    `select c.oid::text as relation, c.relkind::text as kind, c.relpersistence::text as persistence,
  a.attname::text as name, a.attnum::text as number, a.attnotnull::text as required, a.attgenerated::text as generated,
  t.typname::text as type, format_type(a.atttypid, null) as type_name, format_type(a.atttypid, a.atttypmod) as full_type,
  information_schema._pg_numeric_precision(a.atttypid, a.atttypmod)::text as precision,
  information_schema._pg_numeric_scale(a.atttypid, a.atttypmod)::text as scale,
  has_column_privilege(c.oid, a.attnum, 'select')::text as can_read,
  has_column_privilege(c.oid, a.attnum, 'update')::text as can_change,
  exists (
    select 1 from pg_index i where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indpred is null
      and i.indexprs is null and i.indnkeyatts = 1 and i.indkey[0] = a.attnum
  )::text as is_unique
from pg_class c
left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname = any($2::text[])
left join pg_type t on t.oid = a.atttypid
where c.oid = to_regclass($1)`,
    [table, [...names]],
  )
}

function judgeTable(row: TextRow, table: string): StoreFinding[] {
  const kind = need(row, 'kind')
  if (kind !== 'r' && kind !== 'p') {
    const what = kind === 'v' ? 'a view' : kind === 'm' ? 'a materialized view' : 'no ordinary table'
    return [
      refuse(
        CHECK,
        `${table} is ${what}: its rows cannot be locked.`,
        'Name the table that holds the balances.',
      ),
    ]
  }
  if (need(row, 'persistence') !== 'p') {
    return [
      refuse(
        CHECK,
        `${table} is unlogged or temporary: a crash empties it.`,
        `alter table ${table} set logged`,
      ),
    ]
  }
  return []
}

function judgeId(row: TextRow, table: string, column: string): StoreFinding[] {
  const type = need(row, 'type')
  if (!(ID_TYPES as readonly string[]).includes(type)) {
    return [
      refuse(
        CHECK,
        `The id column ${column} of ${table} has the type ${need(row, 'full_type')}, which is not supported.`,
        `alter table ${table} alter column ${column} type text`,
      ),
    ]
  }
  const findings: StoreFinding[] = []
  if (!isTrue(row, 'is_unique')) {
    findings.push(
      refuse(
        CHECK,
        `The id column ${column} of ${table} has no unique index of its own: one user could have two wallets.`,
        `alter table ${table} add unique (${column})`,
      ),
    )
  }
  if (!isTrue(row, 'can_read')) {
    findings.push(
      refuse(
        CHECK,
        `This account may not read ${column} of ${table}.`,
        `grant select (${column}) on ${table} to current_user`,
      ),
    )
  }
  return findings
}

function judgeBalance(row: TextRow, table: string, column: string, scale: number): StoreFinding[] {
  const type = need(row, 'type')
  const fullType = need(row, 'full_type')
  const exact = `alter table ${table} alter column ${column} type numeric(19, ${scale})`
  if (need(row, 'generated') !== '') {
    return [
      refuse(
        CHECK,
        `${column} of ${table} is a generated column.`,
        'Name the column that it is computed from.',
      ),
    ]
  }
  if (!isTrue(row, 'can_read') || !isTrue(row, 'can_change')) {
    return [
      refuse(
        CHECK,
        `This account may not read and update ${column} of ${table}.`,
        `grant select (${column}), update (${column}) on ${table} to current_user`,
      ),
    ]
  }
  if (type === 'numeric') {
    const decimals = maybe(row, 'scale')
    const precision = maybe(row, 'precision')
    if (decimals === null || precision === null) return []
    if (Number(decimals) < scale) {
      return [
        refuse(CHECK, `${column} of ${table} is ${fullType}: it has fewer than ${scale} decimals.`, exact),
      ]
    }
    const digits = Number(precision) - Number(decimals) + scale
    return digits < 16 ? [tooSmall(table, column, fullType, exact)] : []
  }
  if (type === 'int2' || type === 'int4' || type === 'int8') {
    if (scale !== 0) {
      return [
        refuse(
          CHECK,
          `${column} of ${table} is ${fullType} and cannot hold ${scale} decimals.`,
          `Set amountScale: 0 where coins are whole, or: ${exact}`,
        ),
      ]
    }
    const wider = `alter table ${table} alter column ${column} type bigint`
    return type === 'int8' ? [] : [tooSmall(table, column, fullType, wider)]
  }
  const rounded = `${exact} using round(${column}::numeric, ${scale})`
  return [
    type === 'float4' || type === 'float8'
      ? refuse(CHECK, `${column} of ${table} is ${fullType}, which is not exact.`, rounded)
      : refuse(
          CHECK,
          `${column} of ${table} has the type ${fullType}, which cannot hold a balance.`,
          rounded,
        ),
  ]
}

function tooSmall(table: string, column: string, type: string, cure: string): StoreFinding {
  return warn(
    CHECK,
    `${column} of ${table} is ${type}: the largest amounts do not fit and would be refused.`,
    cure,
  )
}

async function judgeNulls(
  session: Session,
  row: TextRow,
  table: string,
  column: string,
): Promise<StoreFinding[]> {
  if (isTrue(row, 'required')) return []
  const cure = `update ${table} set ${column} = 0 where ${column} is null; alter table ${table} alter column ${column} set not null`
  const nulls = await session.runOnce('read', `select 1 from ${table} where ${column} is null limit 1`)
  return nulls.length > 0
    ? [refuse(CHECK, `${column} of ${table} is NULL in some rows: nothing can be added to NULL.`, cure)]
    : [warn(CHECK, `${column} of ${table} may be NULL: a credit of such a user would be refused.`, cure)]
}

/** A reversal may take a balance below zero, so that no constraint may forbid it. */
async function judgeConstraints(
  session: Session,
  row: TextRow,
  table: string,
  column: string,
): Promise<StoreFinding[]> {
  const constraints = await session.runOnce(
    'read',
    `select quote_ident(k.conname) as name, pg_get_expr(k.conbin, k.conrelid) as expression,
  (cardinality(k.conkey) = 1)::text as alone
from pg_constraint k where k.conrelid = $1::oid and k.contype = 'c' and $2::int2 = any(k.conkey)`,
    [need(row, 'relation'), need(row, 'number')],
  )
  const findings: StoreFinding[] = []
  for (const constraint of constraints) {
    const name = need(constraint, 'name')
    const cure = `alter table ${table} drop constraint ${name}`
    if (isTrue(constraint, 'alone')) {
      // The catalogue's own expression is asked about a balance of -1: no parser of ours could read them all.
      const [verdict = {}] = await session.runOnce(
        'read',
        `select (${need(constraint, 'expression')})::text as allowed from (select (-1)::${need(row, 'full_type')} as ${column}) t`,
      )
      if (maybe(verdict, 'allowed') === 'false') {
        findings.push(refuse(CHECK, `The constraint ${name} of ${table} forbids a balance below zero.`, cure))
      }
    } else {
      findings.push(
        warn(
          CHECK,
          `The constraint ${name} of ${table} may forbid some balances: ${need(constraint, 'expression')}.`,
          cure,
        ),
      )
    }
  }
  return findings
}
