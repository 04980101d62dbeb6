/**
 * Keyset pages: one row more than asked for is read, which tells whether there is a next page.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { PageOf } from '../../ledger/store.js'
import { prefixEnd } from '../prefix-end.js'
import type { SqlValue } from './driver.js'

/** Conditions that all have to hold, with their values in order. */
export interface Where {
  readonly conditions: string[]
  readonly values: SqlValue[]
}

export function cutPage<T>(rows: readonly T[], limit: number, mark: (row: T) => string): PageOf<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? mark(last) : null }
}

/** @throws PaidonceError `bad_request` where the text is no ledger id. */
export function ledgerIdOf(cursor: string): bigint {
  if (/^(0|[1-9]\d{0,17})$/.test(cursor)) return BigInt(cursor)
  throw new PaidonceError('bad_request', `The cursor ${JSON.stringify(cursor)} is not one of this list.`, {
    hint: 'Give the nextCursor of an earlier answer, or none.',
  })
}

/** Texts that begin with `prefix`, as a range that an index serves and in which no character is a wildcard. */
export function startsWith(expression: string, prefix: string): { condition: string; values: SqlValue[] } {
  const end = prefixEnd(prefix)
  return end === null
    ? { condition: `${expression} >= ?`, values: [prefix] }
    : { condition: `(${expression} >= ? and ${expression} < ?)`, values: [prefix, end] }
}
