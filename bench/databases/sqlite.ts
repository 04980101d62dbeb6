/**
 * SQLite for a benchmark: a file for each run. WAL and `synchronous=FULL` are what both rivals set by themselves.
 *
 * @module
 */
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { userName } from '../load/calls.js'
import type { BenchDatabase, BenchServer, Row } from './database.js'

/** @param folder where the files are made */
export async function startBenchSqlite(folder: string): Promise<BenchServer> {
  let serial = 0
  const nextFile = (): string => {
    serial += 1
    return join(folder, `run-${serial}.db`)
  }
  const filled = new Map<string, string>()
  return {
    store: 'sqlite',
    version: `SQLite ${sqliteVersion()}`,
    newDatabase: async () => openDatabase(nextFile()),
    async newFilledDatabase(name, fill) {
      let original = filled.get(name)
      if (original === undefined) {
        original = join(folder, `${name}.db`)
        await fill(openDatabase(original))
        withFile(original, (db) => db.pragma('wal_checkpoint(truncate)'))
        filled.set(name, original)
      }
      const file = nextFile()
      await copyFile(original, file)
      return openDatabase(file)
    },
    stop: async () => undefined,
  }
}

function openDatabase(file: string): BenchDatabase {
  return {
    store: 'sqlite',
    url: `sqlite:${file}`,
    rows: async (sql) => withFile(file, (db) => db.prepare(sql).all() as Row[]),
    async makeTextbookTables(wallets) {
      withFile(file, (db) =>
        db.exec(
          `pragma journal_mode = wal;
           create table users (id text primary key, balance integer not null default 0);
           create table transactions (
             transaction_id text not null,
             entry text not null,
             user_id text not null,
             amount integer not null,
             created_at text not null default current_timestamp,
             primary key (transaction_id, entry)
           );
           insert into users (id) ${walletNames(wallets)}`,
        ),
      )
    },
    async fillWallets(wallets) {
      withFile(file, (db) => db.exec(`insert into paidonce_wallets (user_id) ${walletNames(wallets)}`))
    },
    settle: async () => undefined,
    holdWallet: noRowLocks,
    holdKey: noRowLocks,
    async drop() {
      for (const ending of ['', '-wal', '-shm']) await rm(`${file}${ending}`, { force: true })
    },
  }
}

function withFile<T>(file: string, work: (db: BetterSqlite.Database) => T): T {
  const db = new BetterSqlite(file, { timeout: 5_000 })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

function walletNames(wallets: number): string {
  const prefix = userName(0).slice(0, -5)
  return `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${wallets})
    select printf('${prefix}%05d', n) from numbers`
}

async function noRowLocks(): Promise<never> {
  throw new Error('SQLite has no row locks: this workload is not for it.')
}

function sqliteVersion(): string {
  return String(withFile(':memory:', (db) => db.prepare('select sqlite_version()').pluck().get()))
}
