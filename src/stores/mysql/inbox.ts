/**
 * The inbox outside a group: rejected calls, lists, corrections and the clean-up.
 *
 * @module
 */
import type { AnswerCorrection, Page, PageOf, Postback, PostbackFilter } from '../../ledger/store.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import { ADDRESS_ROWS, firstIdAt, PRUNED_THOUGH_OPEN_SQL } from '../inbox-bounds.js'
import { findPostbacks } from '../inbox-search.js'
import type { LedgerPlace } from './entries.js'
import { writePostbackRows } from './group-statements.js'
import { inboxReads, POSTBACK_COLUMNS } from './inbox-index.js'
import { openExpression } from './migrations.js'
import { bytes, datetime, flag, readPostbackRow, requiredUuid, text, uuidBytes } from './rows.js'
import type { Row, SqlValue } from './driver.js'
import type { Session } from './session.js'

export async function writePostbacks(
  session: Session,
  { names, scale }: LedgerPlace,
  rows: readonly PostbackRow[],
): Promise<void> {
  for (const statement of writePostbackRows(names, scale, rows, 'keep')) await session.write(statement)
}

/** Corrections for one statement. */
const CORRECTED_AT_ONCE = 200

export async function correctAnswers(
  session: Session,
  { names }: LedgerPlace,
  corrections: readonly AnswerCorrection[],
): Promise<void> {
  for (let start = 0; start < corrections.length; start += CORRECTED_AT_ONCE) {
    const batch = corrections.slice(start, start + CORRECTED_AT_ONCE)
    const ids = batch.map(({ id }) => requiredUuid(id))
    const cases = batch.map(() => 'when ? then ?').join(' ')
    await session.write({
      sql: `update ${names.table('postbacks')}
set answer_status = case id ${cases} end, answer_body = case id ${cases.replaceAll('then ?', 'then _utf8mb4 ?')} end
where id in (${ids.map(() => '?').join(', ')})`,
      values: [
        ...batch.flatMap(({ answer }, index): SqlValue[] => [ids[index] ?? null, answer.status]),
        ...batch.flatMap(({ answer }, index): SqlValue[] => [ids[index] ?? null, bytes(answer.body)]),
        ...ids,
      ],
    })
  }
}

export function listPostbacks(
  session: Session,
  place: LedgerPlace,
  filter: PostbackFilter,
  page: Page,
): Promise<PageOf<Postback>> {
  return findPostbacks(inboxReads(session, place), filter, page)
}

export async function readPostback(
  session: Session,
  { names, scale }: LedgerPlace,
  id: string,
): Promise<Postback | null> {
  const key = uuidBytes(id)
  if (key === null) return null
  const [row] = await session.read({
    sql: `select ${POSTBACK_COLUMNS}, ${openExpression(names)} as open from ${names.table('postbacks')} p where p.id = ?`,
    values: [key],
  })
  return row === undefined ? null : readPostbackRow(row, scale)
}

/** Closes an open row; false where there is none. */
export async function resolvePostback(
  session: Session,
  { names }: LedgerPlace,
  id: string,
  reason: string,
): Promise<boolean> {
  const key = uuidBytes(id)
  if (key === null) return false
  const [row] = await session.read({
    sql: `select ${openExpression(names)} as open from ${names.table('postbacks')} p where p.id = ?`,
    values: [key],
  })
  if (row === undefined || Number(row['open']) !== 1) return false
  const closed = await session.write({
    sql: `update ${names.table('postbacks')} set open = 0, resolved_reason = ? where id = ? and open = 1`,
    values: [bytes(reason), key],
  })
  return closed > 0
}

/** Deletes old rows by id, after a plain read: a searching DELETE would lock rows that the receiver writes. */
export async function prunePostbacks(
  session: Session,
  { names }: LedgerPlace,
  { verified, before, limit }: { readonly verified: boolean; readonly before: Date; readonly limit: number },
): Promise<number> {
  const rows = await session.read({
    // The ids start with the time, so that this index ends where the old rows end.
    sql: `select p.id from ${names.table('postbacks')} p force index (${names.index('postbacks_verified')})
where p.verified = ? and p.id < ? and p.received_at < ?
  and (p.outcome in ${PRUNED_THOUGH_OPEN_SQL} or not ${openExpression(names)})
order by p.id limit ${limit}`,
    values: [flag(verified), requiredUuid(firstIdAt(before)), datetime(before)],
  })
  if (rows.length === 0) return 0
  return session.write({
    sql: `delete from ${names.table('postbacks')} where id in (${rows.map(() => '?').join(', ')})`,
    values: rows.map(idOf),
  })
}

function idOf(row: Row): Buffer {
  return row['id'] as Buffer
}

export async function verifiedAddresses(
  session: Session,
  { names }: LedgerPlace,
  since: Date,
  limit: number,
): Promise<{ network: string; ip: string }[]> {
  const rows = await session.read({
    sql: `select distinct network, ip from (
  select network, ip, verified, received_at from ${names.table('postbacks')} order by id desc limit ${ADDRESS_ROWS}
) newest
where verified = 1 and received_at >= ? order by network, ip limit ${limit}`,
    values: [datetime(since)],
  })
  return rows.map((row) => ({ network: text(row['network']), ip: text(row['ip']) }))
}
