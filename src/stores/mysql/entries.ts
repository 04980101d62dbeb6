/**
 * Reading the ledger, and marking the entries of tests.
 *
 * @module
 */
import { RESERVED_ID_SPACE } from '../../ids.js'
import type { Page, PageOf, StandingTest } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import type { TableNames } from '../table-names.js'
import { bytes, ENTRY_COLUMNS, readEntry, readStoredEntry, STORED_COLUMNS, text } from './rows.js'
import type { SqlValue } from './driver.js'
import type { Session } from './session.js'

export interface LedgerPlace {
  readonly names: TableNames
  readonly scale: number
}

const CURSOR = /^\d{1,19}$/

/** Newest first. */
export async function listEntries(
  session: Session,
  { names, scale }: LedgerPlace,
  user: string,
  { limit, cursor, cleared }: Page & { readonly cleared?: boolean },
): Promise<PageOf<LedgerEntry>> {
  const before = cursor !== null && CURSOR.test(cursor) ? `and id < ${cursor}` : ''
  const rows = await session.read({
    // By name, or a hot wallet could be looked for along the primary key.
    sql: `select ${ENTRY_COLUMNS} from ${names.table('ledger')} force index (${names.index('ledger_user_rows')})
where user_id = ? ${before} ${cleared === true ? '' : 'and cleared = 0'}
order by ${names.table('ledger')}.id desc limit ${limit + 1}`,
    values: [bytes(user)],
  })
  const items = rows.slice(0, limit).map((row) => readEntry(row, scale))
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
}

/**
 * Every entry of a transaction key or of a transaction id, oldest first: two look-ups, each with its own index. Nearly
 * every key is the transaction id; `other_id` is the id where it is not.
 */
export async function readTransaction(
  session: Session,
  { names, scale }: LedgerPlace,
  idSpace: string,
  transactionId: string,
): Promise<LedgerEntry[]> {
  const space = bytes(idSpace)
  const id = bytes(transactionId)
  const rows = await session.read({
    sql: `select ${ENTRY_COLUMNS} from (
  select * from ${names.table('ledger')} force index (${names.index('ledger_key')})
  where id_space = ? and transaction_key = ?
  union all
  select * from ${names.table('ledger')} force index (${names.index('ledger_other_id')})
  where other_id = ? and id_space = ?
) l
order by l.id`,
    values: [space, id, id, space],
  })
  return rows.map((row) => readEntry(row, scale))
}

/** The id spaces and networks that the ledger knows, our own left out. */
export async function usedIdSpaces(
  session: Session,
  { names }: LedgerPlace,
): Promise<{ idSpace: string; network: string }[]> {
  const rows = await session.read({
    // Grouping by the first column of the unique key is a loose index scan: a look-up for each id space.
    sql: `select s.id_space, (select l.network from ${names.table('ledger')} l where l.id_space = s.id_space limit 1) as network
from (select id_space from ${names.table('ledger')} group by id_space) s where s.id_space <> ?`,
    values: [bytes(RESERVED_ID_SPACE)],
  })
  return rows.map((row) => ({ idSpace: text(row['id_space']), network: text(row['network']) }))
}

/** Test credits that nobody has reversed or cleared. */
export async function listStandingTests(
  session: Session,
  { names, scale }: LedgerPlace,
  network: string | null,
  limit: number,
): Promise<StandingTest[]> {
  const rows = await session.read({
    sql: `select id_space, transaction_key, network, transaction_id, ${STORED_COLUMNS}
from ${names.table('ledger')} c
where c.test = 1 and c.cleared = 0 and c.entry = 'credit' and c.decision = 'booked'
  ${network === null ? '' : 'and c.network = ?'}
  and not exists (${reversalOf(names, 'c')})
order by c.id limit ${limit}`,
    values: network === null ? [] : [bytes(network)],
  })
  return rows.map((row) => ({
    network: text(row['network']),
    idSpace: text(row['id_space']),
    transactionKey: text(row['transaction_key']),
    transactionId: text(row['transaction_id']),
    entry: 'credit',
    credit: readStoredEntry(row, scale),
  }))
}

/** Ids for one UPDATE: few enough that its locks are short. */
const MARKED_AT_ONCE = 500

/** Marks the entries of tests of which nothing stands any more; resolves to their number. */
export async function markTestsCleared(
  session: Session,
  { names }: LedgerPlace,
  network: string | null,
): Promise<number> {
  const values: SqlValue[] = network === null ? [] : [bytes(network)]
  for (let marked = 0; ;) {
    const rows = await session.read({
      sql: `select cast(t.id as char) as id from ${names.table('ledger')} t
where t.test = 1 and t.cleared = 0 ${network === null ? '' : 'and t.network = ?'}
  and (t.decision in ('tombstone', 'refused') or exists (${reversalOf(names, 't')}))
order by t.id limit ${MARKED_AT_ONCE}`,
      values,
    })
    if (rows.length === 0) return marked
    // Read first and changed by id: an UPDATE that searches would lock every row that it looks at.
    await session.write({
      sql: `update ${names.table('ledger')} set cleared = 1
where id in (${rows.map((row) => text(row['id'])).join(', ')})`,
      values: [],
    })
    marked += rows.length
  }
}

function reversalOf(names: TableNames, alias: string): string {
  return `select 1 from ${names.table('ledger')} r
    where r.id_space = ${alias}.id_space and r.transaction_key = ${alias}.transaction_key and r.entry = 'reversal'`
}
