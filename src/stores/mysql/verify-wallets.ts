/**
 * The publisher's wallet table: what its columns are, and whether coins can be booked into it.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { StoreFinding, WalletTable } from '../../ledger/store.js'
import type { TableNames } from '../table-names.js'
import type { Session } from './session.js'
import { fine, refuse, warn } from './verify.js'
import { qualified, readFacts, type ColumnFacts, type WalletFacts } from './wallet-facts.js'
import type { IdKind, WalletColumns } from './wallet-table.js'

export interface WalletVerdict {
  readonly findings: readonly StoreFinding[]
  /** Null where the table was refused. */
  readonly columns: WalletColumns | null
}

/** Looks at the publisher's table and judges it. */
export async function verifyWallets(
  session: Session,
  names: TableNames,
  wallets: WalletTable,
  scale: number,
): Promise<WalletVerdict> {
  const facts = await readFacts(session, names, wallets)
  return judgeWallets(names, wallets, facts, scale)
}

/** Judges the table; pure. The first refusal ends it, because the next one would often follow from it. */
export function judgeWallets(
  names: TableNames,
  wallets: WalletTable,
  facts: WalletFacts,
  scale: number,
): WalletVerdict {
  const table = qualified(names, wallets)
  const id = names.quote(wallets.id)
  const balance = names.quote(wallets.balance)
  const fault = faultOf(table, id, balance, wallets, facts, scale)
  if (fault !== null) return { findings: [refuse('wallets', ...fault)], columns: null }
  const idKind = facts.id === null ? null : idKindOf(facts.id)
  if (idKind === null || facts.balance === null || facts.uniqueIndex === null) {
    throw new TypeError('A wallet table without a fault lacks what would be one.')
  }
  const findings = [fine('wallets', `Coins are booked into ${table}, column ${balance}.`)]
  if (facts.balance.nullable) {
    findings.push(
      warn(
        'wallets',
        `${table}.${balance} allows NULL, and a NULL balance cannot be credited.`,
        `alter table ${table} modify ${balance} ${facts.balance.fullType} not null default 0`,
      ),
    )
  }
  const digits = facts.balance.precision - facts.balance.scale
  if (digits < 12) {
    findings.push(
      warn(
        'wallets',
        `${table}.${balance} holds ${digits} digits before the point; a larger balance is refused.`,
        alterBalance(table, balance, scale),
      ),
    )
  }
  for (const clause of checksOn(wallets.balance, facts.checks)) {
    findings.push(
      warn(
        'wallets',
        `A CHECK limits ${table}.${balance}: ${clause}.`,
        'Make sure that it allows every balance.',
      ),
    )
  }
  const index = names.quote(facts.uniqueIndex)
  return { findings, columns: { foreign: true, table, id, balance, index, idKind, scale } }
}

function faultOf(
  table: string,
  id: string,
  balance: string,
  wallets: WalletTable,
  facts: WalletFacts,
  scale: number,
): [message: string, cure: string] | null {
  if (facts.table === null) {
    return [`There is no table ${table}.`, `Create it, or correct "wallets.table" (and "wallets.schema").`]
  }
  if (facts.table.isView) return [`${table} is a view.`, 'Name the table behind it in "wallets.table".']
  if (facts.table.engine?.toLowerCase() !== 'innodb') {
    return [
      `${table} uses the engine ${String(facts.table.engine)}, which cannot roll back: a credit could be booked in half.`,
      `alter table ${table} engine = InnoDB`,
    ]
  }
  if (facts.id === null) return [`${table} has no column ${id}.`, 'Correct "wallets.id".']
  if (facts.balance === null) return [`${table} has no column ${balance}.`, 'Correct "wallets.balance".']
  if (idKindOf(facts.id) === null) {
    return [
      `${table}.${id} is ${facts.id.fullType}, in which a user cannot be found byte for byte.`,
      `alter table ${table} modify ${id} varbinary(255) not null`,
    ]
  }
  if (facts.uniqueIndex === null) {
    return [
      `${table}.${id} is not unique: one credit could reach two rows.`,
      `alter table ${table} add unique key (${id})`,
    ]
  }
  return balanceFault(table, balance, wallets, facts, facts.balance, scale)
}

