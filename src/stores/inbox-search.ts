/**
 * Finds inbox rows, newest first, in a time that neither the length of the inbox nor a database's statistics decide:
 * those are old where a ledger grows fast, and missing right after a bulk load.
 *
 * A filter gives up to three walks, each along one index and each complete by itself. They take turns with growing
 * batches of ids, and the first that has filled the page, or is at its end, answers: so nobody has to know which
 * condition is the rare one. The rows of a batch are read by their ids under the whole filter. After so many ids the
 * page ends as it is, with a cursor that goes on from there. A user or a prefix that the ledger knows too many entries of
 * has no walk, because their order is not the inbox's: without any, the newest rows are looked through in the same way.
 *
 * @module
 */
import type { Page, PageOf, PostbackFilter } from '../ledger/store.js'
import { OUTCOMES } from '../outcome.js'
import { firstIdAt, OPEN_OUTCOMES } from './inbox-bounds.js'
import type { ClassPart, IdIndex, IdRange, InboxReads } from './inbox-reads.js'
import { newestFirst, walkClasses, walkIds, walkPrefix, type Walk } from './inbox-walks.js'

/** What one page may cost. */
export interface SearchBounds {
  /** So many of the newest rows are looked through before a search by prefix asks the indexes. */
  readonly window: number
  /** And so many where nothing leads to the rows that are looked for. */
  readonly longWindow: number
  /** Entries that are read for a walk along users or transactions: an index holds them with the ids of their rows. */
  readonly booked: number
  /** And for a walk along a prefix: those of transactions are looked up one by one. */
  readonly bookedWithPrefix: number
  /**
   * Ids that are looked at for one page where several walks have to meet. Two conditions that many rows meet and hardly any
   * row together (a user of one country, a network of another) would else be looked for to the end of the inbox.
   */
  readonly lookedAt: number
}

const BOUNDS: SearchBounds = {
  window: 1_500,
  longWindow: 10_000,
  booked: 5_000,
  bookedWithPrefix: 500,
  lookedAt: 5_000,
}

/** Rows that are read by their ids at once. */
const MOST_IDS = 1_024

/**
 * How far the time in an id may lie from `receivedAt`: ids go on from the later time where the clock was set back by up
 * to ten seconds, and are made a moment beside the time that is kept.
 */
const ID_SLACK_MS = 15_000

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const BEYOND_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** @param bounds smaller ones are for tests */
export async function findPostbacks<Row extends { readonly id: string }>(
  reads: InboxReads<Row>,
  given: PostbackFilter,
  page: Page,
  bounds: SearchBounds = BOUNDS,
): Promise<PageOf<Row>> {
  const { q, ...exact } = given
  const filter = q === undefined || q === '' ? exact : { ...exact, q }
  const search: Search<Row> = { reads, filter, bounds, range: rangeOf(filter, page), wanted: page.limit + 1 }
  const { rows, position } = isImpossible(filter) ? ended<Row>([]) : await findRows(search)
  const items = rows.slice(0, page.limit)
  return { items, nextCursor: rows.length > page.limit ? (items.at(-1)?.id ?? null) : position }
}

/** Everything that passes above `position`; null at the end, or where there are enough rows. */
interface Found<Row> {
  readonly rows: readonly Row[]
  readonly position: string | null
}

function ended<Row>(rows: readonly Row[]): Found<Row> {
  return { rows, position: null }
}

interface Search<Row> {
  readonly reads: InboxReads<Row>
  readonly filter: PostbackFilter
  readonly bounds: SearchBounds
  readonly range: IdRange
  /** Rows that end it. */
  readonly wanted: number
}

async function findRows<Row>(search: Search<Row>): Promise<Found<Row>> {
  const { reads, filter, bounds, range, wanted } = search
  if (hasNoIndex(filter)) return ended(await reads.rowsIn(range, filter, wanted))
  if (isPrefixAlone(filter)) {
    // What begins like many rows is found among the newest ones.
    const found = await amongNewest(search, bounds.window)
    if (found.position === null) return found
  }
  const walks = await walksOf(search)
  const known = walks.filter((walk) => walk !== null)
  if (known.length === 0) return amongNewest(search, bounds.longWindow)
  return firstOf(search, known, walks.length === 1 ? Infinity : bounds.lookedAt)
}

function hasNoIndex({ network, user, transactionId, outcome, open, q }: PostbackFilter): boolean {
  return open !== true && [network, user, transactionId, outcome, q].every((each) => each === undefined)
}

function isPrefixAlone({ q, ...others }: PostbackFilter): boolean {
  return q !== undefined && hasNoIndex(others)
}

