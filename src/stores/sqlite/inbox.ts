/**
 * The inbox: every call with what became of it.
 *
 * @module
 */
import type { PostbackRow } from '../../ledger/postback-row.js'
import type {
  AnswerCorrection,
  LedgerStore,
  Page,
  PageOf,
  Postback,
  PostbackFilter,
} from '../../ledger/store.js'
import { ADDRESS_ROWS, firstIdAt, PRUNED_THOUGH_OPEN_SQL } from '../inbox-bounds.js'
import { findPostbacks } from '../inbox-search.js'
import type { SqliteContext } from './context.js'
import { inboxReads, isOpen, selectPostbacks } from './inbox-index.js'
import { count, NEW_POSTBACK, postbackFrom, postbackValues, readText, text, time } from './rows.js'
import { PATIENT, writeTransaction } from './transaction.js'

/** Rows of calls that are in no group; one that exists is left as it is. */
export function writePostbacks(
  { connection, names }: SqliteContext,
  rows: readonly PostbackRow[],
): Promise<void> {
  const sql = `insert into ${names.table('postbacks')} ${NEW_POSTBACK}
on conflict (id) do nothing`
  return writeTransaction(connection, PATIENT, () => {
    for (const row of rows) connection.prepare(sql).run(...postbackValues(row))
  })
}

export function correctAnswers(
  { connection, names }: SqliteContext,
  corrections: readonly AnswerCorrection[],
): Promise<void> {
  const sql = `update ${names.table('postbacks')} set answer_status = ?, answer_body = ? where id = ?`
  return writeTransaction(connection, PATIENT, () => {
    for (const { id, answer } of corrections) {
      connection.prepare(sql).run(count(answer.status), text(answer.body), text(id))
    }
  })
}

export function listPostbacks(
  context: SqliteContext,
  filter: PostbackFilter,
  page: Page,
): Promise<PageOf<Postback>> {
  return findPostbacks(inboxReads(context), filter, page)
}

export async function readPostback({ reader, names }: SqliteContext, id: string): Promise<Postback | null> {
  const [row] = await reader.all(
    `${selectPostbacks(names)} from ${names.table('postbacks')} p where p.id = ?`,
    [text(id)],
  )
  return row === undefined ? null : postbackFrom(row)
}

export function resolvePostback(
  { connection, names }: SqliteContext,
  id: string,
  reason: string,
): Promise<boolean> {
  const sql = `update ${names.table('postbacks')} as p set open = 0, resolved_reason = ?
where p.id = ? and ${isOpen(names)}`
  return writeTransaction(
    connection,
    PATIENT,
    () => connection.prepare(sql).run(text(reason), text(id)) === 1,
  )
}

/** The rows are found by the reader, so that a long inbox never stops the receiver; each is asked again at its end. */
export async function prunePostbacks(
  { connection, reader, names }: SqliteContext,
  prune: Parameters<LedgerStore['prunePostbacks']>[0],
): Promise<number> {
  // The class is written out, or the partial index could not serve.
  const old = `p.verified = ${prune.verified ? 1 : 0} and p.received_at < ?
  and (p.outcome in ${PRUNED_THOUGH_OPEN_SQL} or not ${isOpen(names)})`
  const before = time(prune.before)
  const found = await reader.all(
    // The ids start with the time, so that an index of them ends where the old rows end.
    `select p.id from ${names.table('postbacks')} p where p.id < ? and ${old} order by p.id limit ?`,
    [firstIdAt(prune.before), before, BigInt(prune.limit)],
  )
  if (found.length === 0) return 0
  const sql = `delete from ${names.table('postbacks')} as p where p.id = ? and ${old}`
  return writeTransaction(connection, PATIENT, () =>
    found.reduce((sum, row) => sum + connection.prepare(sql).run(readText(row, 'id'), before), 0),
  )
}

export async function verifiedAddresses(
  { reader, names }: SqliteContext,
  since: Date,
  limit: number,
): Promise<readonly { readonly network: string; readonly ip: string }[]> {
  const rows = await reader.all(
    `select distinct network, ip from (
  select network, ip, verified, received_at from ${names.table('postbacks')} order by id desc limit ${ADDRESS_ROWS}
)
where verified = 1 and received_at >= ? order by network, ip limit ?`,
    [time(since), BigInt(limit)],
  )
  return rows.map((row) => ({ network: readText(row, 'network'), ip: readText(row, 'ip') }))
}
