/**
 * Walks through a long inbox that stands in memory: what the databases' own suites are too small for.
 *
 * @module
 */
import { describe, expect, it } from 'vitest'
import type { PageOf, PostbackFilter } from '../../src/ledger/store.js'
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
  /** Then the ledger leads to it, and no index of the inbox by user or by transaction. */
  readonly credited: boolean
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
    credited: n % 3 > 0,
  }
}).reverse()

const within = (range: IdRange): readonly Row[] =>
  LONG.filter(({ id }) => id >= range.from && id < range.before)
const indexed = (range: IdRange): readonly Row[] => within(range).filter(({ credited }) => !credited)
const startsWith = (index: 'user' | 'transaction', prefix: string) => (row: Row) =>
  row[index].startsWith(prefix)

/** What a walk may ask for; `read` counts the ids that it was given. */
const counted = { read: 0 }
const give = (rows: readonly Row[]): readonly string[] => {
  counted.read += rows.length
  return rows.map(({ id }) => id)
}
const reads: Omit<InboxReads<unknown>, 'networks' | 'rowsIn' | 'rowsOf'> = {
  bookedOf: async (index, ids, most) => give(booked((row) => ids.includes(row[index])).slice(0, most)),
  bookedWithPrefix: async (prefix, most) =>
    give(
      booked((row) => startsWith('user', prefix)(row) || startsWith('transaction', prefix)(row)).slice(
        0,
        most,
      ),
    ),
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
      (along.index === 'class' ? within : indexed)(range)
        .filter((row) => parts.has(partOf(row)))
        .slice(0, count),
    )
  },
  someWithPrefix: async (index, prefix, periods, count) =>
    periods.flatMap((period) =>
      give(indexed(rangeOfPeriod(period)).filter(startsWith(index, prefix)).reverse().slice(0, count)),
    ),
  newestWithPrefix: async (index, prefix, period, range, count) =>
    give(
      indexed(range)
        .filter((row) => periodOf(row.id) === period && startsWith(index, prefix)(row))
        .slice(0, count),
    ),
}

/** In an order of its own, as the ledger's is. */
function booked(passes: (row: Row) => boolean): readonly Row[] {
  return LONG.filter((row) => row.credited && passes(row)).sort((a, b) =>
    a.transaction < b.transaction ? -1 : 1,
  )
}

function bookedIds(passes: (row: Row) => boolean): readonly string[] {
  return LONG.filter((row) => row.credited && passes(row)).map(({ id }) => id)
}

async function all(walk: Walk): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const batch of walk) ids.push(...batch)
  return ids
}

it.each(['hot', 'user-7', 'nobody'])('finds every row of the user %s, newest first', async (user) => {
  const expected = LONG.filter((row) => row.user === user).map(({ id }) => id)
  const known = bookedIds((row) => row.user === user)
  expect(await all(walkIds(reads, 'user', [user], EVERYTHING, known))).toEqual(expected)
})

it('finds rows of several transactions, and of a class', async () => {
  const ids = Array.from({ length: 150 }, (_, n) => `tx-${n * 131}`)
  const known = bookedIds(({ transaction }) => ids.includes(transaction))
  expect(await all(walkIds(reads, 'transaction', ids, EVERYTHING, known))).toEqual(
    LONG.filter(({ transaction }) => ids.includes(transaction)).map(({ id }) => id),
  )
  const classes = [{ network: 'rare', outcome: 'credited', open: false }] as const
  expect(await all(walkClasses(reads, classes, EVERYTHING))).toHaveLength(ROWS / 1_000)
})

it.each(['tx-', 'tx-1', 'tx-19999', 'user-1', 'hot', 'zz'])(
  'finds every row whose ids start with %s',
  async (prefix) => {
    const passes = (row: Row): boolean => row.user.startsWith(prefix) || row.transaction.startsWith(prefix)
    const known = bookedIds(passes)
    expect(await all(walkPrefix(reads, prefix, EVERYTHING, known))).toEqual(
      LONG.filter(passes).map(({ id }) => id),
    )
    const [first, last] = [LONG[300]?.id ?? '', LONG[ROWS - 200]?.id ?? '']
    expect(await all(walkPrefix(reads, prefix, { from: last, before: first }, known))).toEqual(
      within({ from: last, before: first })
        .filter(passes)
        .map(({ id }) => id),
    )
  },
)

it('looks at few ids for a first page', async () => {
  counted.read = 0
  await walkIds(reads, 'user', ['hot'], EVERYTHING, []).next()
  await walkPrefix(reads, 'tx-1', EVERYTHING, []).next()
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

describe('a search with small bounds', () => {
  const search: InboxReads<Row> = {
    ...reads,
    networks: async () => ['n', 'rare'],
    rowsIn: async (range, filter, count) => within(range).filter(passesOf(filter)).slice(0, count),
    rowsOf: async (ids, filter, count) =>
      LONG.filter((row) => ids.includes(row.id) && passesOf(filter)(row)).slice(0, count),
  }
  const bounds = { window: 200, longWindow: 300, booked: 50, bookedWithPrefix: 20, lookedAt: 400 }

  it.each<PostbackFilter>([
    { user: ['user-7'] },
    { user: ['user-7', 'user-8', 'nobody'] },
    { user: ['hot'] },
    { user: ['hot', 'user-7'], network: ['rare'] },
    { user: ['user-7'], q: 'tx-1' },
    { user: ['hot'], q: 'tx-19' },
    { transactionId: ['tx-7', 'tx-8', 'tx-19999'] },
    { transactionId: Array.from({ length: 120 }, (_, n) => `tx-${n * 150}`) },
    { network: ['rare'] },
    { network: ['rare'], q: 'hot' },
    { q: 'tx-1999' },
    { q: 'tx-1' },
    { q: 'user-99' },
    { q: 'zz' },
  ])('gives every row once, newest first: %j', async (filter) => {
    const found: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page: PageOf<Row> = await findPostbacks(search, filter, { limit: 40, cursor }, bounds)
      found.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      pages += 1
    } while (cursor !== null)
    expect(found).toEqual(LONG.filter(passesOf(filter)).map(({ id }) => id))
    expect(pages).toBeLessThan(found.length / 40 + ROWS / 300 + 5)
  })
})

function passesOf({ user, transactionId, network, q }: PostbackFilter): (row: Row) => boolean {
  return (row) =>
    user?.includes(row.user) !== false &&
    transactionId?.includes(row.transaction) !== false &&
    network?.includes(row.network) !== false &&
    (q === undefined || row.user.startsWith(q) || row.transaction.startsWith(q))
}
