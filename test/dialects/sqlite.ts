/**
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import type { LedgerStore, StoreOptions } from '../../src/ledger/store.js'
import { openSqlite } from '../../src/stores/sqlite/index.js'
import type { Database, DialectBench } from './dialect.js'

export const SQLITE: DialectBench = {
  name: 'sqlite',
  start: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-'))
    let count = 0
    return {
      port: null,
      newDatabase: async () => {
        count += 1
        return openDatabase(join(folder, `${count}.db`))
      },
      stop: () => rm(folder, { recursive: true }),
    }
  },
}

async function openDatabase(file: string): Promise<Database> {
  const opened: LedgerStore[] = []
  let app: BetterSqlite.Database | null = null
  const raw = (): BetterSqlite.Database =>
    (app ??= new BetterSqlite(file, { timeout: 5_000 }).defaultSafeIntegers(true))
  const open = async (options: StoreOptions = {}): Promise<LedgerStore> => {
    const store = await openSqlite(file, options)
    opened.push(store)
    await store.start()
    return store
  }
  return {
    url: `sqlite:${file}`,
    open,
    openVia: () => Promise.reject(new Error('There is no server between a process and its SQLite file.')),
    addWallet: async (user, balance = 0n) => {
      raw()
        .prepare('insert into paidonce_wallets (user_id, balance) values (?, ?) on conflict do nothing')
        .run(user, balance)
    },
    raw: async () => {
      const entries = raw().prepare('select * from paidonce_ledger').all() as Record<
        string,
        string | bigint | null
      >[]
      const wallets = raw().prepare('select user_id, balance from paidonce_wallets').all() as {
        user_id: string
        balance: bigint
      }[]
      return {
        entries: entries.map((row) => ({
          order: row['id'] as bigint,
          idSpace: row['id_space'] as string,
          key: row['transaction_key'] as string,
          entry: row['entry'] as string,
          user: row['user_id'] as string,
          amount: row['amount'] as bigint,
          balanceAfter: row['balance_after'] as bigint | null,
          decision: row['decision'] as string,
          postbackId: row['postback_id'] as string | null,
        })),
        wallets: new Map(wallets.map((row) => [row.user_id, row.balance])),
      }
    },
    close: async () => {
      for (const store of opened) await store.close()
      app?.close()
    },
  }
}