async function amongNewest<Row>(
  { reads, filter, range, wanted }: Search<Row>,
  count: number,
): Promise<Found<Row>> {
  const from = await reads.idBehind(range, count)
  const rows = await reads.rowsIn({ ...range, from: from ?? range.from }, filter, wanted)
  return rows.length === wanted ? ended(rows) : { rows, position: from }
}

async function firstOf<Row>(search: Search<Row>, walks: readonly Walk[], most: number): Promise<Found<Row>> {
  const runs = walks.map((walk) => ({ walk, rows: [] as Row[], position: search.range.before }))
  for (let lookedAt = 0; lookedAt < most;) {
    for (const run of runs) {
      const batch = await run.walk.next()
      if (batch.done === true) return ended(run.rows)
      await take(search, batch.value, run.rows)
      if (run.rows.length === search.wanted) return ended(run.rows)
      run.position = batch.value.at(-1) ?? run.position
      lookedAt += batch.value.length
    }
  }
  // Everything above the position of a walk is found by that walk alone.
  return runs.reduce((a, b) => (b.position < a.position ? b : a))
}

/** Adds the rows of a batch that pass. Few ids are read at first, because often all of them do. */
async function take<Row>(
  { reads, filter, wanted }: Search<Row>,
  ids: readonly string[],
  rows: Row[],
): Promise<void> {
  for (
    let start = 0, count = wanted - rows.length;
    start < ids.length && rows.length < wanted;
    count = MOST_IDS
  ) {
    const some = ids.slice(start, start + count)
    rows.push(...(await reads.rowsOf(some, filter, wanted - rows.length)))
    start += some.length
  }
}

/** No text that a database keeps holds a NUL, and PostgreSQL refuses to be asked for one. */
function isImpossible({ network, user, transactionId, outcome, q }: PostbackFilter): boolean {
  const lists = [network, user, transactionId, outcome]
  return lists.some((list) => list?.length === 0) || q?.includes('\u0000') === true
}

/** One for each condition that an index serves; null where the ledger knows too many entries of it. */
async function walksOf<Row>(search: Search<Row>): Promise<readonly (Walk | null)[]> {
  const { reads, filter, range, bounds } = search
  const { transactionId, user, network, outcome, open, q } = filter
  // Nothing is rarer than a transaction.
  if (transactionId !== undefined) return [await walkOf(search, 'transaction', unique(transactionId))]
  const walks: (Walk | null)[] = []
  if (user !== undefined) walks.push(await walkOf(search, 'user', unique(user)))
  if (network !== undefined || outcome !== undefined || open === true) {
    walks.push(walkClasses(reads, classesOf(filter, await reads.networks()), range))
  }
  if (q !== undefined) {
    const booked = await reads.bookedWithPrefix(q, bounds.bookedWithPrefix + 1)
    walks.push(
      booked.length > bounds.bookedWithPrefix ? null : walkPrefix(reads, q, range, rowsOfEntries(booked)),
    )
  }
  return walks
}

async function walkOf<Row>(
  { reads, range, bounds }: Search<Row>,
  index: IdIndex,
  ids: readonly string[],
): Promise<Walk | null> {
  const booked = await reads.bookedOf(index, ids, bounds.booked + 1)
  return booked.length > bounds.booked ? null : walkIds(reads, index, ids, range, rowsOfEntries(booked))
}

function rowsOfEntries(booked: readonly string[]): readonly string[] {
  return newestFirst(booked.filter((id) => id !== ''))
}

/** Every class in which a row of the filter can be. */
function classesOf({ network, outcome, open }: PostbackFilter, known: readonly string[]): ClassPart[] {
  const networks = network === undefined ? known : known.filter((name) => network.includes(name))
  return networks.flatMap((name) =>
    unique(outcome ?? OUTCOMES).flatMap((word) => [
      // What is marked as open can have been closed by the ledger meanwhile, never the other way round.
      ...(OPEN_OUTCOMES.includes(word) ? [{ network: name, outcome: word, open: true }] : []),
      ...(open === true ? [] : [{ network: name, outcome: word, open: false }]),
    ]),
  )
}

/** Time bounds become bounds of the id, which starts with the time; the exact condition on the time stays. */
function rangeOf({ since, until }: PostbackFilter, { cursor }: Page): IdRange {
  const from = since === undefined ? FIRST_ID : firstIdAt(new Date(since.getTime() - ID_SLACK_MS))
  const end = until === undefined ? BEYOND_IDS : firstIdAt(new Date(until.getTime() + ID_SLACK_MS))
  const before = cursor?.toLowerCase() ?? BEYOND_IDS
  return { from, before: before < end ? before : end }
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}
