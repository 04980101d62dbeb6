/**
 * Reads of the inbox along its indexes.
 *
 * @module
 */
import type { Postback, PostbackFilter } from '../../ledger/store.js'
import { CLOSED_BY_ENTRY_SQL, NOT_LED_TO_SQL } from '../inbox-bounds.js'
import { PERIOD_DIGITS, type InboxReads } from '../inbox-reads.js'
import { unionReads } from '../inbox-unions.js'
import { prefixEnd } from '../prefix-end.js'
import type { TableNames } from '../table-names.js'
import type { SqliteContext } from './context.js'
import type { SqlValue } from './driver.js'
import { usedIdSpaces } from './entries.js'
import { startsWith, type Where } from './pages.js'
import { flag, POSTBACK_COLUMNS, postbackFrom, readText, readTextOrNull, text, time } from './rows.js'

/** Everything but `open`, which is told by `isOpen`. */
const READ_COLUMNS = `${POSTBACK_COLUMNS.replace(/, open$/, '')}, resolved_reason`

const PERIOD = `substr(p.id, 1, ${PERIOD_DIGITS})`

/** What an entry of the same key closes by itself; the view says the same. */
export function isOpen(names: TableNames): string {
  return `(p.open = 1 and not (p.outcome in ${CLOSED_BY_ENTRY_SQL} and exists (
    select 1 from ${names.table('ledger')} l
    where l.id_space = p.id_space and l.transaction_key = p.transaction_key and l.entry = p.entry
  )))`
}

/** A row of the inbox as it is read, as `p`. */
export function selectPostbacks(names: TableNames): string {
  return `select ${READ_COLUMNS.replaceAll(/\b[a-z_]+\b/g, 'p.$&')}, ${isOpen(names)} as open`
}

export function inboxReads({ reader, names }: Pick<SqliteContext, 'reader' | 'names'>): InboxReads<Postback> {
  const indexes = {
    // SQLite's own name for the index of a primary key.
    primary: names.quote(`sqlite_autoindex_${names.prefix}postbacks_1`),
    class: names.index('postbacks_class'),
    user: names.index('postbacks_other_user'),
    transaction: names.index('postbacks_other_transaction'),
  }
  const ledgerIndexes = {
    key: names.quote(`sqlite_autoindex_${names.prefix}ledger_1`),
    user: names.index('ledger_user_rows'),
    other_id: names.index('ledger_other_id'),
  }
  const from = (index: keyof typeof indexes): string =>
    `${names.table('postbacks')} as p indexed by ${indexes[index]}`
  const column =
    (name: string) =>
    async ({ sql, values }: { readonly sql: string; readonly values: readonly SqlValue[] }) =>
      (await reader.all(sql, values)).map((row) => readText(row, name))
  const rows = async (sql: string, values: readonly SqlValue[]): Promise<readonly Postback[]> =>
    (await reader.all(sql, values)).map(postbackFrom)
  const select = selectPostbacks(names)
  return {
    ...unionReads<SqlValue>(
      {
        from,
        indexed: NOT_LED_TO_SQL,
        ledger: (index) => `${names.table('ledger')} as l indexed by ${ledgerIndexes[index]}`,
        otherId: { column: 'l.transaction_id', indexed: 'l.transaction_id <> l.transaction_key' },
        columns: {
          class: ['p.network', 'p.outcome', 'p.open'],
          user: [PERIOD, 'p.user_id'],
          transaction: [PERIOD, 'p.transaction_id'],
        },
        text,
        flag,
        period: text,
        id: text,
        prefixEnd,
      },
      {
        ids: async ({ sql, values }) =>
          (await reader.all(sql, values)).map((row) => readTextOrNull(row, 'id') ?? ''),
        networks: column('network'),
        idSpaces: async () => (await usedIdSpaces({ reader, names })).map(({ idSpace }) => idSpace),
      },
    ),
    rowsIn({ from: first, before }, filter, count) {
      const { conditions, values } = whereOf(filter, names)
      const where = ['p.id >= ?', 'p.id < ?', ...conditions].join(' and ')
      return rows(`${select} from ${from('primary')} where ${where} order by p.id desc limit ${count}`, [
        first,
        before,
        ...values,
      ])
    },
    rowsOf(ids, filter, count) {
      const { conditions, values } = whereOf(filter, names)
      // CROSS JOIN keeps the order: a look-up for each id, whatever the conditions could use.
      const sql = `${select} from json_each(?) k cross join ${from('primary')}
where ${['p.id = k.value', ...conditions].join(' and ')} order by p.id desc limit ${count}`
      return rows(sql, [JSON.stringify(ids), ...values])
    },
  }
}

/** Pure: lists within one filter are alternatives, filters are combined. */
function whereOf(filter: PostbackFilter, names: TableNames): Where {
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
  if (filter.open !== undefined) where.conditions.push(`${filter.open ? '' : 'not '}${isOpen(names)}`)
  if (filter.since !== undefined) {
    where.conditions.push('p.received_at >= ?')
    where.values.push(time(filter.since))
  }
  if (filter.until !== undefined) {
    where.conditions.push('p.received_at < ?')
    where.values.push(time(filter.until))
  }
  if (filter.q !== undefined) {
    const transaction = startsWith('p.transaction_id', filter.q)
    const user = startsWith('p.user_id', filter.q)
    where.conditions.push(`(${transaction.condition} or ${user.condition})`)
    where.values.push(...transaction.values, ...user.values)
  }
  return where
}
