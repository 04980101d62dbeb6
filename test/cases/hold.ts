/**
 * Sessions that get in the way.
 *
 * @module
 */
import BetterSqlite from 'better-sqlite3'
import type { Bench } from './bench.js'

/** Keeps the write lock of a SQLite file until the returned function is called. */
export async function holdEverything(url: string): Promise<() => void> {
  const other = new BetterSqlite(url.slice('sqlite:'.length), { timeout: 5_000 })
  other.exec('begin immediate')
  return () => {
    other.exec('rollback')
    other.close()
  }
}

/** Keeps one wallet locked, or the whole file where there are no row locks. */
export async function holdWallet(bench: Bench, user: string): Promise<() => void | Promise<void>> {
  return bench.database.holdWallet === undefined
    ? holdEverything(bench.database.url)
    : bench.database.holdWallet(user)
}
