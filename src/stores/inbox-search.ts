/**
 * Finds inbox rows, newest first, in a time that neither the length of the inbox nor a database's statistics decide:
 * those are old where a ledger grows fast, and missing right after a bulk load.
 *
 * A filter gives up to three walks, each along one index and each complete by itself. They take turns with growing
 * batches of ids, and the first that has filled the page, or is at its end, answers: so nobody has to know which
 * condition is the rare one. The rows of a batch are read by their ids under the whole filter. After so many ids the
 * page ends as it is, with a cursor that goes on from there.
 *
 * @module
 */
import type { Page, PageOf, PostbackFilter } from '../ledger/store.js'
import { OUTCOMES } from '../outcome.js'
import { firstIdAt, OPEN_OUTCOMES } from './inbox-bounds.js'
import type { ClassPart, IdRange, InboxReads } from './inbox-reads.js'
import { walkClasses, walkIds, walkPrefix, type Walk } from './inbox-walks.js'

/** So many of the newest rows are looked through before a search by prefix asks the indexes. */
const WINDOW = 5_000

/** Rows that are read by their ids at once. */
const MOST_IDS = 1_024

/**
 * Ids that are looked at for one page where several walks have to meet. Two conditions that many rows meet and hardly any row together (a user of one
 * country, a network of another) would else be looked for to the end of the inbox.
 */
const MOST_LOOKED_AT = 5_000

/**
 * How far the time in an id may lie from `receivedAt`: ids go on from the later time where the clock was set back by up
 * to ten seconds, and are made a moment beside the time that is kept.
 */
const ID_SLACK_MS = 15_000

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const BEYOND_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export async function findPostbacks<Row extends { readonly id: string }>(
  reads: InboxReads<Row>,
  given: PostbackFilter,
  page: Page,
): Promise<PageOf<Row>> {
  const { q, ...exact } = given
  const filter = q === undefined || q === '' ? exact : { ...exact, q }
  const search: Search<Row> = { reads, filter, range: rangeOf(filter, page), wanted: page.limit + 1 }
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
  readonly range: IdRange
  /** Rows that end it. */
  readonly wanted: number
}

async function findRows<Row>(search: Search<Row>): Promise<Found<Row>> {
  const { reads, filter, range, wanted } = search
  const walks = await walksOf(search)
  if (walks.length === 0) return ended(await reads.rowsIn(range, filter, wanted))
  if (filter.q !== undefined && walks.length === 1) {
    // What begins like many rows is found among the newest ones.
    const from = await reads.idBehind(range, WINDOW)
    const rows = await reads.rowsIn({ ...range, from: from ?? range.from }, filter, wanted)
    if (from === null || rows.length === wanted) return ended(rows)
  }
  return firstOf(search, walks)
}

async function firstOf<Row>(search: Search<Row>, walks: readonly Walk[]): Promise<Found<Row>> {
  const runs = walks.map((walk) => ({ walk, rows: [] as Row[], position: search.range.before }))
  const most = walks.length === 1 ? Infinity : MOST_LOOKED_AT
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

async function walksOf<Row>({ reads, filter, range }: Search<Row>): Promise<readonly Walk[]> {
  const { transactionId, user, network, outcome, open, q } = filter
  // Nothing is rarer than a transaction.
  if (transactionId !== undefined) return [walkIds(reads, 'transaction', unique(transactionId), range)]
  const walks: Walk[] = []
  if (user !== undefined) walks.push(walkIds(reads, 'user', unique(user), range))
  if (network !== undefined || outcome !== undefined || open === true) {
    walks.push(walkClasses(reads, classesOf(filter, await reads.networks()), range))
  }
  if (q !== undefined) walks.push(walkPrefix(reads, q, range))
  return walks
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
