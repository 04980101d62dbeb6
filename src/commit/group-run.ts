/**
 * Runs one group until every claim in it is settled, set aside or given up. The unit of every retry is the whole
 * group from its first read on a fresh transaction, never a statement.
 *
 * @module
 */
import { StoreError } from '../errors.js'
import type { GroupMember, MemberResult } from '../ledger/group.js'
import type { GroupOptions, LedgerStore } from '../ledger/store.js'
import type { Settled } from '../outcome.js'
import type { CommitCounters } from './counters.js'
import { overloaded, type Pending } from './pending.js'

/** A leading claim and the copies that ride with it. */
export interface RunMember {
  readonly leader: Pending
  readonly copies: readonly Pending[]
}

/** What a run tells the committer; every member of the group is reported exactly once. */
export interface RunReports {
  settled(member: RunMember, leader: Settled, copies: readonly Settled[]): void
  /** The wallet is locked by somebody else. */
  walletBusy(member: RunMember, user: string): void
  /** The key is written and not committed by somebody else. */
  keyBusy(member: RunMember): void
  /** The wallet belongs to another lane. */
  elsewhere(member: RunMember, user: string): void
  /** Known not booked. */
  dropped(member: RunMember, reason: Settled): void
  /** A COMMIT was sent and its fate could not be learned. */
  unknown(member: RunMember): void
  /** The database refused this claim alone. */
  refused(member: RunMember): void
  /** An error that is nobody's outcome. */
  broken(member: RunMember, error: unknown): void
}

export interface RunContext {
  readonly store: Pick<LedgerStore, 'applyGroup'>
  readonly counters: CommitCounters
  readonly reports: RunReports
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly onGroup: (size: number) => void
  readonly onStoreError: (error: StoreError) => void
  readonly owns: (user: string) => boolean
  /** Wait for locks until the oldest deadline, instead of leaving locked wallets out. */
  readonly waits: boolean
}

/** How often a group starts again before its claims are given up; with the pauses below about three seconds. */
const MAX_ATTEMPTS = 24
/** A key that is busy in a group is looked for in ever smaller groups; each of them waits this long only. */
const SPLIT_KEY_WAIT_MS = 2
/** Even a group that waits for its wallet waits no longer for a key: others wait for that wallet meanwhile. */
const KEY_WAIT_MS = 200
/** A fate that a lost connection left open is asked for so often, about 150 ms; others wait in the same lane. */
const AWAYS = 5
/** A store that says within this time that it waited for a lock did not wait. */
const SPIN_MS = 10

/** @param unknown whether an earlier COMMIT of these claims lost its reply */
export async function runGroup(
  context: RunContext,
  group: readonly RunMember[],
  keyWaitMs?: number,
  unknown = false,
): Promise<void> {
  let commitUnknown = unknown
  let members = group
  let aways = 0
  for (let attempt = 1; ; attempt += 1) {
    members = withoutExpired(context, members, commitUnknown)
    if (members.length === 0) return
    const started = context.now()
    try {
      for (const { leader, copies } of members) {
        leader.state = 'sent'
        for (const copy of copies) copy.state = 'sent'
      }
      context.counters.groups += 1
      const result = await context.store.applyGroup(
        members.map(toGroupMember),
        optionsFor(context, members, keyWaitMs),
      )
      if (result.kind === 'applied') {
        reportResults(context, members, result.results)
        return
      }
      context.counters.raced += 1
      if (attempt > 3) await context.sleep(pauseMs(context, attempt))
    } catch (error) {
      if (!(error instanceof StoreError)) {
        context.counters.bugs += 1
        await breakUp(context, members, commitUnknown, (member) => {
          context.reports.broken(member, error)
        })
        return
      }
      context.onStoreError(error)
      if (error.failure === 'key_busy') {
        await findBusyKey(context, members, error, commitUnknown)
        return
      }
      if (error.failure === 'refused') {
        await breakUp(context, members, commitUnknown, (member) => {
          context.counters.refused += 1
          context.reports.refused(member)
        })
        return
      }
      if (error.failure === 'unknown') {
        commitUnknown = true
        context.counters.unknownCommits += 1
      } else if (error.failure === 'away' && (!commitUnknown || ++aways === AWAYS)) {
        context.counters.away += members.length
        giveUp(context, members, commitUnknown, 'database_away')
        return
      } else if (error.failure === 'retry') {
        context.counters.retried += 1
      }
      // A wait that timed out was pause enough; one that failed at once would spin.
      if (error.failure !== 'wallet_busy' || context.now() - started < SPIN_MS) {
        await context.sleep(pauseMs(context, attempt))
      }
    }
    if (attempt >= MAX_ATTEMPTS && !context.waits) {
      giveUp(context, members, commitUnknown, 'retries_used_up')
      return
    }
  }
}

