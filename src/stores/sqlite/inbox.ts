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
import type { TableNames } from '../table-names.js'
import type { SqliteContext } from './context.js'
import { cutPage, startsWith, type Where } from './pages.js'
import {
  count,
  NEW_POSTBACK,
  POSTBACK_COLUMNS,
  postbackFrom,
  postbackValues,
  readText,
  text,
  time,
} from './rows.js'
import { PATIENT, writeTransaction } from './transaction.js'

/** Everything but `open`, which is told by `isOpen`. */
const READ_COLUMNS = `${POSTBACK_COLUMNS.replace(/, open$/, '')}, resolved_reason`

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

export async function listPostbacks(
  { reader, names }: SqliteContext,
  filter: PostbackFilter,
  page: Page,
): Promise<PageOf<Postback>> {
  const { conditions, values } = whereOf(filter, page.cursor, names)
  const rows = await reader.all(
    `select ${READ_COLUMNS}, ${isOpen(names)} as open from ${names.table('postbacks')} p
${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`} order by p.id desc limit ?`,
    [...values, BigInt(page.limit + 1)],
  )
  return cutPage(rows.map(postbackFrom), page.limit, (row) => row.id)
}

export async function readPostback({ reader, names }: SqliteContext, id: string): Promise<Postback | null> {
  const [row] = await reader.all(
    `select ${READ_COLUMNS}, ${isOpen(names)} as open from ${names.table('postbacks')} p where p.id = ?`,
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

/** What an entry of the same key closes by itself; the view says the same. */
function isOpen(names: TableNames): string {
  return `(p.open = 1 and not (p.outcome in ('unknown_user', 'held') and exists (
    select 1 from ${names.table('ledger')} l
    where l.id_space = p.id_space and l.transaction_key = p.transaction_key and l.entry = p.entry
  )))`
}

/** Pure: lists within one filter are alternatives, filters are combined. */
function whereOf(filter: PostbackFilter, cursor: string | null, names: TableNames): Where {
  const where: Where = { conditions: [], values: [] }
  const among = (column: string, list: readonly string[] | undefined): void => {
    if (list === undefined) return
    where.conditions.push(`p.${column} in (${list.map(() => '?').join(', ')})`)
    where.values.push(...list.map(text))
  }
  among('network', filter.network)
  among('user_id', filter.user)
  among('transaction_id', filter.transactionId)
  among('outcome', filter.outcome)
  if (filter.open === true) {
    // The first condition is the one of the partial index.
    where.conditions.push('p.open = 1', isOpen(names))
  }
  if (filter.open === false) where.conditions.push(`not ${isOpen(names)}`)
  if (filter.since !== undefined) {
    where.conditions.push('p.received_at >= ?')
    where.values.push(time(filter.since))
  }
  if (filter.until !== undefined) {
    where.conditions.push('p.received_at < ?')
    where.values.push(time(filter.until))
  }
  if (filter.q !== undefined && filter.q !== '') {
    const transaction = startsWith('p.transaction_id', filter.q)
    const user = startsWith('p.user_id', filter.q)
    where.conditions.push(`(${transaction.condition} or ${user.condition})`)
    where.values.push(...transaction.values, ...user.values)
  }
  if (cursor !== null) {
    where.conditions.push('p.id < ?')
    where.values.push(cursor)
  }
  return where
}
