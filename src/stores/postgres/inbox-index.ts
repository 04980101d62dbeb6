/**
 * Reads of the inbox along its indexes. Each is written so that the planner has one index to choose, whatever it knows
 * of the tables: "order by id" alone would also allow a walk along the primary key, which is endless where what is
 * looked for is rare. So the last column of an index and the id are compared and ordered as one row, which no other index
 * serves; and parts stand in one LATERAL, because a planner takes 0.1 ms for each arm of a UNION.
 *
 * @module
 */
import type { Postback, PostbackFilter } from '../../ledger/store.js'
import { CLOSED_BY_ENTRY_SQL, NOT_LED_TO_SQL } from '../inbox-bounds.js'
import {
  PERIOD_DIGITS,
  type IdIndex,
  type IdRange,
  type InboxParts,
  type InboxReads,
} from '../inbox-reads.js'
import { prefixEnd } from '../prefix-end.js'
import type { TableNames } from '../table-names.js'
import type { TextRow } from './driver.js'
import { LAST_ID, readIdSpaces } from './entries.js'
import { need, POSTBACK_SELECT, readPostbackRow } from './rows.js'
import type { Session } from './session.js'

/** Open, and no ledger entry of its key exists: the view `v_postbacks` says the same. */
export function openOf(names: TableNames): string {
  // A scalar look-up with LIMIT, because NOT EXISTS may be planned as a hash of the whole ledger.
  return `(p.open and (p.outcome not in ${CLOSED_BY_ENTRY_SQL} or (
  select true from ${names.table('ledger')} l
  where l.id_space = p.id_space and l.transaction_key = p.transaction_key and l.entry = p.entry collate "C" limit 1
) is null))`
}

/** The period of a row's id, word for word as in the indexes. */
const PERIOD = `(left(p.id::text, ${PERIOD_DIGITS}) collate "C")`

const COLUMNS: Readonly<Record<InboxParts['index'], readonly string[]>> = {
  class: ['p.network', 'p.outcome collate "C"', 'p.open'],
  user: [PERIOD, 'p.user_id'],
  transaction: [PERIOD, 'p.transaction_id'],
}

export function inboxReads(session: Session, names: TableNames, scale: number): InboxReads<Postback> {
  const table = names.table('postbacks')
  const idsOf = async ({ text, values }: Query): Promise<readonly string[]> =>
    (await session.runOnce('read', text, values)).map((row) => need(row, 'id'))
  const rowsOf = async ({ text, values }: Query): Promise<readonly Postback[]> =>
    (await session.runOnce('read', text, values)).map((row: TextRow) => readPostbackRow(row, scale))
  const select = `select ${POSTBACK_SELECT}, ${openOf(names)}::text as open from ${table} p`
  const spacesOf = async (): Promise<string[]> =>
    (await readIdSpaces(session, names)).map(({ idSpace }) => idSpace)
  return {
    bookedOf: async (index, ids, most) =>
      idsOf(
        index === 'user'
          ? bookedOfUsers(names, ids, most)
          : bookedOfTransactions(names, await spacesOf(), ids, most),
      ),
    bookedWithPrefix: async (prefix, most) => idsOf(bookedWithPrefix(names, await spacesOf(), prefix, most)),
    networks: async () =>
      (await session.runOnce('read', networksSql(table))).map((row) => need(row, 'network')),
    idBehind: async ({ from, before }, count) => {
      const text = `select p.id::text as id from ${table} p where p.id >= $1 and p.id < $2 order by p.id desc offset $3 limit 1`
      const [id] = await idsOf({ text, values: [from, before, count] })
      return id ?? null
    },
    newestOf: (parts, range, count) => idsOf(newestOf(table, parts, range, count)),
    someWithPrefix: (index, prefix, periods, count) => {
      const { values, bind } = binder()
      const [period = '', id = ''] = COLUMNS[index]
      const text = `select s.id::text as id from unnest(${bind([...periods])}::text[]) e(period) cross join lateral (
  select p.id from ${table} p
  where ${NOT_LED_TO_SQL} and ${period} = e.period and ${startsWith(id, prefix, bind)}
  order by ${period}, ${id} limit ${bind(count)}
) s`
      return idsOf({ text, values })
    },
    newestWithPrefix: (index, prefix, period, range, count) =>
      idsOf(newestWithPrefix(table, index, prefix, period, range, count)),
    rowsIn: ({ from, before }, filter, count) => {
      const { values, bind } = binder()
      const range = [`p.id >= ${bind(from)}::uuid`, `p.id < ${bind(before)}::uuid`]
      const where = [...range, ...conditionsOf(filter, bind, names)].join(' and ')
      return rowsOf({ text: `${select} where ${where} order by p.id desc limit ${bind(count)}`, values })
    },
    rowsOf: (ids, filter, count) => {
      const { values, bind } = binder()
      // By LATERAL and LIMIT, so that each row is one look-up whatever the planner thinks of the list.
      const list = `unnest(${bind([...ids])}::uuid[]) k(id)`
      const where = ['p.id = k.id', ...conditionsOf(filter, bind, names)].join(' and ')
      const text = `select p.* from ${list} cross join lateral (${select} where ${where} limit 1) p
order by k.id desc limit ${bind(count)}`
      return rowsOf({ text, values })
    },
  }
}

