/**
 * Walks through a long inbox that stands in memory: what the databases' own suites are too small for.
 *
 * @module
 */
import { expect, it } from 'vitest'
import { isOpenOutcome } from '../../src/ledger/postback-row.js'
import { OUTCOMES } from '../../src/outcome.js'
import { OPEN_OUTCOMES } from '../../src/stores/inbox-bounds.js'
import { periodOf, rangeOfPeriod, type IdRange, type InboxReads } from '../../src/stores/inbox-reads.js'
import { findPostbacks } from '../../src/stores/inbox-search.js'
import { walkClasses, walkIds, walkPrefix, type Walk } from '../../src/stores/inbox-walks.js'

interface Row {
  readonly id: string
  readonly network: string
  readonly user: string
  readonly transaction: string
}

const ROWS = 20_000
const MINUTE_MS = 60_000
const EVERYTHING: IdRange = {
  from: '00000000-0000-0000-0000-000000000000',
  before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

/** Two bursts, three years apart, and one row of a clock that stood at 1970. Newest first. */
const LONG: readonly Row[] = Array.from({ length: ROWS }, (_, n): Row => {
  const time = (n === 0 ? 0 : Date.UTC(n < ROWS / 2 ? 2023 : 2026, 0, 1) + n * MINUTE_MS).toString(16)
  const digits = `${time.padStart(12, '0')}7${(n % 4096).toString(16).padStart(3, '0')}8000000000000000`
  const id = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ]
  return {
    id: id.join('-'),
    network: n % 1_000 === 0 ? 'rare' : 'n',
    user: n % 20 === 0 ? 'hot' : `user-${n % 997}`,
    transaction: `tx-${n}`,
  }
}).reverse()

const within = (range: IdRange): readonly Row[] =>
  LONG.filter(({ id }) => id >= range.from && id < range.before)
const startsWith = (index: 'user' | 'transaction', prefix: string) => (row: Row) =>
  row[index].startsWith(prefix)

/** What a walk may ask for; `read` counts the ids that it was given. */
const counted = { read: 0 }
const give = (rows: readonly Row[]): readonly string[] => {
  counted.read += rows.length
  return rows.map(({ id }) => id)
}
const reads: Pick<InboxReads<unknown>, 'idBehind' | 'newestOf' | 'someWithPrefix' | 'newestWithPrefix'> = {
  idBehind: async (range, count) => within(range)[count]?.id ?? null,
  async newestOf(along, range, count) {
    const parts = new Set<string>(
      along.index === 'class'
        ? along.parts.map(({ network }) => network)
        : along.parts.map(({ period, id }) => `${period} ${id}`),
    )
    const partOf = (row: Row): string =>
      along.index === 'class' ? row.network : `${periodOf(row.id)} ${row[along.index]}`
    return give(
      within(range)
        .filter((row) => parts.has(partOf(row)))
        .slice(0, count),
    )
  },
  someWithPrefix: async (index, prefix, periods, count) =>
    periods.flatMap((period) =>
      give(within(rangeOfPeriod(period)).filter(startsWith(index, prefix)).reverse().slice(0, count)),
    ),
  newestWithPrefix: async (index, prefix, period, range, count) =>
    give(
      within(range)
        .filter((row) => periodOf(row.id) === period && startsWith(index, prefix)(row))
        .slice(0, count),
    ),
}

async function all(walk: Walk): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const batch of walk) ids.push(...batch)
  return ids
}

it.each(['hot', 'user-7', 'nobody'])('finds every row of the user %s, newest first', async (user) => {
  const expected = LONG.filter((row) => row.user === user).map(({ id }) => id)
  expect(await all(walkIds(reads, 'user', [user], EVERYTHING))).toEqual(expected)
})

it('finds rows of several transactions, and of a class', async () => {
  const ids = Array.from({ length: 150 }, (_, n) => `tx-${n * 131}`)
  expect(await all(walkIds(reads, 'transaction', ids, EVERYTHING))).toEqual(
    LONG.filter(({ transaction }) => ids.includes(transaction)).map(({ id }) => id),
  )
  const classes = [{ network: 'rare', outcome: 'credited', open: false }] as const
  expect(await all(walkClasses(reads, classes, EVERYTHING))).toHaveLength(ROWS / 1_000)
})

it.each(['tx-', 'tx-1', 'tx-19999', 'user-1', 'hot', 'zz'])(
  'finds every row whose ids start with %s',
  async (prefix) => {
    const passes = (row: Row): boolean => row.user.startsWith(prefix) || row.transaction.startsWith(prefix)
    expect(await all(walkPrefix(reads, prefix, EVERYTHING))).toEqual(LONG.filter(passes).map(({ id }) => id))
    const [first, last] = [LONG[300]?.id ?? '', LONG[ROWS - 200]?.id ?? '']
    expect(await all(walkPrefix(reads, prefix, { from: last, before: first }))).toEqual(
      within({ from: last, before: first })
        .filter(passes)
        .map(({ id }) => id),
    )
  },
)

it('looks at few ids for a first page', async () => {
  counted.read = 0
  await walkIds(reads, 'user', ['hot'], EVERYTHING).next()
  await walkPrefix(reads, 'tx-1', EVERYTHING).next()
  expect(counted.read).toBeLessThan(3_000)
})

it('ends a page early where hardly any row passes, and goes on from there', async () => {
  const passing = new Set([LONG[4_000]?.id, LONG[17_000]?.id])
  const search: InboxReads<{ readonly id: string }> = {
    ...reads,
    networks: async () => ['n'],
    rowsIn: async () => [],
    rowsOf: async (ids) => ids.filter((id) => passing.has(id)).map((id) => ({ id })),
  }
  const pages: (readonly string[])[] = []
  let cursor: string | null = null
  do {
    counted.read = 0
    const page: Awaited<ReturnType<typeof findPostbacks<{ readonly id: string }>>> = await findPostbacks(
      search,
      { network: ['n'], q: 'tx-' },
      { limit: 5, cursor },
    )
    expect(counted.read).toBeLessThan(20_000)
    pages.push(page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(pages.length).toBeGreaterThan(3)
  expect(pages.flat()).toEqual([LONG[4_000]?.id, LONG[17_000]?.id])
})

it('knows every outcome that can be open', () => {
  expect(OUTCOMES.filter((outcome) => isOpenOutcome(outcome, true)).sort()).toEqual([...OPEN_OUTCOMES].sort())
})
