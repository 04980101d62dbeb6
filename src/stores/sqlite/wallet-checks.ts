/**
 * What only the rows and the text of the publisher's table tell: balances that are no integers, and CHECKs that would
 * refuse a reversal below zero.
 *
 * @module
 */
import type { StoreFinding, WalletTable } from '../../ledger/store.js'
import type { SqliteContext } from './context.js'
import type { SqlConnection } from './connection.js'
import { inspectWalletTable, isRefusal } from './wallet-table.js'

export const WALLET_CHECK = 'wallet_table'

/** Every finding about the publisher's table. */
export async function checkWalletTable(
  context: SqliteContext,
  wallets: WalletTable,
): Promise<StoreFinding[]> {
  const { connection, names, reader } = context
  const shape = inspectWalletTable(connection, wallets, context.amountScale)
  if (isRefusal(shape)) return [found('refuse', shape.message, shape.cure)]
  const table = names.quote(wallets.table)
  const balance = names.quote(wallets.balance)
  const odd = await reader.all(
    `select typeof(${balance}) as type from ${table} where typeof(${balance}) <> 'integer' limit 1`,
    [],
  )
  const type = odd[0]?.['type']
  if (type !== undefined) {
    return [
      found(
        'refuse',
        `${wallets.table}.${wallets.balance} has rows whose balance is ${String(type)}, not an integer.`,
        type === 'null'
          ? `update ${table} set ${balance} = 0 where ${balance} is null;`
          : `Find them with: select * from ${table} where typeof(${balance}) <> 'integer';`,
      ),
    ]
  }
  const check = floorCheckOf(connection, wallets)
  if (check !== null) {
    return [
      found(
        'refuse',
        `${wallets.table} has CHECK (${check}), so that a reversal could not take a balance below zero.`,
        `Build the table anew without that CHECK (sqlite.org/lang_altertable.html, section 7).`,
      ),
    ]
  }
  const nullable = connection
    .prepare('select "notnull" as n from pragma_table_info(?) where name = ? collate nocase')
    .get(wallets.table, wallets.balance)
  return nullable?.['n'] === 1n
    ? [found('ok', `Balances are in ${wallets.table}.${wallets.balance}.`, null)]
    : [
        found(
          'warn',
          `${wallets.table}.${wallets.balance} may be NULL; a postback for such a wallet is not booked.`,
          'Declare it "not null default 0".',
        ),
      ]
}

/** The first CHECK of the table that a balance of -1 breaks, tried out on a row in which everything else is NULL. */
function floorCheckOf(connection: SqlConnection, wallets: WalletTable): string | null {
  const sql = connection
    .prepare("select sql from sqlite_schema where type = 'table' and name = ? collate nocase")
    .get(wallets.table)?.['sql']
  if (typeof sql !== 'string') return null
  const columns = connection.prepare('select name from pragma_table_info(?)').all(wallets.table)
  const row = columns
    .map(({ name }) => String(name))
    .map((name) => {
      const value = name.toLowerCase() === wallets.balance.toLowerCase() ? '-1' : 'null'
      return `${value} as "${name.replaceAll('"', '""')}"`
    })
    .join(', ')
  return (
    checksOf(sql).find((check) => {
      try {
        return connection.prepare(`select (${check}) as holds from (select ${row})`).get()?.['holds'] === 0n
      } catch {
        return false
      }
    }) ?? null
  )
}

/** The texts inside CHECK ( ... ), parentheses in balance. */
function checksOf(sql: string): string[] {
  const checks: string[] = []
  for (const match of sql.matchAll(/\bcheck\s*\(/gi)) {
    const start = match.index + match[0].length
    let depth = 1
    let end = start
    while (end < sql.length && depth > 0) {
      if (sql[end] === '(') depth += 1
      if (sql[end] === ')') depth -= 1
      end += 1
    }
    checks.push(sql.slice(start, end - 1))
  }
  return checks
}

function found(severity: StoreFinding['severity'], message: string, cure: string | null): StoreFinding {
  return { check: WALLET_CHECK, severity, message, cure }
}
