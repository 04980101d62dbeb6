/**
 * Walks through the inbox, each along one index. They give the ids of every row that can pass, newest first and some at
 * a time. Credited rows of users and transactions are in no such index: their ids come from the ledger, all at once.
 *
 * @module
 */
import {
  periodOf,
  periodsFrom,
  rangeOfPeriod,
  type ClassPart,
  type IdIndex,
  type IdRange,
  type InboxReads,
} from './inbox-reads.js'

export type Walk = AsyncGenerator<readonly string[], void, undefined>
type Reads = Pick<InboxReads<unknown>, 'idBehind' | 'newestOf' | 'someWithPrefix' | 'newestWithPrefix'>

/** Look-ups of one statement. */
const MOST_PARTS = 128

/** Periods of the first statement: one that has many rows ends there. */
const FIRST_PERIODS = 4

/** Ids of the first batch, and of the longest. */
const FIRST_BATCH = 256
const LONGEST_BATCH = 1_024

/** A period with at least so many ids of a prefix is read by itself. */
const MANY = 100

export async function* walkClasses(reads: Reads, classes: readonly ClassPart[], range: IdRange): Walk {
  yield* inBatches(range, async (rest, count) => {
    const found: string[] = []
    for (let start = 0; start < classes.length; start += MOST_PARTS) {
      const parts = classes.slice(start, start + MOST_PARTS)
      found.push(...(await reads.newestOf({ index: 'class', parts }, rest, count)))
    }
    return found
  })
}

/**
 * Rows of users or of transactions.
 *
 * @param booked what the ledger says of them, newest first
 */
export async function* walkIds(
  reads: Reads,
  index: IdIndex,
  ids: readonly string[],
  range: IdRange,
  booked: readonly string[],
): Walk {
  for await (const { periods, range: those } of periodsOf(reads, range, Math.ceil(MOST_PARTS / ids.length))) {
    const parts = periods.flatMap((period) => ids.map((id) => ({ period, id })))
    yield* inBatches(those, async (rest, count) => [
      ...(await reads.newestOf({ index, parts }, rest, count)),
      ...idsIn(booked, rest).slice(0, count),
    ])
  }
}

/**
 * Rows whose user or transaction starts with a text.
 *
 * @param booked what the ledger says of them, newest first
 */
export async function* walkPrefix(
  reads: Reads,
  prefix: string,
  range: IdRange,
  booked: readonly string[],
): Walk {
  for await (const { periods, range: those } of periodsOf(reads, range, MOST_PARTS)) {
    const some = await someWithPrefix(reads, prefix, periods)
    let few: string[] = []
    for (const period of periods) {
      const part = overlapOf(rangeOfPeriod(period), those)
      const ids = some.get(period) ?? []
      if (ids.length < MANY) {
        const inPart = ids.filter((id) => id >= part.from && id < part.before)
        few.push(...newestFirst([...inPart, ...idsIn(booked, part)]))
        if (few.length < MANY) continue
      }
      yield few
      few = []
      if (ids.length < MANY) continue
      yield* inBatches(part, async (rest, count) => [
        ...(await reads.newestWithPrefix('user', prefix, period, rest, count)),
        ...(await reads.newestWithPrefix('transaction', prefix, period, rest, count)),
        ...idsIn(booked, rest).slice(0, count),
      ])
    }
    yield few
  }
}

/** Those within a range, of ids that stand newest first. */
function idsIn(ids: readonly string[], { from, before }: IdRange): readonly string[] {
  return ids.slice(placeBelow(ids, before), placeBelow(ids, from))
}

/** The place of the first id that is smaller, by halving. */
function placeBelow(ids: readonly string[], bound: string): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as string) >= bound) low = middle + 1
    else high = middle
  }
  return low
}

async function someWithPrefix(
  reads: Reads,
  prefix: string,
  periods: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>(periods.map((period) => [period, []]))
  for (const index of ['user', 'transaction'] as const) {
    for (const id of await reads.someWithPrefix(index, prefix, periods, MANY)) {
      found.get(periodOf(id))?.push(id)
    }
  }
  return found
}

/** The periods of a range from the newest down, some at a time, without those in which nothing arrived for long. */
async function* periodsOf(
  reads: Reads,
  { from, before }: IdRange,
  most: number,
): AsyncGenerator<{ readonly periods: readonly string[]; readonly range: IdRange }, void, undefined> {
  let end = before
  for (let count = Math.min(FIRST_PERIODS, most); from < end; count = Math.min(4 * count, most)) {
    const newest = await reads.idBehind({ from, before: end }, 0)
    if (newest === null) return
    const periods = periodsFrom(periodOf(newest), count).filter((period) => period >= periodOf(from))
    const oldest = rangeOfPeriod(periods.at(-1) ?? periodOf(from))
    const range = overlapOf({ from: oldest.from, before: end }, { from, before })
    yield { periods, range }
    end = range.from
  }
}

/** `read` gives the newest ids of a range, at least as many as are asked for where there are so many. */
async function* inBatches(
  { from, before }: IdRange,
  read: (range: IdRange, count: number) => Promise<readonly string[]>,
): Walk {
  let end = before
  for (let count = FIRST_BATCH; ; count = Math.min(2 * count, LONGEST_BATCH)) {
    const ids = newestFirst(await read({ from, before: end }, count)).slice(0, count)
    yield ids
    const last = ids.at(-1)
    if (last === undefined || ids.length < count) return
    end = last
  }
}

function overlapOf(a: IdRange, b: IdRange): IdRange {
  return { from: a.from > b.from ? a.from : b.from, before: a.before < b.before ? a.before : b.before }
}

export function newestFirst(ids: readonly string[]): string[] {
  return [...new Set(ids)].sort().reverse()
}
