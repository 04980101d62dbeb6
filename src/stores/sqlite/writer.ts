/**
 * Groups are written on a connection of their own in a worker thread: while one is synced to the disk, the receiver reads
 * and answers other calls.
 *
 * @module
 */
import { Worker } from 'node:worker_threads'
import { StoreError } from '../../errors.js'
import { CONNECTION_SETTINGS, type SqlConnection } from './connection.js'
import type { SqlValue } from './driver.js'
import { isBusy, toStoreError, type Phase } from './errors.js'
import { WRITER_SOURCE, type WriterReply } from './writer-source.js'

/** One statement, run for each row of values; each has to change one row (or `changes`), or everything rolls back. */
export interface WriteStep {
  readonly sql: string
  readonly changes?: number
  readonly rows: readonly (readonly SqlValue[])[]
}

/**
 * What became of a transaction. `missed`: this row of this step changed nothing. `unusable`: there is no thread, and
 * nothing was written.
 */
export type Written =
  | { readonly kind: 'committed' }
  | { readonly kind: 'unusable' }
  | { readonly kind: 'missed'; readonly step: number; readonly row: number }

export interface SqlWriter {
  readonly usable: boolean
  /**
   * Writes all steps in one transaction and commits it.
   *
   * @throws StoreError `retry` where somebody else holds the write lock, else by `toStoreError`
   */
  write(steps: readonly WriteStep[]): Promise<Written>
  close(): Promise<void>
}

/** Null where the thread could not open the same database, or must not: a borrowed handle is the only one to write. */
export function createWriter(connection: SqlConnection): SqlWriter | null {
  const { file, module, borrowed } = connection
  return file === null || module === null || borrowed ? null : new WriterThread(file, module)
}

interface Waiting {
  readonly resolve: (written: Written) => void
  readonly reject: (error: Error) => void
}

class WriterThread implements SqlWriter {
  readonly #workerData: { readonly file: string; readonly module: string }
  /** The thread answers in the order in which it is asked. */
  readonly #waiting: Waiting[] = []
  #worker: Worker | null = null
  #usable = true
  #closed = false

  constructor(file: string, module: string) {
    this.#workerData = { file, module }
  }

  get usable(): boolean {
    return this.#usable && !this.#closed
  }

  write(steps: readonly WriteStep[]): Promise<Written> {
    return new Promise((resolve, reject) => {
      const message = steps.map(({ sql, rows, changes = 1 }) => ({ sql, rows: rows.map(sendable), changes }))
      const worker = (this.#worker ??= this.#start())
      this.#waiting.push({ resolve, reject })
      // An idle thread never keeps the process alive, one that writes does.
      worker.ref()
      worker.postMessage(message)
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    if (worker === null) return
    worker.ref()
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        resolve()
      })
    })
    // It ends by itself once what it was given before is written.
    worker.postMessage(null)
    await ended
  }

  #start(): Worker {
    const worker = new Worker(WRITER_SOURCE, {
      eval: true,
      execArgv: [],
      name: 'paidonce-writer',
      workerData: { ...this.#workerData, settings: CONNECTION_SETTINGS },
    })
    worker.on('message', (reply: WriterReply) => {
      const waiting = this.#waiting.shift()
      if (this.#waiting.length === 0) worker.unref()
      if (waiting !== undefined) this.#settle(waiting, reply)
    })
    worker.on('error', (error) => {
      this.#fail(worker, error)
    })
    worker.on('exit', (code) => {
      this.#fail(worker, new Error(`It exited with ${code}.`))
    })
    return worker
  }

  #settle({ resolve, reject }: Waiting, reply: WriterReply): void {
    if (reply.kind === 'failed') {
      const { message, code, errcode, phase } = reply
      const error = Object.assign(new Error(message), { code, errcode })
      reject(
        phase === 'begin' && isBusy(error)
          ? new StoreError('retry', 'Somebody else is writing to the SQLite file.', error)
          : toStoreError(error, phase as Phase),
      )
    } else if (reply.kind === 'ended') {
      reject(new StoreError('away', 'SQLite ended the transaction before its COMMIT.'))
    } else if (reply.kind === 'open') {
      reject(new StoreError('unknown', 'COMMIT left the transaction open.'))
    } else {
      if (reply.kind === 'unusable') this.#usable = false
      resolve(reply)
    }
  }

  /** What a thread that ended had been given may stand or not; the groups after it are written without a thread. */
  #fail(ended: Worker, cause: Error): void {
    if (this.#worker !== ended) return
    this.#worker = null
    this.#usable = false
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new StoreError('unknown', 'The thread that writes the SQLite file ended.', cause))
    }
  }
}

/** Bytes travel as text of one byte each: a Buffer would take the whole pool that it is a part of along. */
function sendable(values: readonly SqlValue[]): unknown[] {
  return values.map((value) => {
    if (typeof value === 'string' || typeof value === 'bigint' || value === null) return value
    if ((value as unknown) instanceof Uint8Array) {
      return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')]
    }
    throw new StoreError('refused', `A value of the type ${typeof value} cannot be stored.`)
  })
}
