/**
 * Wallets and ledger entries as people read them.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { LedgerStore, Page, PageOf, StandingTest, WalletRow } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import { RESERVED_ID_SPACE } from '../../ids.js'
import type { SqliteContext } from './context.js'
import type { SqlRow, SqlValue } from './driver.js'
import { insertWallet } from './group-statements.js'
import { cutPage, ledgerIdOf, startsWith, type Where } from './pages.js'
import {
  ENTRY_COLUMNS,
  entryFrom,
  readInteger,
  readText,
  STORED_COLUMNS,
  storedEntryFrom,
  text,
} from './rows.js'
import { PATIENT, writeTransaction } from './transaction.js'

export async function readWallet(
  { reader, wallets }: SqliteContext,
  user: string,
): Promise<WalletRow | null> {
  const { table, balance, match, bind } = wallets()
  const values = bind(text(user))
  if (values === null) return null
  const [row] = await reader.all(`select ${balance} as balance from ${table} where ${match}`, values)
  return row === undefined ? null : { user, balance: readInteger(row, 'balance') }
}

export async function listWallets(
  { reader, wallets }: SqliteContext,
  page: Parameters<LedgerStore['listWallets']>[0],
): Promise<PageOf<WalletRow>> {
  const { table, balance, user, usable } = wallets()
  const where: Where = { conditions: [usable], values: [] }
  if (page.cursor !== null) {
    where.conditions.push(`${user} > ?`)
    where.values.push(page.cursor)
  }
  if (page.prefix !== undefined && page.prefix !== '') {
    const range = startsWith(user, page.prefix)
    where.conditions.push(range.condition)
    where.values.push(...range.values)
  }
  if (page.negative === true) where.conditions.push(`${balance} < 0`)
  const rows = await reader.all(
    `select ${user} as user_id, ${balance} as balance from ${table}
where ${where.conditions.join(' and ')} order by ${user} limit ?`,
    [...where.values, limitOf(page)],
  )
  const items = rows.map((row) => ({ user: readText(row, 'user_id'), balance: readInteger(row, 'balance') }))
  return cutPage(items, page.limit, (row) => row.user)
}

/** @throws PaidonceError `foreign_wallets` where users are made by the publisher's app. */
export async function createWallet(context: SqliteContext, user: string): Promise<boolean> {
  if (context.foreign !== null) {
    throw new PaidonceError('foreign_wallets', `Wallets are rows of the table ${context.foreign.table}.`, {
      hint: 'Let the app that owns the table create the user.',
    })
  }
  return writeTransaction(context.connection, PATIENT, () => insertWallet(context, user))
}

export async function listEntries(
  { reader, names }: SqliteContext,
  user: string,
  page: Page & { readonly cleared?: boolean },
): Promise<PageOf<LedgerEntry>> {
  const values: SqlValue[] = [text(user)]
  let condition = 'user_id = ?'
  if (page.cursor !== null) {
    condition += ' and id < ?'
    values.push(ledgerIdOf(page.cursor))
  }
  if (page.cleared !== true) condition += ' and cleared = 0'
  const rows = await reader.all(
    // By name: once an operator has run ANALYZE, a hot wallet could be looked for along the primary key.
    `select ${ENTRY_COLUMNS} from ${names.table('ledger')} indexed by ${names.index('ledger_user_rows')}
where ${condition} order by id desc limit ?`,
    [...values, limitOf(page)],
  )
  return cutPage(rows.map(entryFrom), page.limit, (entry) => entry.id)
}

/** By the transaction id as a network sent it, or by the transaction key: two look-ups, each with its own index. */
export async function readTransaction(
  { reader, names }: SqliteContext,
  idSpace: string,
  transactionId: string,
): Promise<readonly LedgerEntry[]> {
  const rows = await reader.all(
    // Nearly every key is the transaction id; the others have an index of theirs.
    `select ${ENTRY_COLUMNS} from ${names.table('ledger')} where id_space = ? and transaction_key = ?
union all
select ${ENTRY_COLUMNS} from ${names.table('ledger')} indexed by ${names.index('ledger_other_id')}
where id_space = ? and transaction_id = ? and transaction_id <> transaction_key
order by id`,
    [text(idSpace), text(transactionId), idSpace, transactionId],
  )
  return rows.map(entryFrom)
}

export async function usedIdSpaces({
  reader,
  names,
}: Pick<SqliteContext, 'reader' | 'names'>): Promise<
  readonly { readonly idSpace: string; readonly network: string }[]
> {
  const rows = await reader.all(
    // Jumps from one id space to the next along the unique key: a few look-ups, however long the ledger is.
    `with recursive spaces (id_space) as (
  select min(id_space) from ${names.table('ledger')}
  union all
  select (select min(l.id_space) from ${names.table('ledger')} l where l.id_space > s.id_space)
  from spaces s where s.id_space is not null
)
select s.id_space, (select l.network from ${names.table('ledger')} l where l.id_space = s.id_space limit 1) as network
from spaces s where s.id_space is not null and s.id_space <> ? order by 1`,
    [RESERVED_ID_SPACE],
  )
  return rows.map((row) => ({ idSpace: readText(row, 'id_space'), network: readText(row, 'network') }))
}

export async function listStandingTests(
  { reader, names }: SqliteContext,
  network: string | null,
  limit: number,
): Promise<readonly StandingTest[]> {
  const rows = await reader.all(
    `select network, id_space, transaction_key, transaction_id, ${STORED_COLUMNS} from ${names.table('ledger')} c
where c.entry = 'credit' and c.test = 1 and c.decision = 'booked' and c.cleared = 0
  ${network === null ? '' : 'and c.network = ?'} and not ${hasReversal(names.table('ledger'), 'c')}
order by c.id limit ?`,
    [...(network === null ? [] : [network]), BigInt(limit)],
  )
  return rows.map(standingTest)
}

/** The rows are found by the reader, so that a long ledger never stops the receiver; each is asked again at its change. */
export async function markTestsCleared(context: SqliteContext, network: string | null): Promise<number> {
  const { connection, reader, names } = context
  const condition = `test = 1 and cleared = 0
  and (decision in ('tombstone', 'refused') or ${hasReversal(names.table('ledger'), names.table('ledger'))})`
  const found = await reader.all(
    `select id from ${names.table('ledger')} where ${condition} ${network === null ? '' : 'and network = ?'}`,
    network === null ? [] : [network],
  )
  if (found.length === 0) return 0
  const sql = `update ${names.table('ledger')} set cleared = 1 where id = ? and ${condition}`
  return writeTransaction(connection, PATIENT, () =>
    found.reduce((sum, row) => sum + connection.prepare(sql).run(readInteger(row, 'id')), 0),
  )
}

function standingTest(row: SqlRow): StandingTest {
  const credit = storedEntryFrom(row)
  return {
    network: readText(row, 'network'),
    idSpace: readText(row, 'id_space'),
    transactionKey: readText(row, 'transaction_key'),
    transactionId: readText(row, 'transaction_id'),
    entry: credit.entry,
    credit,
  }
}

function hasReversal(ledger: string, outer: string): string {
  return `exists (
    select 1 from ${ledger} r where r.entry = 'reversal'
      and r.id_space = ${outer}.id_space and r.transaction_key = ${outer}.transaction_key
  )`
}

function limitOf(page: Page): bigint {
  return BigInt(page.limit + 1)
}