interface Query {
  readonly text: string
  readonly values: unknown[]
}

function newestOf(table: string, along: InboxParts, { from, before }: IdRange, count: number): Query {
  const { values, bind } = binder()
  const columns = COLUMNS[along.index]
  const lists =
    along.index === 'class'
      ? [
          `${bind(along.parts.map(({ network }) => network))}::text[]`,
          `${bind(along.parts.map(({ outcome }) => outcome))}::text[]`,
          `${bind(along.parts.map(({ open }) => open))}::boolean[]`,
        ]
      : [
          `${bind(along.parts.map(({ period }) => period))}::text[]`,
          `${bind(along.parts.map(({ id }) => id))}::text[]`,
        ]
  const part = columns.map((_, place) => `c${place}`)
  const last = columns.length - 1
  const equal = [
    ...(along.index === 'class' ? [] : [NOT_LED_TO_SQL]),
    ...columns.slice(0, last).map((column, place) => `${column} = e.c${place}`),
  ]
  const row = `(${columns[last] ?? ''}, p.id)`
  const text = `select s.id::text as id from unnest(${lists.join(', ')}) e(${part.join(', ')}) cross join lateral (
  select p.id from ${table} p
  where ${equal.join(' and ')} and ${row} >= (e.c${last}, ${bind(from)}::uuid) and ${row} < (e.c${last}, ${bind(before)}::uuid)
  order by ${columns[last] ?? ''} desc, p.id desc limit ${bind(count)}
) s order by s.id desc limit ${bind(count)}`
  return { text, values }
}

function newestWithPrefix(
  table: string,
  index: IdIndex,
  prefix: string,
  period: string,
  { from, before }: IdRange,
  count: number,
): Query {
  const { values, bind } = binder()
  const [ofRow = '', id = ''] = COLUMNS[index]
  // The range lies within the period: here a walk along the primary key ends as soon as one along the index.
  const where = [
    NOT_LED_TO_SQL,
    `${ofRow} = ${bind(period)}`,
    startsWith(id, prefix, bind),
    `p.id >= ${bind(from)}::uuid`,
    `p.id < ${bind(before)}::uuid`,
  ].join(' and ')
  const text = `select p.id::text as id from ${table} p where ${where} order by p.id desc limit ${bind(count)}`
  return { text, values }
}

/** The id of the row that an entry came from, empty where it came from none. */
const FROM_ROW = `coalesce(l.postback_id::text, '') as id`

/** Compared as a row with the entry's id, which the index of users alone serves; the primary key has no use for it. */
function bookedOfUsers(names: TableNames, users: readonly string[], most: number): Query {
  const { values, bind } = binder()
  const text = `select s.id from unnest(${bind([...users])}::text[]) k(id) cross join lateral (
  select ${FROM_ROW} from ${names.table('ledger')} l
  where (l.user_id, l.id) >= (k.id, 0) and (l.user_id, l.id) <= (k.id, ${LAST_ID})
  order by l.user_id, l.id limit ${bind(most)}
) s limit ${bind(most)}`
  return { text, values }
}

