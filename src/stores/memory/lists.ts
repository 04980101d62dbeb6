/**
 * Filters and pages over what is kept in memory.
 *
 * @module
 */
import type { Page, PageOf, Postback, PostbackFilter } from '../../ledger/store.js'
import { findEntry, type KeptPostback, type MemoryState } from './state.js'

/** A row waits until a person resolves it or, for what can still be booked, an entry of its key exists. */
export function isOpen(state: MemoryState, row: KeptPostback): boolean {
  if (!row.open) return false
  if (row.outcome !== 'unknown_user' && row.outcome !== 'held') return true
  const { idSpace, transactionKey, entry } = row
  if (idSpace === null || transactionKey === null || entry === null) return true
  return findEntry(state, { idSpace, transactionKey, entry }) === undefined
}

export function matches(row: Postback, filter: PostbackFilter): boolean {
  const among = (list: readonly string[] | undefined, value: string | null): boolean =>
    list === undefined || (value !== null && list.includes(value))
  return (
    among(filter.network, row.network) &&
    among(filter.user, row.user) &&
    among(filter.transactionId, row.transactionId) &&
    among(filter.outcome, row.outcome) &&
    (filter.open === undefined || filter.open === row.open) &&
    (filter.since === undefined || row.receivedAt >= filter.since) &&
    (filter.until === undefined || row.receivedAt < filter.until) &&
    (filter.q === undefined ||
      filter.q === '' ||
      startsWith(row.transactionId, filter.q) ||
      startsWith(row.user, filter.q))
  )
}

function startsWith(value: string | null, prefix: string): boolean {
  return value?.startsWith(prefix) ?? false
}

/** Cuts one page out of rows that are in order; the cursor is the last row's mark. */
export function pageOf<T>(rows: readonly T[], { limit, cursor }: Page, mark: (row: T) => string): PageOf<T> {
  const start = cursor === null ? 0 : rows.findIndex((row) => mark(row) === cursor) + 1
  const items = rows.slice(start, start + limit)
  const last = items.at(-1)
  return { items, nextCursor: last !== undefined && start + limit < rows.length ? mark(last) : null }
}
