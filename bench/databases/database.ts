/**
 * What the benchmark needs of a database, whichever it is.
 *
 * @module
 */
import type { StoreName } from '../result-row.js'

export type Row = Readonly<Record<string, unknown>>

/** Something that another session holds until it is let go. */
export interface Hold {
  release(): Promise<void>
}

/** A database of one run. */
export interface BenchDatabase {
  readonly store: StoreName
  /** As Paidonce's `database` setting takes it. */
  readonly url: string
  /** Runs one statement; the counts of the checks. */
  rows(sql: string): Promise<readonly Row[]>
  /** The tables of the textbook handler, with so many wallets. */
  makeTextbookTables(wallets: number): Promise<void>
  /** So many wallets in Paidonce's own table, which the server has made. */
  fillWallets(wallets: number): Promise<void>
  /** Writes out what earlier work has left, so that none of it falls into the measured time. */
  settle(): Promise<void>
  /** Holds the row of a wallet, as another program of the publisher would. */
  holdWallet(user: string): Promise<Hold>
  /** Holds a ledger entry that is written and not committed. */
  holdKey(transactionId: string): Promise<Hold>
  drop(): Promise<void>
}

export interface BenchServer {
  readonly store: StoreName
  /** What the results say: name and version. */
  readonly version: string
  newDatabase(): Promise<BenchDatabase>
  /** A database with what `fill` wrote into the first of this name; later ones are copies of that. */
  newFilledDatabase(name: string, fill: (database: BenchDatabase) => Promise<void>): Promise<BenchDatabase>
  stop(): Promise<void>
}

/** Reads a count, which drivers give as text, number or bigint. */
export function countIn(row: Row | undefined, name = 'n'): number {
  return Number(row?.[name] ?? Number.NaN)
}
