/**
 * What a published suite needs of a store under test, beside the store port itself.
 *
 * @module
 */
import type { LedgerStore, StoreOptions } from '../ledger/store.js'

/** The two functions of a test runner that the suites use; vitest, node:test and mocha all have them. */
export interface SuiteRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown
}

/** A fresh database with a started store on it. */
export interface SuiteStore {
  readonly store: LedgerStore
  /** A second, independent store on the same database, as a second receiver has it. */
  readonly second: () => Promise<LedgerStore>
  /** Adds a wallet with a balance in minor units, as the publisher's app would. */
  readonly addWallet: (user: string, balance?: bigint) => Promise<void>
  /** Takes a wallet away, as the publisher's app would when it deletes a user. */
  readonly removeWallet: (user: string) => Promise<void>
  /** Changes stored ledger amounts behind the store's back, so that the audit has something to find. */
  readonly corruptBalanceAfter: (user: string) => Promise<void>
  /** Holds the wallet's row lock in another session until the returned function is called; absent where a store has no row locks. */
  readonly lockWallet?: (user: string) => Promise<() => Promise<void>>
  /** Writes a credit entry in another session and leaves it uncommitted; the returned function rolls it back. */
  readonly holdKey?: (idSpace: string, transactionKey: string) => Promise<() => Promise<void>>
  /** The number of outbox messages. */
  readonly countMessages: () => Promise<number>
  /** Closes the stores and drops the database. */
  readonly close: () => Promise<void>
}

export type OpenSuiteStore = (options: StoreOptions) => Promise<SuiteStore>
