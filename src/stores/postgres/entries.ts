/**
 * Reading the ledger, and the marks of tests.
 *
 * @module
 */
import { RESERVED_ID_SPACE } from '../../ids.js'
import type { Page, PageOf, StandingTest } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import type { TableNames } from '../table-names.js'
import type { PostgresContext } from './context.js'
import { checkCursor, pageOf } from './pages.js'
import { ENTRY_SELECT, need, readEntry, readStored, STORED_SELECT } from './rows.js'
import type { Session } from './session.js'

/** Beyond every entry. */
export const LAST_ID = '9223372036854775807'

export async function listEntries(
  { sessions, names, scale }: PostgresContext,
  user: string,
  { limit, cursor, cleared }: Page & { readonly cleared?: boolean },
): Promise<PageOf<LedgerEntry>> {
  const before = checkCursor(cursor, 'number') ?? LAST_ID
  const rows = await sessions((session) =>
    session.runOnce(
      'read',
      // Compared and ordered as one row, so that the index of users is the only one that serves: the entries of a hot
      // wallet could else be looked for along the primary key, which is endless once it has gone quiet.
      `select ${ENTRY_SELECT} from ${names.table('ledger')} l
where (l.user_id, l.id) >= ($1, 0) and (l.user_id, l.id) < ($1, $2::bigint) and ($3::boolean or not l.cleared)
order by l.user_id desc, l.id desc limit $4`,
      [user, before, cleared === true, limit + 1],
    ),
  )
  return pageOf(
    rows.map((row) => readEntry(row, scale)),
    limit,
    (entry) => entry.id,
  )
}

/** By the transaction key, or by the transaction id as a network sent it. */
export async function readTransaction(
  { sessions, names, scale }: PostgresContext,
  idSpace: string,
  transactionId: string,
): Promise<readonly LedgerEntry[]> {
  const rows = await sessions((session) =>
    session.runOnce(
      'read',
      // Two look-ups, each with its own index: nearly every key is the transaction id, the others have an index of theirs.
      `select ${ENTRY_SELECT} from (
  select * from ${names.table('ledger')} where id_space = $1 and transaction_key = $2
  union all
  select * from ${names.table('ledger')}
  where id_space = $1 and transaction_id = $2 and transaction_id <> transaction_key
) l
order by l.id`,
      [idSpace, transactionId],
    ),
  )
  return rows.map((row) => readEntry(row, scale))
}

export function usedIdSpaces({ sessions, names }: PostgresContext): Promise<readonly UsedIdSpace[]> {
  return sessions((session) => readIdSpaces(session, names))
}

interface UsedIdSpace {
  readonly idSpace: string
  readonly network: string
}

export async function readIdSpaces(session: Session, names: TableNames): Promise<readonly UsedIdSpace[]> {
  const rows = await session.runOnce(
    'read',
    // Jumps from one id space to the next along the unique key: a few look-ups, however long the ledger is.
    `with recursive spaces as (
  (select id_space from ${names.table('ledger')} order by id_space limit 1)
  union all
  select (select l.id_space from ${names.table('ledger')} l where l.id_space > s.id_space order by l.id_space limit 1)
  from spaces s where s.id_space is not null
)
select s.id_space, (select l.network from ${names.table('ledger')} l where l.id_space = s.id_space limit 1) as network
from spaces s where s.id_space is not null and s.id_space <> $1`,
    [RESERVED_ID_SPACE],
  )
  return rows.map((row) => ({ idSpace: need(row, 'id_space'), network: need(row, 'network') }))
}

export async function listStandingTests(
  { sessions, names, scale }: PostgresContext,
  network: string | null,
  limit: number,
): Promise<readonly StandingTest[]> {
  const rows = await sessions((session) =>
    session.runOnce(
      'read',
      `select l.network, l.id_space, l.transaction_key, l.transaction_id, ${STORED_SELECT}
from ${names.table('ledger')} l
where l.test and not l.cleared and l.entry = 'credit' and l.decision = 'booked' and ($1::text is null or l.network = $1)
  and not exists (
    select 1 from ${names.table('ledger')} r
    where r.id_space = l.id_space and r.transaction_key = l.transaction_key and r.entry = 'reversal'
  )
order by l.id limit $2`,
      [network, limit],
    ),
  )
  return rows.map((row) => ({
    network: need(row, 'network'),
    idSpace: need(row, 'id_space'),
    transactionKey: need(row, 'transaction_key'),
    transactionId: need(row, 'transaction_id'),
    entry: 'credit',
    credit: readStored(row, scale),
  }))
}

export async function markTestsCleared(
  { sessions, names }: PostgresContext,
  network: string | null,
): Promise<number> {
  const rows = await sessions((session) =>
    session.runOnce(
      'single',
      `with marked as (
  update ${names.table('ledger')} l set cleared = true
  where l.test and not l.cleared and ($1::text is null or l.network = $1)
    and (l.decision in ('tombstone', 'refused') or exists (
      select 1 from ${names.table('ledger')} r
      where r.id_space = l.id_space and r.transaction_key = l.transaction_key and r.entry = 'reversal'
    ))
  returning 1
)
select count(*)::text as marked from marked`,
      [network],
    ),
  )
  return Number(need(rows[0] ?? {}, 'marked'))
}
