/**
 * What every operation of one SQLite store shares.
 *
 * @module
 */
import type { UnknownUserPolicy } from '../../ledger/decide.js'
import type { WalletTable } from '../../ledger/store.js'
import type { Odds } from '../odds.js'
import type { RecentCredits } from '../recent-credits.js'
import type { TableNames } from '../table-names.js'
import type { SqlConnection } from './connection.js'
import type { SqlReader } from './reader.js'
import type { SqlWriter } from './writer.js'
import type { WalletSql } from './wallet-table.js'

export interface SqliteContext {
  readonly connection: SqlConnection
  readonly reader: SqlReader
  /** Null where groups are written on `connection`. */
  readonly writer: SqlWriter | null
  /** What the guesses of the short way have been worth lately. */
  readonly odds: Odds
  readonly recent: RecentCredits
  readonly names: TableNames
  readonly amountScale: number
  readonly unknownUser: UnknownUserPolicy
  readonly outbox: boolean
  readonly foreign: WalletTable | null
  readonly migrate: 'auto' | 'check' | 'off'
  /** How wallets are found; for a publisher's table it is learnt from the table itself at the first use. */
  readonly wallets: () => WalletSql
}