function optionsFor(
  { owns, waits, now }: RunContext,
  members: readonly RunMember[],
  keyWaitMs?: number,
): GroupOptions {
  const oldest = Math.min(...members.map(({ leader }) => leader.deadlineAt))
  const shortest = keyWaitMs ?? (waits ? KEY_WAIT_MS : undefined)
  return {
    owns,
    waitMs: waits ? Math.max(1, Math.ceil(oldest - now())) : null,
    ...(shortest === undefined ? {} : { keyWaitMs: shortest }),
  }
}

function toGroupMember({ leader, copies }: RunMember): GroupMember {
  return { leader: leader.item, copies: copies.map((copy) => copy.item) }
}

function reportResults(
  { counters, reports, onGroup }: RunContext,
  members: readonly RunMember[],
  results: readonly MemberResult[],
): void {
  onGroup(members.reduce((size, { copies }) => size + 1 + copies.length, 0))
  members.forEach((member, index) => {
    const result = results[index] as MemberResult
    switch (result.kind) {
      case 'settled':
        counters.settled += 1 + member.copies.length
        counters.copies += member.copies.length
        reports.settled(member, result.leader, result.copies)
        return
      case 'busy':
        counters.skippedWallets += 1
        reports.walletBusy(member, result.user)
        return
      case 'elsewhere':
        counters.rerouted += 1
        reports.elsewhere(member, result.user)
    }
  })
}

/** What was answered meanwhile is left out; a claim known not to be booked can still be dropped at its deadline. */
function withoutExpired(
  context: RunContext,
  members: readonly RunMember[],
  commitUnknown: boolean,
): readonly RunMember[] {
  const now = context.now()
  const expired = members.filter(({ leader }) => leader.deadlineAt <= now)
  if (expired.length > 0) giveUp(context, expired, commitUnknown, 'deadline')
  return members
    .filter(({ leader }) => leader.deadlineAt > now)
    .map(({ leader, copies }) => ({ leader, copies: copies.filter((copy) => copy.state !== 'done') }))
}

function giveUp(
  { reports }: RunContext,
  members: readonly RunMember[],
  commitUnknown: boolean,
  reason: string,
): void {
  for (const member of members) {
    if (commitUnknown) reports.unknown(member)
    else reports.dropped(member, overloaded(reason))
  }
}

/** Cuts a group in two until the claim at fault stands alone. */
async function breakUp(
  context: RunContext,
  members: readonly RunMember[],
  commitUnknown: boolean,
  alone: (member: RunMember) => void,
): Promise<void> {
  const [first] = members
  if (members.length === 1 && first !== undefined) {
    alone(first)
    return
  }
  await runHalves(context, members, commitUnknown)
}

async function runHalves(
  context: RunContext,
  members: readonly RunMember[],
  commitUnknown: boolean,
  keyWaitMs?: number,
): Promise<void> {
  context.counters.splits += 1
  const middle = Math.ceil(members.length / 2)
  await runGroup(context, members.slice(0, middle), keyWaitMs, commitUnknown)
  await runGroup(context, members.slice(middle), keyWaitMs, commitUnknown)
}

/** Sets the claim with the busy key aside: the store's word tells which it is, or else ever smaller groups do. */
async function findBusyKey(
  context: RunContext,
  members: readonly RunMember[],
  error: StoreError,
  commitUnknown: boolean,
): Promise<void> {
  const busy = new Set(error.busyClaims)
  const [held, free] = partition(members, ({ leader }) => members.length === 1 || busy.has(leader.item.id))
  for (const member of held) {
    context.counters.busyKeys += 1
    context.reports.keyBusy(member)
  }
  if (held.length > 0 && free.length > 0) {
    context.counters.splits += 1
    await runGroup(context, free, undefined, commitUnknown)
  } else if (free.length > 0) {
    await runHalves(context, free, commitUnknown, SPLIT_KEY_WAIT_MS)
  }
}

function partition<T>(list: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = []
  const no: T[] = []
  for (const item of list) (test(item) ? yes : no).push(item)
  return [yes, no]
}

/** Grows from about 5 to 200 ms, with half of it random, so that two receivers do not meet again and again. */
function pauseMs({ random }: RunContext, attempt: number): number {
  return Math.min(5 * 2 ** (attempt - 1), 200) * (0.5 + random() / 2)
}
