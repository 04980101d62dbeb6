/**
 * Wallets and keys that somebody else holds, each with its whole backlog. They take turns for the few connections that
 * may wait for locks, so that their neighbours in the lanes never do.
 *
 * @module
 */
import type { Claim } from '../ledger/types.js'
import type { RunMember } from './group-run.js'
import type { Pending } from './pending.js'

/** A queue with one runner: a lane of wallets, or one wallet or key that stands aside. */
export interface Queue {
  readonly waiting: Pending[]
  running: boolean
}

export interface AsideContext {
  /** How many asides may wait for locks at once. */
  readonly slots: number
  readonly maxGroup: number
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly takeGroup: (queue: Queue) => RunMember[]
  /**
   * Runs a group; with `waits` it waits for its wallets' locks, otherwise it leaves locked wallets out. Resolves to
   * whether a transaction settled it.
   */
  readonly run: (
    group: readonly RunMember[],
    owns: (user: string) => boolean,
    waits: boolean,
  ) => Promise<boolean>
  /** Takes back what is queued for a wallet that nobody holds any more. */
  readonly takeBack: (waiting: readonly Pending[]) => void
  readonly awaitKey: (claim: Claim, waitMs: number) => Promise<boolean>
  /** Queues a member's claims again, because it was not settled; false where its leader was answered meanwhile. */
  readonly giveBack: (member: RunMember) => boolean
}

/** How often wallets that wait for a connection are tried, in milliseconds. */
const PROBE_MS = 25
/** How long one busy key may keep a connection before it is the next one's turn. */
const KEY_TURN_MS = 500

const WALLET = 'wallet\u0000'
const KEY = 'key\u0000'

export class Asides {
  readonly #context: AsideContext
  readonly #queues = new Map<string, Queue>()
  #running = 0
  #probing = false

  constructor(context: AsideContext) {
    this.#context = context
  }

  get size(): number {
    return this.#queues.size
  }

  /** The backlog of a wallet that stands aside. */
  ofWallet(user: string): Queue | undefined {
    return this.#queues.get(WALLET + user)
  }

  setWalletAside(member: RunMember, user: string): void {
    member.leader.user = user
    this.#setAside(WALLET + user, member)
  }

  setKeyAside(member: RunMember): void {
    this.#setAside(KEY + String(member.leader.key), member)
  }

  #setAside(name: string, member: RunMember): void {
    if (!this.#context.giveBack(member)) return
    const queue = this.#queues.get(name) ?? { waiting: [], running: false }
    this.#queues.set(name, queue)
    queue.waiting.push(member.leader)
    this.#start()
  }

  /** Starts as many of the waiting asides as there are slots, the one that waited longest first. */
  #start(): void {
    for (const [name, queue] of this.#queues) {
      if (this.#running >= this.#context.slots) break
      if (queue.running) continue
      queue.running = true
      this.#running += 1
      setImmediate(() => void this.#takeTurn(name, queue))
    }
    if (!this.#probing && this.#waitingWallets().length > 0) void this.#probeWallets()
  }

  /** One group of one aside; what is left of it goes to the end of the row, so that none keeps a slot for ever. */
  async #takeTurn(name: string, queue: Queue): Promise<void> {
    const group = this.#context.takeGroup(queue)
    if (group.length > 0) {
      if (name.startsWith(WALLET)) {
        // Its lock was had, so the wallet is free: what is queued goes back to the lane, with all others.
        if (await this.#context.run(group, (user) => name === WALLET + user, true)) this.#end(name, queue)
      } else if (await this.#keyIsFree(group)) await this.#context.run(group, () => true, false)
      else for (const member of group) this.#setAside(name, member)
    }
    this.#running -= 1
    this.#putBack(name, queue)
    this.#start()
  }

  /** A key is waited for without a lock on anything; the group after it is an ordinary one. */
  async #keyIsFree(group: readonly RunMember[]): Promise<boolean> {
    const leader = group[0]?.leader
    if (leader === undefined || leader.item.claim === null) return true
    const left = Math.min(leader.deadlineAt - this.#context.now(), KEY_TURN_MS)
    try {
      return left <= 0 || (await this.#context.awaitKey(leader.item.claim, Math.ceil(left)))
    } catch {
      // The database is away; the group finds that out by itself and says so.
      return true
    }
  }

  /**
   * Wallets that have no slot to wait in are tried together every few milliseconds, without waiting: however many
   * others stay locked, one that was let go is found at once.
   */
  async #probeWallets(): Promise<void> {
    this.#probing = true
    for (;;) {
      await this.#context.sleep(PROBE_MS)
      const waiting = this.#waitingWallets()
      if (waiting.length === 0) break
      const group: RunMember[] = []
      for (const [, queue] of waiting) {
        if (group.length >= this.#context.maxGroup) break
        queue.running = true
        group.push(...this.#context.takeGroup(queue))
      }
      const names = new Set(waiting.map(([name]) => name))
      await this.#context.run(group, (user) => names.has(WALLET + user), false)
      for (const [name, queue] of waiting) this.#putBack(name, queue)
      this.#start()
    }
    this.#probing = false
  }

  #waitingWallets(): [string, Queue][] {
    return [...this.#queues].filter(([name, queue]) => !queue.running && name.startsWith(WALLET))
  }

  #end(name: string, queue: Queue): void {
    if (this.#queues.get(name) !== queue) return
    this.#queues.delete(name)
    this.#context.takeBack(queue.waiting.splice(0))
  }

  /** An aside with a backlog goes to the end of the row, an empty one goes away. */
  #putBack(name: string, queue: Queue): void {
    queue.running = false
    if (this.#queues.get(name) !== queue) return
    this.#queues.delete(name)
    if (queue.waiting.length > 0) this.#queues.set(name, queue)
  }
}
