/**
 * One shape for the databases that the wide tests run on: a server of the test's own, fresh databases, the raw rows
 * read by a plain driver, and another session that gets in the way.
 *
 * @module
 */
import type { LedgerStore, StoreOptions } from '../../src/ledger/store.js'
import type { RawLedger } from '../oracle/check-ledger.js'

export interface Database {
  readonly url: string
  /** Opens and starts a store of its own connections; closed with the database. */
  readonly open: (options?: StoreOptions) => Promise<LedgerStore>
  /** The same through another port, for a proxy that stands between. */
  readonly openVia: (port: number, options?: StoreOptions) => Promise<LedgerStore>
  readonly addWallet: (user: string, balance?: bigint) => Promise<void>
  readonly raw: () => Promise<RawLedger>
  /** Holds a wallet's row in another session until the returned function is called; absent without row locks. */
  readonly holdWallet?: (user: string) => Promise<() => Promise<void>>
  /** Writes a credit in another session and leaves it uncommitted; the returned function rolls it back. */
  readonly holdKey?: (idSpace: string, key: string) => Promise<() => Promise<void>>
  readonly close: () => Promise<void>
}

export interface DialectServer {
  /** Null where there is no server to talk to. */
  readonly port: number | null
  readonly newDatabase: () => Promise<Database>
  readonly stop: () => Promise<void>
}

export interface DialectBench {
  readonly name: 'sqlite' | 'postgres' | 'mysql'
  readonly start: () => Promise<DialectServer>
}

/** Replaces host and port of a database URL. */
export function viaPort(url: string, port: number): string {
  const target = new URL(url)
  target.hostname = '127.0.0.1'
  target.port = String(port)
  return target.toString()
}
