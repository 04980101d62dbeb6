/**
 * The map of keys in flight. For each transaction key at most one claim leads (it is queued, in a transaction or
 * aside); later ones wait behind it in the order in which they came.
 *
 * @module
 */
import type { Claim } from '../ledger/types.js'
import { isCopy, type Pending } from './pending.js'

interface Chain {
  leader: Pending
  readonly waiting: Pending[]
}

export class KeyChains {
  readonly #chains = new Map<string, Chain>()

  /** True where the claim leads its key and has to be routed; false where it waits behind another. */
  enter(pending: Pending): boolean {
    if (pending.key === null) return true
    const chain = this.#chains.get(pending.key)
    if (chain === undefined) {
      this.#chains.set(pending.key, { leader: pending, waiting: [] })
      return true
    }
    chain.waiting.push(pending)
    return false
  }

  /** Takes the copies that stand directly behind a leader; a copy behind a different claim stays in its place. */
  takeCopies(leader: Pending, atMost: number): Pending[] {
    const chain = leader.key === null ? undefined : this.#chains.get(leader.key)
    if (chain === undefined || chain.waiting.length === 0) return []
    const claim = leader.item.claim as Claim
    let count = 0
    while (count < chain.waiting.length && count < atMost) {
      if (!isCopy(claim, (chain.waiting[count] as Pending).item.claim as Claim)) break
      count += 1
    }
    return chain.waiting.splice(0, count)
  }

  /**
   * Puts copies back behind their leader, because it was not settled. Where the leader was answered meanwhile and
   * nobody waited behind it, the first copy leads and has to be routed: it is given back.
   */
  giveBack(leader: Pending, copies: readonly Pending[]): Pending | null {
    const [first, ...rest] = copies
    if (leader.key === null || first === undefined) return null
    const chain = this.#chains.get(leader.key)
    if (chain !== undefined) {
      chain.waiting.unshift(...copies)
      return null
    }
    this.#chains.set(leader.key, { leader: first, waiting: rest })
    return first
  }

  /** Removes one that will not be settled; the next leader, if the one removed was leading. */
  leave(pending: Pending): Pending | null {
    const chain = pending.key === null ? undefined : this.#chains.get(pending.key)
    if (chain === undefined || pending.key === null) return null
    if (chain.leader !== pending) {
      const index = chain.waiting.indexOf(pending)
      if (index >= 0) chain.waiting.splice(index, 1)
      return null
    }
    const next = chain.waiting.shift()
    if (next === undefined) {
      this.#chains.delete(pending.key)
      return null
    }
    chain.leader = next
    return next
  }
}
