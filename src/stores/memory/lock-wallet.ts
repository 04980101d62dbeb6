/**
 * Waiting for a wallet's lock, as a transaction of a database does.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import { lockReleased, tryLock, walletLock, type MemoryState } from './state.js'

/**
 * Locks a wallet if it exists, waiting for whoever holds it.
 *
 * @param deadline until when, in milliseconds of `Date.now()`
 * @throws StoreError `wallet_busy` where it stayed locked
 */
export async function lockWallet(
  state: MemoryState,
  owner: object,
  user: string,
  deadline: number,
): Promise<void> {
  while (state.wallets.has(user) && !tryLock(state, owner, [walletLock(user)])) {
    if (Date.now() >= deadline) throw new StoreError('wallet_busy', `The wallet of ${user} stayed locked.`)
    await lockReleased(state, deadline - Date.now())
  }
}
