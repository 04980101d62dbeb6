/**
 * The group commit: gathers whatever claims wait into one transaction, and tells each what became of it.
 *
 * A wallet belongs to one lane of this process; a lane runs one group at a time, or as many as its store takes ahead, and
 * takes the next as soon as it is free, so nothing ever waits for a timer and one postback alone commits at once. A wallet (or a key) that somebody
 * else holds is set aside with its whole backlog, on a connection that waits, so that its neighbours do not.
 *
 * @module
 */
import type { StoreError } from '../errors.js'
import type { GroupItem } from '../ledger/group.js'
import type { LedgerStore } from '../ledger/store.js'
import { Asides, type Queue } from './asides.js'
import { zeroCounters, type CommitCounters } from './counters.js'
import { runGroup, type RunContext, type RunMember, type RunReports } from './group-run.js'
import { KeyChains } from './key-chains.js'
import { overloaded, Pending, type Settlement } from './pending.js'

export interface CommitterOptions {
  /** Claims in one group; default 500. */
  readonly maxGroup: number
  /** Raw bytes in one group; default 1 MiB. */
  readonly maxGroupBytes: number
  /** Claims that may wait or run at once; more are answered `overloaded`. Default 10,000. */
  readonly queueLimit: number
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Told of every group that committed. */
  readonly onGroup: (size: number) => void
  /** Told of errors that no store should let out. */
  readonly onBug: (error: unknown) => void
  /** Told of every attempt that a store failed, with what the database said. */
  readonly onStoreError: (error: StoreError) => void
}

export interface CommitterStatus {
  /** Claims queued, running or aside. */
  readonly pending: number
  readonly asides: number
  readonly counters: Readonly<CommitCounters>
}

export interface Committer {
  /**
   * Queues one postback.
   *
   * @param bytes its raw size, for the bound on a group
   * @param deadlineAt when its answer has to leave, on the committer's clock
   */
  submit(item: GroupItem, bytes: number, deadlineAt: number): Promise<Settlement>
  status(): CommitterStatus
  /** Resolves when nothing waits or runs any more. */
  drain(): Promise<void>
}

/** How often deadlines are looked at, in milliseconds. */
const SWEEP_MS = 25

export function createCommitter(store: LedgerStore, given: Partial<CommitterOptions> = {}): Committer {
  const options: CommitterOptions = Object.freeze({
    maxGroup: 500,
    maxGroupBytes: 1024 * 1024,
    queueLimit: 10_000,
    now: () => performance.now(),
    random: Math.random,
    sleep: (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds)),
    onGroup: () => undefined,
    onBug: () => undefined,
    onStoreError: () => undefined,
    ...given,
  })
  return new GroupCommitter(store, options)
}

/** The wallets of one part of the users, whose groups run one after the other. */
interface Lane {
  readonly waiting: Pending[]
  /** Groups that are on their way or about to leave. */
  running: number
  /** One of them leaves at the end of this turn of the event loop. */
  leaving: boolean
  /** Members of the last one. */
  size: number
}

class GroupCommitter implements Committer {
  readonly #store: LedgerStore
  readonly #options: CommitterOptions
  readonly #counters = zeroCounters()
  readonly #pending = new Set<Pending>()
  readonly #chains = new KeyChains()
  readonly #lanes: Lane[]
  readonly #ahead: number
  readonly #asides: Asides
  readonly #drained: (() => void)[] = []
  #sweeper: NodeJS.Timeout | null = null
  readonly #told: { readonly pending: Pending; readonly settlement: Settlement }[] = []

