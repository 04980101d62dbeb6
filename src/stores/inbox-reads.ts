/**
 * What a store reads for a search of the inbox. Each read goes along one index and ends after a number of rows that its
 * caller knows.
 *
 * @module
 */
import type { PostbackFilter } from '../ledger/store.js'
import type { Outcome } from '../outcome.js'

/** `from` is inside, `before` is not. */
export interface IdRange {
  readonly from: string
  readonly before: string
}

/** Rows of one place to append in the index of classes. */
export interface ClassPart {
  readonly network: string
  readonly outcome: Outcome
  readonly open: boolean
}

/** Rows of one period with one id. */
export interface IdPart {
  readonly period: string
  readonly id: string
}

/**
 * The indexes beside the primary key, each with the inbox row's id behind these columns:
 *
 * - class: network, outcome, open. Each class has one place to append;
 * - user and transaction: a period, then the id of the user or the transaction. Such ids come in no order: an index of
 *   them alone takes each row at a place of its own, anywhere in an index that no memory holds, and knows no way to
 *   the newest of a million ids that begin alike. Within a period all places are few and recent. Credited rows are
 *   not in them: the ledger leads to those.
 */
export type IdIndex = 'user' | 'transaction'

export type InboxParts =
  | { readonly index: 'class'; readonly parts: readonly ClassPart[] }
  | { readonly index: IdIndex; readonly parts: readonly IdPart[] }

export interface InboxReads<Row> {
  /**
   * The ids of the rows that ledger entries of these users or transactions came from, in any order, an empty text for an
   * entry that came from none; no more than `most`.
   */
  bookedOf(index: IdIndex, ids: readonly string[], most: number): Promise<readonly string[]>
  /** The same of all users and transactions that start with `prefix`. */
  bookedWithPrefix(prefix: string, most: number): Promise<readonly string[]>
  /** The networks of all rows, by jumps along the index of classes. */
  networks(): Promise<readonly string[]>
  /** The id that so many newer ones of the range precede; null where there are not so many. */
  idBehind(range: IdRange, count: number): Promise<string | null>
  /** The newest ids of all these parts together; of users and transactions no credited rows. */
  newestOf(parts: InboxParts, range: IdRange, count: number): Promise<readonly string[]>
  /** Of each period at most `count` ids of rows whose user or transaction starts with `prefix`, in any order; no credited ones. */
  someWithPrefix(
    index: IdIndex,
    prefix: string,
    periods: readonly string[],
    count: number,
  ): Promise<readonly string[]>
  /** The newest of them in one period. */
  newestWithPrefix(
    index: IdIndex,
    prefix: string,
    period: string,
    range: IdRange,
    count: number,
  ): Promise<readonly string[]>
  /** The newest rows of the range that pass the filter, along the primary key. */
  rowsIn(range: IdRange, filter: PostbackFilter, count: number): Promise<readonly Row[]>
  /** Those of these rows that pass the filter, newest first. */
  rowsOf(ids: readonly string[], filter: PostbackFilter, count: number): Promise<readonly Row[]>
}

/** The first five digits of an id: 3.1 days of arrivals. */
export const PERIOD_DIGITS = 5

export function periodOf(id: string): string {
  return id.slice(0, PERIOD_DIGITS)
}

export function periodNumber(period: string): number {
  return Number.parseInt(period, 16)
}

/** The ids of one period. */
export function rangeOfPeriod(period: string): IdRange {
  const next = periodNumber(period) + 1
  return { from: firstIdOf(period), before: next > 0xfffff ? LAST_ID : firstIdOf(nameOf(next)) }
}

/** `count` periods down from this one. */
export function periodsFrom(period: string, count: number): readonly string[] {
  const newest = periodNumber(period)
  return Array.from({ length: Math.min(count, newest + 1) }, (_, place) => nameOf(newest - place))
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function nameOf(period: number): string {
  return period.toString(16).padStart(PERIOD_DIGITS, '0')
}

function firstIdOf(period: string): string {
  return `${period}000-0000-0000-0000-000000000000`
}