/** Nearly every key is the transaction id; the others have an index of theirs. */
function bookedOfTransactions(
  names: TableNames,
  spaces: readonly string[],
  ids: readonly string[],
  most: number,
): Query {
  const { values, bind } = binder()
  const [list, limit] = [`unnest(${bind([...ids])}::text[]) k(id)`, bind(most)]
  const text = `(select s.id from unnest(${bind([...spaces])}::text[]) i(id_space) cross join ${list} cross join lateral (
  select ${FROM_ROW} from ${names.table('ledger')} l
  where l.id_space = i.id_space and l.transaction_key = k.id limit ${limit}
) s limit ${limit})
union all
(select s.id from ${list} cross join lateral (
  select ${FROM_ROW} from ${names.table('ledger')} l
  where l.transaction_id = k.id and l.transaction_id <> l.transaction_key
  order by l.transaction_id, l.id_space limit ${limit}
) s limit ${limit})
limit ${limit}`
  return { text, values }
}

function bookedWithPrefix(names: TableNames, spaces: readonly string[], prefix: string, most: number): Query {
  const { values, bind } = binder()
  const limit = bind(most)
  const begins = (column: string): string => startsWith(column, prefix, bind)
  const text = `(select ${FROM_ROW} from ${names.table('ledger')} l where ${begins('l.user_id')}
  order by l.user_id, l.id limit ${limit})
union all
(select s.id from unnest(${bind([...spaces])}::text[]) i(id_space) cross join lateral (
  select ${FROM_ROW} from ${names.table('ledger')} l where l.id_space = i.id_space and ${begins('l.transaction_key')}
  order by l.id_space, l.transaction_key limit ${limit}
) s limit ${limit})
union all
(select ${FROM_ROW} from ${names.table('ledger')} l
  where ${begins('l.transaction_id')} and l.transaction_id <> l.transaction_key
  order by l.transaction_id, l.id_space limit ${limit})
limit ${limit}`
  return { text, values }
}

/** Jumps from one network to the next: a few look-ups, however long the inbox is. */
function networksSql(table: string): string {
  return `with recursive networks as (
  (select p.network from ${table} p order by p.network limit 1)
  union all
  select (select p.network from ${table} p where p.network > n.network order by p.network limit 1)
  from networks n where n.network is not null
)
select network from networks where network is not null`
}

/** Conditions on a row `p`; lists within one filter are alternatives, filters are combined. */
function conditionsOf(filter: PostbackFilter, bind: Bind, names: TableNames): string[] {
  const wheres: string[] = []
  const among = (column: string, values: readonly string[] | undefined): void => {
    if (values !== undefined) wheres.push(`p.${column} = any(${bind([...values])}::text[])`)
  }
  among('network', filter.network)
  among('user_id', filter.user)
  among('transaction_id', filter.transactionId)
  among('outcome', filter.outcome)
  if (filter.open !== undefined) wheres.push(`${filter.open ? '' : 'not '}${openOf(names)}`)
  if (filter.since !== undefined)
    wheres.push(`p.received_at >= ${bind(filter.since.toISOString())}::timestamptz`)
  if (filter.until !== undefined)
    wheres.push(`p.received_at < ${bind(filter.until.toISOString())}::timestamptz`)
  if (filter.q !== undefined) {
    const { q } = filter
    wheres.push(`(${startsWith('p.transaction_id', q, bind)} or ${startsWith('p.user_id', q, bind)})`)
  }
  return wheres
}

/** As a range, whose use of the index does not depend on what the planner knows of a pattern. */
function startsWith(column: string, prefix: string, bind: Bind): string {
  const end = prefixEnd(prefix)
  const start = `${column} >= ${bind(prefix)}`
  return end === null ? start : `(${start} and ${column} < ${bind(end)})`
}

type Bind = (value: unknown) => string

function binder(): { readonly values: unknown[]; readonly bind: Bind } {
  const values: unknown[] = []
  return { values, bind: (value) => `$${values.push(value)}` }
}
