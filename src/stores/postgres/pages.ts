/**
 * Keyset pages and prefix searches.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { PageOf } from '../../ledger/store.js'

/** Cuts a page out of rows that were read one beyond the limit; the cursor is the last row's mark. */
export function pageOf<T>(rows: readonly T[], limit: number, mark: (row: T) => string): PageOf<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: last !== undefined && rows.length > limit ? mark(last) : null }
}

/** A LIKE pattern for texts that start with the prefix, whose own wildcards mean themselves. */
export function prefixPattern(prefix: string): string {
  return `${prefix.replace(/[\\%_]/g, (character) => `\\${character}`)}%`
}

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

/** Whether a text can be the id of an inbox row; the database would refuse any other. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** @throws PaidonceError `bad_request` where a cursor was not made by this store */
export function checkCursor(cursor: string | null, kind: 'number' | 'uuid'): string | null {
  const fits = cursor === null || (kind === 'uuid' ? isUuid(cursor) : /^\d{1,18}$/.test(cursor))
  if (fits) return cursor
  throw new PaidonceError('bad_request', `The cursor is ${JSON.stringify(cursor)}.`, {
    hint: 'Pass what the answer before gave as nextCursor, unchanged.',
  })
}
