/**
 * One open SQLite file, the same whichever driver opened it: statements kept by their text, integers as bigint.
 *
 * @module
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { PaidonceError, StoreError } from '../../errors.js'
import {
  findDriver,
  type DriverName,
  type SqliteHandle,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
} from './driver.js'
import { Turns } from './turns.js'

export interface SqlConnection {
  readonly driver: DriverName
  /** Absolute path, or null for a database in memory. */
  readonly file: string | null
  /** Whether the handle belongs to the publisher: then its settings are put back and it is never closed here. */
  readonly borrowed: boolean
  /** What a worker thread loads to open the same file with the same copy of SQLite; null where that is not known. */
  readonly module: string | null
  /** Whose turn it is to write through this connection's file, within this process. */
  readonly turns: Turns
  exec(sql: string): void
  /** Statements are kept by their text. */
  prepare(sql: string): SqlStatement
  inTransaction(): boolean
  /** Gives up a handle that is in an unknown state; the next use opens a new one. A borrowed one is left as it is. */
  renew(): void
  close(): void
}

interface RawStatement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint }
  get(...values: readonly SqlValue[]): SqlRow | undefined
  all(...values: readonly SqlValue[]): SqlRow[]
  safeIntegers?(on: boolean): unknown
  setReadBigInts?(on: boolean): unknown
}

/**
 * What a connection to a file of our own starts without; the journal mode is kept in the file. A page that many groups
 * change is copied from the WAL into the file once, so checkpoints are rarer than SQLite's every 1,000 pages: the WAL
 * grows to about 33 MB. The cache is 16 MB for each of the three connections; one of 64 MB was not faster.
 */
export const CONNECTION_SETTINGS =
  'pragma busy_timeout = 0; pragma synchronous = full; pragma wal_autocheckpoint = 8000; pragma cache_size = -16384'

/** Statements of lists differ by their filters; beyond this many the cache starts again. */
const MAX_STATEMENTS = 200

/**
 * Opens a file with this process's driver. Its folder is made, and a new file can be read by its owner only.
 *
 * @param path a path, or `:memory:`
 * @throws PaidonceError `driver_missing`, or `database_away` where the file cannot be opened.
 */
export function openConnection(path: string): SqlConnection {
  const driver = findDriver()
  const file = path === ':memory:' ? path : resolve(path)
  const open = (): SqliteHandle => {
    try {
      if (file !== ':memory:') createFile(file)
      const handle = driver.open(file)
      handle.exec(CONNECTION_SETTINGS)
      return handle
    } catch (cause) {
      throw new PaidonceError('database_away', `The SQLite file ${JSON.stringify(file)} cannot be opened.`, {
        hint: 'Give a path in a folder that this process may write to.',
        cause,
      })
    }
  }
  return connect(open(), open, driver.module)
}

/** Takes over a publisher's handle. */
export function borrowConnection(handle: SqliteHandle): SqlConnection {
  return connect(handle, null, moduleOf(handle))
}

/**
 * Two copies of SQLite in one process drop each other's file locks (sqlite.org/howtocorrupt.html, 2.2.1), so a handle of
 * a better-sqlite3 that is not the one found from here gets no second connection.
 */
function moduleOf(handle: SqliteHandle): string | null {
  if (driverOf(handle) === 'node:sqlite') return 'node:sqlite'
  try {
    const load = createRequire(import.meta.url)
    return handle.constructor === load('better-sqlite3') ? load.resolve('better-sqlite3') : null
  } catch {
    return null
  }
}

function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function connect(
  first: SqliteHandle,
  reopen: (() => SqliteHandle) | null,
  module: string | null,
): SqlConnection {
  let handle: SqliteHandle | null = first
  let closed = false
  const statements = new Map<string, SqlStatement>()
  const driver = driverOf(first)
  const current = (): SqliteHandle => {
    if (closed) throw new StoreError('away', 'The SQLite store is closed: the database is not open.')
    return (handle ??= reopen === null ? first : reopen())
  }
  const drop = (): void => {
    statements.clear()
    if (reopen === null) return
    const dropped = handle
    handle = null
    dropped?.close()
  }
  const prepare = (sql: string): SqlStatement => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    const statement = wrapStatement(current().prepare(sql) as RawStatement)
    statements.set(sql, statement)
    return statement
  }
  const file = prepare("select file from pragma_database_list where name = 'main'").get()?.['file']
  return {
    driver,
    file: typeof file === 'string' && file !== '' ? file : null,
    borrowed: reopen === null,
    module,
    turns: new Turns(),
    prepare,
    exec: (sql) => void current().exec(sql),
    inTransaction: () => isInTransaction(current()),
    renew: drop,
    close: () => {
      if (closed) return
      closed = true
      drop()
    },
  }
}

function driverOf(handle: SqliteHandle): DriverName {
  const statement = handle.prepare('select 1') as RawStatement
  if (typeof statement.safeIntegers === 'function') return 'better-sqlite3'
  if (typeof statement.setReadBigInts === 'function') return 'node:sqlite'
  throw new PaidonceError('config_invalid', 'The database given to sqliteStore is no SQLite handle.', {
    hint: 'Give a Database of better-sqlite3 or a DatabaseSync of node:sqlite.',
  })
}

function wrapStatement(raw: RawStatement): SqlStatement {
  if (raw.safeIntegers !== undefined) raw.safeIntegers(true)
  else raw.setReadBigInts?.(true)
  return {
    run: (...values) => Number(raw.run(...checked(values)).changes),
    get: (...values) => raw.get(...checked(values)),
    all: (...values) => raw.all(...checked(values)),
  }
}

/** Both drivers spread an object or array over several parameters; nothing but a plain value may reach them. */
function checked(values: readonly SqlValue[]): readonly SqlValue[] {
  for (const value of values as readonly unknown[]) {
    const plain =
      value === null || typeof value === 'string' || typeof value === 'bigint' || value instanceof Uint8Array
    if (!plain) throw new StoreError('refused', `A value of the type ${typeof value} cannot be stored.`)
  }
  return values
}

/** Node 22.13 to 22.15 do not tell; there a BEGIN does, which takes no lock and fails inside a transaction only. */
function isInTransaction(handle: SqliteHandle): boolean {
  const told = handle as { inTransaction?: unknown; isTransaction?: unknown }
  const known = told.inTransaction ?? told.isTransaction
  if (typeof known === 'boolean') return known
  try {
    handle.exec('begin')
  } catch {
    return true
  }
  handle.exec('rollback')
  return false
}