const INTEGERS = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint']

function balanceFault(
  table: string,
  balance: string,
  wallets: WalletTable,
  facts: WalletFacts,
  column: ColumnFacts,
  scale: number,
): [message: string, cure: string] | null {
  const cure = alterBalance(table, balance, scale)
  if (column.generated)
    return [`${table}.${balance} is a generated column.`, 'Name a stored column in "wallets.balance".']
  if (column.type !== 'decimal' && !INTEGERS.includes(column.type)) {
    return [`${table}.${balance} is ${column.fullType}, which does not hold every amount exactly.`, cure]
  }
  if (/unsigned|zerofill/i.test(column.fullType)) {
    return [`${table}.${balance} is ${column.fullType}: a reversal can take a balance below zero.`, cure]
  }
  if (column.scale < scale) {
    return [
      `${table}.${balance} is ${column.fullType}: ${column.scale} decimals, and coins have ${scale}.`,
      cure,
    ]
  }
  if (facts.hasNullBalance) {
    return [
      `${table} has rows whose ${balance} is NULL.`,
      `update ${table} set ${balance} = 0 where ${balance} is null`,
    ]
  }
  const limiting = checksOn(wallets.balance, facts.checks).find((clause) =>
    forbidsNegative(wallets.balance, clause),
  )
  if (limiting !== undefined) {
    return [
      `A CHECK on ${table} forbids a ${balance} below zero (${limiting}), and a reversal can need one.`,
      `alter table ${table} drop constraint (the one that says ${limiting}; see "show create table ${table}")`,
    ]
  }
  return null
}

function alterBalance(table: string, balance: string, scale: number): string {
  return `alter table ${table} modify ${balance} decimal(19, ${scale}) not null default 0`
}

/** How users are looked up in a column of this type; null where they cannot be. */
export function idKindOf(column: ColumnFacts): IdKind | null {
  const bits = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, bigint: 64n }[column.type]
  if (bits !== undefined) {
    return /unsigned/i.test(column.fullType)
      ? { kind: 'integer', min: 0n, max: 2n ** bits - 1n }
      : { kind: 'integer', min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }
  }
  if (column.type === 'varbinary' || column.type === 'binary') return { kind: 'bytes' }
  if (column.type === 'uuid') return { kind: 'uuid' }
  if (column.type !== 'varchar' && column.type !== 'char') return null
  const { charset, collation } = column
  // Both names go into statements, so they are held to what names of the server look like.
  const isName = (name: string | null): name is string => name !== null && /^[a-z0-9_]+$/i.test(name)
  return isName(charset) && isName(collation) ? { kind: 'text', charset, collation } : null
}

/** CHECK clauses that name the column. */
function checksOn(column: string, checks: readonly string[]): string[] {
  return checks.filter((clause) =>
    new RegExp(`(^|[^\\w$])${escapeRegExp(column)}([^\\w$]|$)`, 'i').test(clause),
  )
}

function forbidsNegative(column: string, clause: string): boolean {
  const name = `[\`"]?${escapeRegExp(column)}[\`"]?`
  return new RegExp(
    `${name}\\s*>=?\\s*\\(?\\s*(0|[1-9])|(0|[1-9])[\\d.]*\\s*\\)?\\s*<=?\\s*${name}`,
    'i',
  ).test(clause)
}

function escapeRegExp(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** The refusal as an error, with the statement that cures it. */
export function walletTableRefused(finding: StoreFinding): PaidonceError {
  return new PaidonceError(
    'wallet_table_refused',
    finding.message,
    finding.cure === null ? {} : { hint: finding.cure },
  )
}
