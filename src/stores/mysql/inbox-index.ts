/**
 * Reads of the inbox along its indexes.
 *
 * @module
 */
import type { Postback, PostbackFilter } from '../../ledger/store.js'
import { periodNumber, type InboxReads } from '../inbox-reads.js'
import { unionReads, type UnionStatement } from '../inbox-unions.js'
import type { SqlValue, Statement } from './driver.js'
import { usedIdSpaces, type LedgerPlace } from './entries.js'
import { openExpression } from './migrations.js'
import { bytes, DATE_FORMAT, datetime, flag, readPostbackRow, requiredUuid, text, uuidText } from './rows.js'
import type { Session } from './session.js'

export const POSTBACK_COLUMNS = `p.id, p.network, date_format(p.received_at, '${DATE_FORMAT}') as received_at, p.method, p.url,
  p.headers, p.body, p.ip, p.outcome, p.reason, p.verified, p.test, p.transaction_id, p.id_space, p.transaction_key, p.entry,
  p.user_id, cast(p.amount as char) as amount, p.answer_status, p.answer_body, p.milliseconds, p.resolved_reason`

export function inboxReads(session: Session, { names, scale }: LedgerPlace): InboxReads<Postback> {
  const indexes = {
    primary: 'primary',
    class: names.index('postbacks_class'),
    user: names.index('postbacks_other_user'),
    transaction: names.index('postbacks_other_transaction'),
  }
  const from = (index: keyof typeof indexes): string =>
    `${names.table('postbacks')} p force index (${indexes[index]})`
  const open = openExpression(names)
  const rows = async (where: readonly Statement[], count: number): Promise<readonly Postback[]> => {
    const found = await session.read({
      sql: `select ${POSTBACK_COLUMNS}, ${open} as open from ${from('primary')}
where ${where.map(({ sql }) => sql).join('\n  and ')}
order by p.id desc limit ${count}`,
      values: where.flatMap(({ values }) => values),
    })
    return found.map((row) => readPostbackRow(row, scale))
  }
  return {
    ...unionReads<SqlValue>(
      {
        from,
        // Their columns are NULL in all other rows.
        indexed: 'true',
        ledger: (index) =>
          `${names.table('ledger')} l force index (${names.index(index === 'user' ? 'ledger_user_rows' : `ledger_${index}`)})`,
        otherId: { column: 'l.other_id', indexed: 'true' },
        columns: {
          class: ['p.network', 'p.outcome', 'p.open'],
          user: ['p.period', 'p.other_user'],
          transaction: ['p.period', 'p.other_transaction'],
        },
        text: bytes,
        flag,
        period: periodNumber,
        id: requiredUuid,
        prefixEnd: endOf,
      },
      {
        ids: async (statement: UnionStatement<SqlValue>) =>
          (await session.read(statement)).map(({ id }) => (id === null ? '' : uuidText(id))),
        networks: async (statement) => (await session.read(statement)).map((row) => text(row['network'])),
        idSpaces: async () => (await usedIdSpaces(session, { names, scale })).map(({ idSpace }) => idSpace),
      },
    ),
    rowsIn: (range, filter, count) =>
      rows(
        [
          { sql: 'p.id >= ? and p.id < ?', values: [requiredUuid(range.from), requiredUuid(range.before)] },
          ...conditionsOf(filter, open),
        ],
        count,
      ),
    rowsOf: (ids, filter, count) =>
      rows(
        [
          { sql: `p.id in (${ids.map(() => '?').join(', ')})`, values: ids.map(requiredUuid) },
          ...conditionsOf(filter, open),
        ],
        count,
      ),
  }
}

function conditionsOf(filter: PostbackFilter, open: string): Statement[] {
  const among = (column: string, list: readonly string[] | undefined): Statement[] =>
    list === undefined
      ? []
      : [{ sql: `p.${column} in (${list.map(() => '?').join(', ')})`, values: list.map(bytes) }]
  return [
    ...among('network', filter.network),
    ...among('user_id', filter.user),
    ...among('transaction_id', filter.transactionId),
    ...among('outcome', filter.outcome),
    ...(filter.open === undefined ? [] : [{ sql: filter.open ? open : `not ${open}`, values: [] }]),
    ...(filter.since === undefined ? [] : [{ sql: 'p.received_at >= ?', values: [datetime(filter.since)] }]),
    ...(filter.until === undefined ? [] : [{ sql: 'p.received_at < ?', values: [datetime(filter.until)] }]),
    ...(filter.q === undefined ? [] : [startsWith(filter.q)]),
  ]
}

function startsWith(prefix: string): Statement {
  const range = [bytes(prefix), endOf(prefix)]
  return {
    sql: '((p.transaction_id >= ? and p.transaction_id < ?) or (p.user_id >= ? and p.user_id < ?))',
    values: [...range, ...range],
  }
}

/** The smallest bytes beyond a prefix. No byte of UTF-8 is 255, so the last one can grow. */
function endOf(prefix: string): Buffer {
  const end = bytes(prefix)
  end.writeUInt8((end.at(-1) ?? 0) + 1, end.length - 1)
  return end
}
