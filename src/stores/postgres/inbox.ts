/**
 * The inbox outside of groups.
 *
 * @module
 */
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { AnswerCorrection, Page, PageOf, Postback, PostbackFilter } from '../../ledger/store.js'
import { ADDRESS_ROWS, firstIdAt, PRUNED_THOUGH_OPEN_SQL } from '../inbox-bounds.js'
import { findPostbacks } from '../inbox-search.js'
import { encodeRows, rowSource } from './columns.js'
import type { PostgresContext } from './context.js'
import { inboxReads, openOf } from './inbox-index.js'
import { checkCursor, isUuid } from './pages.js'
import { need, POSTBACK_COLUMNS, POSTBACK_SELECT, readPostbackRow } from './rows.js'
import { statement } from './session.js'

export async function writePostbacks(
  { sessions, names, scale }: PostgresContext,
  rows: readonly PostbackRow[],
): Promise<void> {
  if (rows.length === 0) return
  const source = rowSource(POSTBACK_COLUMNS, 1, 'r')
  await sessions((session) =>
    session.run(
      'single',
      statement(`insert into ${names.table('postbacks')} (${POSTBACK_COLUMNS.map(({ name }) => name).join(', ')})
select ${source.select} from ${source.from}
on conflict (id) do nothing`),
      encodeRows(POSTBACK_COLUMNS, rows, scale),
    ),
  )
}

export async function correctAnswers(
  { sessions, names }: PostgresContext,
  corrections: readonly AnswerCorrection[],
): Promise<void> {
  if (corrections.length === 0) return
  await sessions((session) =>
    session.runOnce(
      'single',
      `update ${names.table('postbacks')} p set answer_status = c.status, answer_body = c.body
from unnest($1::uuid[], $2::smallint[], $3::text[]) as c(id, status, body) where p.id = c.id`,
      [
        corrections.map(({ id }) => id),
        corrections.map(({ answer }) => answer.status),
        corrections.map(({ answer }) => answer.body),
      ],
    ),
  )
}

export async function listPostbacks(
  { sessions, names, scale }: PostgresContext,
  filter: PostbackFilter,
  page: Page,
): Promise<PageOf<Postback>> {
  checkCursor(page.cursor, 'uuid')
  return sessions((session) => findPostbacks(inboxReads(session, names, scale), filter, page))
}

export async function readPostback(
  { sessions, names, scale }: PostgresContext,
  id: string,
): Promise<Postback | null> {
  if (!isUuid(id)) return null
  const text = `select ${POSTBACK_SELECT}, ${openOf(names)}::text as open from ${names.table('postbacks')} p where p.id = $1`
  const [row] = await sessions((session) => session.runOnce('read', text, [id]))
  return row === undefined ? null : readPostbackRow(row, scale)
}

export async function resolvePostback(
  { sessions, names }: PostgresContext,
  id: string,
  reason: string,
): Promise<boolean> {
  if (!isUuid(id)) return false
  const rows = await sessions((session) =>
    session.runOnce(
      'single',
      `update ${names.table('postbacks')} p set open = false, resolved_reason = $2
where p.id = $1 and ${openOf(names)} returning 1`,
      [id, reason],
    ),
  )
  return rows.length > 0
}

export async function prunePostbacks(
  { sessions, names }: PostgresContext,
  { verified, before, limit }: { readonly verified: boolean; readonly before: Date; readonly limit: number },
): Promise<number> {
  const table = names.table('postbacks')
  const rows = await sessions((session) =>
    session.runOnce(
      'single',
      // The ids start with the time, so that an index of them ends where the old rows end; a row that somebody else
      // holds waits for the next round. The class is written out, or the partial index could not serve.
      `with gone as (
  delete from ${table} where id in (
    select p.id from ${table} p
    where ${verified ? 'p.verified' : 'not p.verified'} and p.id < $1::uuid and p.received_at < $2
      and (p.outcome in ${PRUNED_THOUGH_OPEN_SQL} or not ${openOf(names)})
    order by p.id limit $3 for update of p skip locked
  ) returning 1
)
select count(*)::text as gone from gone`,
      [firstIdAt(before), before.toISOString(), limit],
    ),
  )
  return Number(need(rows[0] ?? {}, 'gone'))
}

export async function verifiedAddresses(
  { sessions, names }: PostgresContext,
  since: Date,
  limit: number,
): Promise<readonly { readonly network: string; readonly ip: string }[]> {
  const rows = await sessions((session) =>
    session.runOnce(
      'read',
      `select distinct p.network, p.ip from (
  select network, ip, verified, received_at from ${names.table('postbacks')} order by id desc limit ${ADDRESS_ROWS}
) p
where p.verified and p.received_at >= $1 limit $2`,
      [since.toISOString(), limit],
    ),
  )
  return rows.map((row) => ({ network: need(row, 'network'), ip: need(row, 'ip') }))
}