  constructor(store: LedgerStore, options: CommitterOptions) {
    this.#store = store
    this.#options = options
    this.#ahead = store.ahead ?? 1
    this.#lanes = Array.from({ length: Math.max(1, store.lanes) }, () => ({
      waiting: [],
      running: 0,
      leaving: false,
      size: 0,
    }))
    this.#asides = new Asides({
      slots: Math.max(1, store.asides),
      maxGroup: options.maxGroup,
      now: options.now,
      sleep: options.sleep,
      takeGroup: (queue) => this.#takeGroup(queue),
      run: async (group, owns, waits) => {
        let settled = false
        const onGroup = (size: number): void => {
          settled = true
          options.onGroup(size)
        }
        await runGroup({ ...this.#context(owns, waits), onGroup }, group)
        return settled
      },
      takeBack: (waiting) => {
        for (const pending of waiting) if (pending.state !== 'done') this.#route(pending)
      },
      awaitKey: (claim, waitMs) => store.awaitKey(claim, waitMs),
      giveBack: (member) => this.#giveBack(member),
    })
  }

  submit(item: GroupItem, bytes: number, deadlineAt: number): Promise<Settlement> {
    const pending = new Pending(item, bytes, deadlineAt)
    if (this.#pending.size >= this.#options.queueLimit) {
      this.#counters.full += 1
      pending.tell({ fate: 'dropped', settled: overloaded('queue_full') })
      return pending.answer
    }
    this.#pending.add(pending)
    this.#sweeper ??= setInterval(() => {
      this.#sweep()
    }, SWEEP_MS)
    if (this.#chains.enter(pending)) this.#route(pending)
    return pending.answer
  }

  status(): CommitterStatus {
    return { pending: this.#pending.size, asides: this.#asides.size, counters: { ...this.#counters } }
  }

  drain(): Promise<void> {
    if (this.#pending.size === 0 && this.#told.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  #route(pending: Pending): void {
    const aside = pending.user === null ? undefined : this.#asides.ofWallet(pending.user)
    if (aside !== undefined) {
      aside.waiting.push(pending)
      return
    }
    const index = laneOf(pending.user ?? pending.item.id, this.#lanes.length)
    const lane = this.#lanes[index] as Lane
    lane.waiting.push(pending)
    if (lane.leaving || !this.#mayRun(lane, lane.running)) return
    lane.running += 1
    lane.leaving = true
    // One turn of the event loop gathers the calls that arrived together.
    setImmediate(() => {
      lane.leaving = false
      void this.#runLane(lane, index)
    })
  }

  /** Beside others a group is worth its commit where it is at least half as large as the last one. */
  #mayRun(lane: Lane, others: number): boolean {
    return others === 0 || (others < this.#ahead && 2 * lane.waiting.length >= lane.size)
  }

  async #runLane(lane: Lane, index: number): Promise<void> {
    const owns = (user: string): boolean =>
      laneOf(user, this.#lanes.length) === index && this.#asides.ofWallet(user) === undefined
    while (this.#mayRun(lane, lane.running - 1)) {
      const group = this.#takeGroup(lane)
      if (group.length === 0) break
      lane.size = group.length
      await runGroup(this.#context(owns, false), group)
    }
    lane.running -= 1
  }

  #takeGroup(queue: Pick<Queue, 'waiting'>): RunMember[] {
    const group: RunMember[] = []
    let size = 0
    let bytes = 0
    let taken = 0
    for (const leader of queue.waiting) {
      if (size >= this.#options.maxGroup || (size > 0 && bytes + leader.bytes > this.#options.maxGroupBytes))
        break
      taken += 1
      if (leader.state === 'done' || this.#followAside(queue, leader)) continue
      const copies = this.#chains.takeCopies(leader, this.#options.maxGroup - size - 1)
      group.push({ leader, copies })
      size += 1 + copies.length
      bytes += leader.bytes + copies.reduce((sum, copy) => sum + copy.bytes, 0)
    }
    queue.waiting.splice(0, taken)
    return group
  }

  /** A claim that was queued in its lane before its wallet was set aside goes there too. */
  #followAside(queue: Pick<Queue, 'waiting'>, leader: Pending): boolean {
    if (leader.user === null) return false
    const aside = this.#asides.ofWallet(leader.user)
    if (aside === undefined || aside === queue || !this.#lanes.some((lane) => lane === queue)) return false
    aside.waiting.push(leader)
    return true
  }

  #context(owns: (user: string) => boolean, waits: boolean): RunContext {
    const { now, random, sleep, onGroup, onStoreError } = this.#options
    return {
      store: this.#store,
      counters: this.#counters,
      reports: this.#reports,
      now,
      random,
      sleep,
      onGroup,
      onStoreError,
      owns,
      waits,
    }
  }

  readonly #reports: RunReports = {
    settled: ({ leader, copies }, outcome, outcomes) => {
      copies.forEach((copy, index) => {
        this.#finish(copy, { fate: 'committed', settled: outcomes[index] ?? outcome })
      })
      this.#finish(leader, { fate: 'committed', settled: outcome })
    },
    walletBusy: (member, user) => {
      this.#asides.setWalletAside(member, user)
    },
    keyBusy: (member) => {
      this.#asides.setKeyAside(member)
    },
    elsewhere: (member, user) => {
      member.leader.user = user
      if (this.#giveBack(member)) this.#route(member.leader)
    },
    dropped: (member, settled) => {
      // Copies that came later than their leader have time left: the first of them leads now.
      const now = this.#options.now()
      const hasTime = (copy: Pending): boolean => settled.reason === 'deadline' && copy.deadlineAt > now
      this.#giveBack({ leader: member.leader, copies: member.copies.filter(hasTime) })
      const copies = member.copies.filter((copy) => !hasTime(copy))
      this.#finishAll({ leader: member.leader, copies }, { fate: 'dropped', settled })
    },
    unknown: (member) => {
      this.#finishAll(member, { fate: 'unknown', settled: { outcome: 'failed', reason: 'commit_unknown' } })
    },
    refused: (member) => {
      // Its copies may differ in the very part that was refused, so each of them has its own try.
      this.#giveBack(member)
      this.#finish(member.leader, {
        fate: 'dropped',
        settled: { outcome: 'malformed', reason: 'store_refused' },
      })
    },
    broken: (member, error) => {
      this.#options.onBug(error)
      this.#finishAll(member, { fate: 'unknown', settled: { outcome: 'failed', reason: 'internal' } })
    },
  }

  /** Queues what was not settled again: the leader, and its copies behind it. False where the leader is done. */
  #giveBack({ leader, copies }: RunMember): boolean {
    const open = copies.filter((copy) => copy.state !== 'done')
    for (const copy of open) copy.state = 'queued'
    const next = this.#chains.giveBack(leader, open)
    if (next !== null) this.#route(next)
    if (leader.state === 'done') return false
    leader.state = 'queued'
    return true
  }

  #finishAll({ leader, copies }: RunMember, settlement: Settlement): void {
    for (const copy of copies) this.#finish(copy, settlement)
    this.#finish(leader, settlement)
  }

  #finish(pending: Pending, settlement: Settlement): void {
    pending.state = 'done'
    this.#tellSoon(pending, settlement)
    this.#pending.delete(pending)
    const next = this.#chains.leave(pending)
    if (next !== null) this.#route(next)
    if (this.#pending.size > 0) return
    if (this.#sweeper !== null) clearInterval(this.#sweeper)
    this.#sweeper = null
  }

  /**
   * Answers leave at the end of this turn of the event loop: by then the next group is on its way, and the database
   * works while they are written.
   */
  #tellSoon(pending: Pending, settlement: Settlement): void {
    if (this.#told.push({ pending, settlement }) > 1) return
    setImmediate(() => {
      for (const each of this.#told.splice(0)) each.pending.tell(each.settlement)
      if (this.#pending.size > 0) return
      for (const resolve of this.#drained.splice(0)) resolve()
    })
  }

  /** Drops what is still queued at its deadline and answers what is running. */
  #sweep(): void {
    const now = this.#options.now()
    for (const pending of [...this.#pending]) {
      if (pending.deadlineAt > now || pending.late) continue
      if (pending.state === 'sent') {
        this.#counters.expiredSent += 1
        pending.answerLate()
      } else {
        this.#counters.expiredQueued += 1
        this.#finish(pending, { fate: 'dropped', settled: overloaded('deadline') })
      }
    }
  }
}

/** The same wallet always falls to the same lane; FNV-1a over the text's units. */
function laneOf(user: string, lanes: number): number {
  if (lanes === 1) return 0
  let hash = 0x811c9dc5
  for (let index = 0; index < user.length; index += 1) {
    hash = Math.imul(hash ^ user.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0) % lanes
}
