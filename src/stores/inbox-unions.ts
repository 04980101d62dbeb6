/**
 * The reads of an inbox along its indexes where a hint names the index and a UNION ALL takes the parts: SQLite, MySQL
 * and MariaDB. Without the hint "order by id" would also allow a walk along the primary key, which is endless where
 * what is looked for is rare.
 *
 * @module
 */
import type { IdIndex, IdRange, InboxParts, InboxReads } from './inbox-reads.js'

/** What the databases say otherwise. */
export interface UnionDialect<Value> {
  /** The table as `p`, read along one index. */
  readonly from: (index: InboxParts['index'] | 'primary') => string
  /** What every row of the indexes of users and transactions meets. */
  readonly indexed: string
  /** The ledger as `l`, read along its unique key or another index. */
  readonly ledger: (index: 'key' | 'user' | 'other_id') => string
  /** The transaction id of an entry of the index `other_id`, and what every entry of it meets. */
  readonly otherId: { readonly column: string; readonly indexed: string }
  /** The columns of each index before the id, as expressions on `p`. */
  readonly columns: Readonly<Record<InboxParts['index'], readonly string[]>>
  readonly text: (text: string) => Value
  readonly flag: (flag: boolean) => Value
  readonly period: (period: string) => Value
  readonly id: (id: string) => Value
  /** The smallest text beyond all texts with this prefix; null where there is none. */
  readonly prefixEnd: (prefix: string) => Value | null
}

export interface UnionStatement<Value> {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Runs a statement of one column; ids come as text, an empty one for NULL. */
export interface UnionRunner<Value> {
  ids(statement: UnionStatement<Value>): Promise<readonly string[]>
  networks(statement: UnionStatement<Value>): Promise<readonly string[]>
  idSpaces(): Promise<readonly string[]>
}

export function unionReads<Value>(
  dialect: UnionDialect<Value>,
  run: UnionRunner<Value>,
): Omit<InboxReads<unknown>, 'rowsIn' | 'rowsOf'> {
  const { from, columns, period, id, text, indexed } = dialect
  const startsWith = (column: string, prefix: string): UnionStatement<Value> => {
    const end = dialect.prefixEnd(prefix)
    return {
      sql: `${column} >= ?${end === null ? '' : ` and ${column} < ?`}`,
      values: [text(prefix), ...(end === null ? [] : [end])],
    }
  }
  const within = (index: IdIndex, prefix: string, of: string): UnionStatement<Value> => {
    const [periodColumn = '', idColumn = ''] = columns[index]
    const begins = startsWith(idColumn, prefix)
    return {
      sql: `${indexed} and ${periodColumn} = ? and ${begins.sql}`,
      values: [period(of), ...begins.values],
    }
  }
  const newest = (range: IdRange, count: number): UnionStatement<Value> => ({
    sql: `p.id >= ? and p.id < ? order by p.id desc limit ${count}`,
    values: [id(range.from), id(range.before)],
  })
  const ledger = ledgerReads(dialect, run)
  return {
    bookedOf: (index, ids, most) => {
      const among = (column: string): UnionStatement<Value> => ({
        sql: `${column} in (${ids.map(() => '?').join(', ')})`,
        values: ids.map(text),
      })
      return index === 'user' ? ledger.ofUsers(among, most) : ledger.ofTransactions(among, most)
    },
    bookedWithPrefix: async (prefix, most) => {
      const begins = (column: string): UnionStatement<Value> => startsWith(column, prefix)
      return [...(await ledger.ofUsers(begins, most)), ...(await ledger.ofTransactions(begins, most))]
    },
    async networks() {
      // Jumps from one network to the next: a look-up for each, however long the inbox is.
      const found: string[] = []
      for (let last = ''; ;) {
        const [next] = await run.networks({
          sql: `select p.network from ${from('class')} where p.network > ? order by p.network limit 1`,
          values: [text(last)],
        })
        if (next === undefined) return found
        found.push(next)
        last = next
      }
    },
    async idBehind(range, count) {
      const { sql, values } = newest(range, 1)
      const [found] = await run.ids({
        sql: `select p.id from ${from('primary')} where ${sql} offset ${count}`,
        values,
      })
      return found ?? null
    },
    newestOf(parts, range, count) {
      const { sql, values } = newest(range, count)
      const equal = [
        ...(parts.index === 'class' ? [] : [indexed]),
        ...columns[parts.index].map((column) => `${column} = ?`),
      ].join(' and ')
      return run.ids(
        union(
          valuesOf(dialect, parts).map((part) => ({
            sql: `select p.id from ${from(parts.index)} where ${equal} and ${sql}`,
            values: [...part, ...values],
          })),
          ` order by id desc limit ${count}`,
        ),
      )
    },
    someWithPrefix: (index, prefix, periods, count) =>
      run.ids(
        union(
          periods.map((each) => {
            const { sql, values } = within(index, prefix, each)
            return { sql: `select p.id from ${from(index)} where ${sql} limit ${count}`, values }
          }),
          '',
        ),
      ),
    newestWithPrefix(index, prefix, of, range, count) {
      const begins = within(index, prefix, of)
      const { sql, values } = newest(range, count)
      return run.ids({
        sql: `select p.id from ${from(index)} where ${begins.sql} and ${sql}`,
        values: [...begins.values, ...values],
      })
    },
  }
}

/** Entries by users or transactions that pass a condition, as the ids of the rows that they came from. */
function ledgerReads<Value>(
  { ledger, otherId, text }: UnionDialect<Value>,
  run: UnionRunner<Value>,
): Record<
  'ofUsers' | 'ofTransactions',
  (where: (column: string) => UnionStatement<Value>, most: number) => Promise<readonly string[]>
> {
  const part = (
    index: 'key' | 'user' | 'other_id',
    { sql, values }: UnionStatement<Value>,
    most: number,
  ): UnionStatement<Value> => ({
    sql: `select l.postback_id as id from ${ledger(index)} where ${sql} limit ${most}`,
    values,
  })
  return {
    ofUsers: (where, most) => run.ids(part('user', where('l.user_id'), most)),
    async ofTransactions(where, most) {
      const byKey = where('l.transaction_key')
      const byId = where(otherId.column)
      // Nearly every key is the transaction id; the others have an index of theirs.
      const others = { sql: `${otherId.indexed} and ${byId.sql}`, values: byId.values }
      const found = [...(await run.ids(part('other_id', others, most)))]
      for (const space of await run.idSpaces()) {
        // One after the other: MySQL would read every part of a UNION up to its own limit.
        if (found.length >= most) break
        const ofSpace = { sql: `l.id_space = ? and ${byKey.sql}`, values: [text(space), ...byKey.values] }
        found.push(...(await run.ids(part('key', ofSpace, most - found.length))))
      }
      return found
    },
  }
}

function valuesOf<Value>(
  { text, flag, period }: UnionDialect<Value>,
  along: InboxParts,
): readonly (readonly Value[])[] {
  return along.index === 'class'
    ? along.parts.map(({ network, outcome, open }) => [text(network), text(outcome), flag(open)])
    : along.parts.map((part) => [period(part.period), text(part.id)])
}

function union<Value>(parts: readonly UnionStatement<Value>[], end: string): UnionStatement<Value> {
  const all = parts.map(({ sql }, place) => `select id from (${sql}) p${place}`).join('\nunion all ')
  return { sql: `select id from (\n${all}\n) s${end}`, values: parts.flatMap(({ values }) => values) }
}
