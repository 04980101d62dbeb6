/**
 * Reads on a connection of their own in a worker thread, so that a long list or audit never stops the receiver.
 *
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { StoreError } from '../../errors.js'
import type { SqlConnection } from './connection.js'
import type { SqlRow, SqlValue } from './driver.js'
import { isBusy, toStoreError } from './errors.js'

export interface SqlReader {
  all(sql: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  close(): Promise<void>
}

interface Reply {
  readonly id: number
  readonly rows?: readonly SqlRow[]
  readonly error?: { readonly message: string; readonly code: unknown; readonly errcode: unknown }
}

/** The worker's whole program, as text: a bundler that moves or renames files cannot lose it. */
const WORKER_SOURCE = `
const { parentPort, workerData } = require('node:worker_threads')
const { file, module } = workerData
const builtIn = module === 'node:sqlite'
process.emitWarning = () => undefined
let database
function open() {
  if (builtIn) {
    const { DatabaseSync } = require('node:sqlite')
    database = new DatabaseSync(file, { readOnly: true })
  } else {
    const Database = require(module)
    database = new Database(file, { readonly: true })
  }
  database.exec('pragma busy_timeout = 5000')
}
parentPort.on('message', ({ id, sql, values }) => {
  try {
    if (database === undefined) open()
    const statement = database.prepare(sql)
    if (builtIn) statement.setReadBigInts(true)
    else statement.safeIntegers(true)
    parentPort.postMessage({ id, rows: statement.all(...values).map((row) => ({ ...row })) })
  } catch (error) {
    const { message, code, errcode } = error
    parentPort.postMessage({ id, error: { message, code, errcode } })
  }
})
`

/** A reader for the connection's file; a database in memory is read on its own connection. */
export function createReader(connection: SqlConnection): SqlReader {
  const { file, module } = connection
  return file === null || module === null ? readHere(connection) : readInWorker(file, module)
}

function readHere(connection: SqlConnection): SqlReader {
  return {
    all: async (sql, values) => {
      const deadline = performance.now() + 3_000
      for (;;) {
        try {
          return connection.prepare(sql).all(...values)
        } catch (error) {
          if (!isBusy(error) || performance.now() >= deadline) throw toStoreError(error, 'statement')
          await setTimeout(5)
        }
      }
    },
    close: () => Promise.resolve(),
  }
}

function readInWorker(file: string, module: string): SqlReader {
  const waiting = new Map<
    number,
    { resolve: (rows: readonly SqlRow[]) => void; reject: (error: Error) => void }
  >()
  let worker: Worker | null = null
  let nextId = 0

  const settle = ({ id, rows, error }: Reply): void => {
    const request = waiting.get(id)
    waiting.delete(id)
    if (waiting.size === 0) worker?.unref()
    if (rows !== undefined) request?.resolve(rows)
    else request?.reject(toStoreError(Object.assign(new Error(error?.message), error), 'statement'))
  }
  const fail = (ended: Worker, cause: unknown): void => {
    if (worker !== ended) return
    worker = null
    for (const { reject } of waiting.values()) {
      reject(new StoreError('away', 'The thread that reads the SQLite file ended.', cause))
    }
    waiting.clear()
  }
  const start = (): Worker => {
    const started = new Worker(WORKER_SOURCE, {
      eval: true,
      execArgv: [],
      name: 'paidonce-reader',
      workerData: { file, module },
    })
    started.on('message', settle)
    started.on('error', (error) => {
      fail(started, error)
    })
    started.on('exit', (code) => {
      fail(started, new Error(`It exited with ${code}.`))
    })
    return started
  }

  return {
    all: (sql, values) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        const id = nextId
        nextId += 1
        waiting.set(id, { resolve, reject })
        // An idle reader never keeps the process alive, one with an open question does.
        worker.ref()
        worker.postMessage({ id, sql, values })
      }),
    close: async () => {
      const ended = worker
      if (ended === null) return
      fail(ended, null)
      await ended.terminate()
    },
  }
}
