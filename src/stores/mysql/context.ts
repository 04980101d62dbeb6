/**
 * What every operation of this store works with.
 *
 * @module
 */
import type { UnknownUserPolicy } from '../../ledger/decide.js'
import type { TableNames } from '../table-names.js'
import type { Odds } from '../odds.js'
import type { SessionSource } from './session.js'
import type { WalletColumns } from './wallet-table.js'

export interface MysqlContext {
  readonly source: SessionSource
  readonly names: TableNames
  readonly scale: number
  readonly unknownUser: UnknownUserPolicy
  readonly outbox: boolean
  /** What the guess has been worth lately that credits are new. */
  readonly odds: Odds
  /** The wallets' columns, which for a publisher's table depend on their types. */
  wallets(): Promise<WalletColumns>
}
