/**
 * Files, handles and child processes for the tests of the SQLite store.
 *
 * @module
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { StoreOptions } from '../../src/ledger/store.js'
import { openConnection, type SqlConnection } from '../../src/stores/sqlite/connection.js'
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js'
import type { SuiteStore } from '../../src/testing/suite-store.js'

const WRITER = fileURLToPath(new URL('./sqlite-writer.ts', import.meta.url))
const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))

/** A started store on a fresh file, and a second connection of the test's own to the same file. */
export interface FileStore {
  readonly file: string
  readonly store: SqliteStore
  readonly raw: SqlConnection
  readonly close: () => Promise<void>
}

export async function openFileStore(options: StoreOptions = {}): Promise<FileStore> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-sqlite-'))
  const file = join(folder, 'made', 'ledger.db')
  const store = await openSqlite(file, options)
  await store.start()
  const raw = openConnection(file)
  return {
    file,
    store,
    raw,
    close: async () => {
      raw.close()
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

export async function openSqliteSuite(options: StoreOptions): Promise<SuiteStore> {
  const { file, store, raw, close } = await openFileStore(options)
  const others: SqliteStore[] = []
  return {
    store,
    second: async () => {
      const other = await openSqlite(file, options)
      await other.start()
      others.push(other)
      return other
    },
    addWallet: async (user, balance = 0n) => {
      raw.prepare('insert into paidonce_wallets (user_id, balance) values (?, ?)').run(user, balance)
    },
    removeWallet: async (user) => {
      raw.prepare('delete from paidonce_wallets where user_id = ?').run(user)
    },
    corruptBalanceAfter: async (user) => {
      raw
        .prepare(
          'update paidonce_ledger set balance_after = 77777 where id = (select min(id) from paidonce_ledger where user_id = ?)',
        )
        .run(user)
    },
    countMessages: async () => Number(raw.prepare('select count(*) as n from paidonce_outbox').get()?.['n']),
    close: async () => {
      for (const other of others) await other.close()
      await close()
    },
  }
}

/** One process that books credits into the file until it is done or killed. */
export interface Writer {
  readonly process: ChildProcessWithoutNullStreams
  /** What it printed so far: one line `outcome transactionId` for each claim, after its COMMIT. */
  readonly lines: string[]
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
}

/** Starts a process that books the credits `prefix0`, `prefix1`, … in groups of five, `count` at most. */
export function startWriter(file: string, prefix: string, count: number): Writer {
  const child = spawn(process.execPath, [JITI, WRITER, file, prefix, String(count)])
  const lines: string[] = []
  let stderr = ''
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, stderr })
    })
  })
  return { process: child, lines, ended }
}
