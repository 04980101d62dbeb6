/**
 * What every operation of this store works with.
 *
 * @module
 */
import type { UnknownUserPolicy } from '../../ledger/decide.js'
import type { RecentCredits } from '../recent-credits.js'
import type { TableNames } from '../table-names.js'
import type { GroupStatements } from './group-statements.js'
import type { Sessions } from './session.js'
import type { ShortWayOdds } from './short-way.js'
import type { WalletSql } from './wallet-table.js'

export interface PostgresContext {
  readonly sessions: Sessions
  readonly names: TableNames
  readonly scale: number
  readonly unknownUser: UnknownUserPolicy
  readonly foreignWallets: boolean
  readonly odds: ShortWayOdds
  readonly recent: RecentCredits
  readonly isolation: 'read committed' | 'serializable'
  /** The wallets' SQL, which for a publisher's table depends on the types of its columns. */
  wallets(): Promise<WalletSql>
  statements(): Promise<GroupStatements>
}
