/**
 * What a driver's error means for the transaction (sqlite.org/rescode.html).
 *
 * @module
 */
import { StoreError, type StoreFailure } from '../../errors.js'

/** Where the error came up: a COMMIT whose writing failed may stand after a crash, anything before it does not. */
export type Phase = 'begin' | 'statement' | 'commit'

/** Primary result codes; node:sqlite gives the number, better-sqlite3 the name. */
const CODES: Readonly<Record<number, string>> = {
  1: 'ERROR',
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  9: 'INTERRUPT',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  17: 'SCHEMA',
  18: 'TOOBIG',
  19: 'CONSTRAINT',
  20: 'MISMATCH',
  23: 'AUTH',
  25: 'RANGE',
  26: 'NOTADB',
}

const FAILURES: Readonly<Record<string, StoreFailure>> = {
  BUSY: 'retry',
  LOCKED: 'retry',
  INTERRUPT: 'retry',
  PROTOCOL: 'retry',
  SCHEMA: 'retry',
  CONSTRAINT: 'refused',
  MISMATCH: 'refused',
  TOOBIG: 'refused',
  RANGE: 'refused',
}

/**
 * SQLITE_ERROR is mostly a table or column that is missing for everybody. These are the ones that a value brings up while
 * a statement runs, such as a publisher's trigger over one user's row.
 */
const DATA_ERROR = /malformed JSON|JSON path|integer overflow|more than one row/i

/** The primary result code without its prefix (`BUSY`), or null where the error is not SQLite's. */
export function sqliteCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return CODES[errcode & 0xff] ?? 'ERROR'
  const name = typeof code === 'string' ? /^SQLITE_([A-Z]+)/.exec(code)?.[1] : undefined
  return name ?? null
}

/** Whether somebody else holds the write lock. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 'BUSY' || code === 'LOCKED' || code === 'PROTOCOL'
}

/** Pure: the class of an error. A missing table or a full disk is nobody's data, so no claim is blamed for it. */
export function failureOf(error: unknown, phase: Phase): StoreFailure {
  const code = sqliteCode(error)
  if (code === null) return failureOfDriver(error)
  if (phase === 'commit' && (code === 'IOERR' || code === 'NOMEM')) return 'unknown'
  if (code === 'ERROR' && DATA_ERROR.test(textOf(error))) return 'refused'
  return FAILURES[code] ?? 'away'
}

/** Errors of a driver itself: a closed handle, a handle in the middle of the app's own iteration, a value too big. */
function failureOfDriver(error: unknown): StoreFailure {
  const message = textOf(error)
  if (/busy executing/i.test(message)) return 'retry'
  return /not open/i.test(message) ? 'away' : 'refused'
}

export function toStoreError(error: unknown, phase: Phase): StoreError {
  if (error instanceof StoreError) return error
  const code = sqliteCode(error)
  const text = textOf(error)
  return new StoreError(
    failureOf(error, phase),
    `SQLite failed at ${phase}: ${code === null ? '' : `SQLITE_${code}: `}${text}.`,
    error,
  )
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
