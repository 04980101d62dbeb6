/**
 * One write transaction: BEGIN IMMEDIATE, everything in one synchronous go, COMMIT. Somebody else's write lock is waited
 * for by timer, because a driver that waits stops the event loop.
 *
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { PaidonceError, StoreError } from '../../errors.js'
import type { SqlConnection } from './connection.js'
import { isBusy, toStoreError } from './errors.js'

export interface Waiting {
  /** How long to try for the write lock; null: once. */
  readonly milliseconds: number | null
  readonly whenBusy: 'retry' | 'wallet_busy'
}

/** For operations that nobody repeats by himself. */
export const PATIENT: Waiting = Object.freeze({ milliseconds: 3_000, whenBusy: 'retry' })

type Attempt<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'busy'; readonly cause: unknown }

/**
 * Runs `work` in a transaction and commits it; whatever `work` throws rolls it back.
 *
 * @throws StoreError by `toStoreError`, or `waiting.whenBusy` where the write lock could not be had in time. A `Rollback`
 * or a PaidonceError of `work` comes out as it is.
 */
export async function writeTransaction<T>(
  connection: SqlConnection,
  waiting: Waiting,
  work: () => T,
): Promise<T> {
  const deadline = performance.now() + (waiting.milliseconds ?? 0)
  for (let pause = 1; ; pause = Math.min(pause * 2, 16)) {
    const attempt = await connection.turns.alone(() => tryTransaction(connection, work))
    if (attempt.kind === 'done') return attempt.value
    if (waiting.milliseconds === null || performance.now() >= deadline) {
      throw new StoreError(waiting.whenBusy, 'Somebody else is writing to the SQLite file.', attempt.cause)
    }
    await setTimeout(pause * (0.5 + Math.random()))
  }
}

/** Thrown by `work` to roll back with a result of its own. */
export class Rollback extends Error {
  constructor() {
    super('The transaction rolls back by decision.')
    this.name = 'Rollback'
  }
}

function tryTransaction<T>(connection: SqlConnection, work: () => T): Attempt<T> {
  // On a publisher's handle his own transaction may be open across an await; it is never joined and never ended here.
  if (connection.inTransaction()) {
    return { kind: 'busy', cause: new Error('The handle is inside a transaction of the app.') }
  }
  const restore = silenceBusyHandler(connection)
  try {
    try {
      connection.exec('begin immediate')
    } catch (cause) {
      if (isBusy(cause)) return { kind: 'busy', cause }
      throw toStoreError(cause, 'begin')
    }
    return { kind: 'done', value: commitAfter(connection, work) }
  } finally {
    restore()
  }
}

function commitAfter<T>(connection: SqlConnection, work: () => T): T {
  let value: T
  try {
    value = work()
  } catch (error) {
    rollBack(connection)
    if (error instanceof Rollback || error instanceof PaidonceError) throw error
    throw toStoreError(error, 'statement')
  }
  // SQLite ends a transaction by itself after some errors; what would follow then would run in autocommit.
  if (!connection.inTransaction()) {
    throw new StoreError('away', 'SQLite ended the transaction before its COMMIT.')
  }
  try {
    connection.exec('commit')
  } catch (error) {
    rollBack(connection)
    const failure = toStoreError(error, 'commit')
    if (failure.failure === 'unknown') dropHandle(connection)
    throw failure
  }
  if (connection.inTransaction()) {
    rollBack(connection)
    throw new StoreError('unknown', 'COMMIT left the transaction open.')
  }
  return value
}

/**
 * After SQLITE_FULL and SQLITE_IOERR the transaction may be gone already (sqlite.org/lang_transaction.html, 3.1). What goes
 * wrong here never hides the error that led here.
 */
function rollBack(connection: SqlConnection): void {
  try {
    if (connection.inTransaction()) connection.exec('rollback')
  } catch {
    dropHandle(connection)
  }
}

function dropHandle(connection: SqlConnection): void {
  try {
    connection.renew()
  } catch {
    // The handle is given up in any case; closing it was the last courtesy.
  }
}

/** The app that lent its handle may rely on its own time-out; it is put back right after the transaction. */
function silenceBusyHandler(connection: SqlConnection): () => void {
  if (!connection.borrowed) return () => undefined
  const timeout = connection.prepare('pragma busy_timeout').get()?.['timeout']
  if (typeof timeout !== 'bigint' || timeout === 0n) return () => undefined
  connection.exec('pragma busy_timeout = 0')
  return () => {
    connection.exec(`pragma busy_timeout = ${timeout.toString()}`)
  }
}

/**
 * Sets what the durability of a 200 rests on. better-sqlite3 is compiled with synchronous NORMAL under WAL, which may
 * lose the last commits at a power loss, so FULL is always said (its docs/performance.md).
 *
 * A publisher's file keeps its journal mode; outside WAL only EXTRA syncs the folder too (sqlite.org/pragma.html,
 * synchronous).
 */
export function applyPragmas(connection: SqlConnection): void {
  if (!connection.borrowed && connection.file !== null) connection.prepare('pragma journal_mode = wal').all()
  const mode = connection.prepare('pragma journal_mode').get()?.['journal_mode']
  connection.exec(`pragma synchronous = ${mode === 'wal' ? 'full' : 'extra'}`)
}

/** The same, waiting by timer for another process that opens or recovers the file at this moment. */
export async function preparePragmas(connection: SqlConnection): Promise<void> {
  const deadline = performance.now() + 10_000
  for (;;) {
    try {
      applyPragmas(connection)
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw toStoreError(error, 'begin')
      await setTimeout(5 + Math.random() * 20)
    }
  }
}
