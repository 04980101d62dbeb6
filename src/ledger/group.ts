/**
 * A group: the claims that one database transaction settles together. Pure: a store reads, asks these
 * functions what to lock and what to write, and writes it.
 *
 * @module
 */
import { compareBytes } from '../ids.js'
import { MAX_BALANCE_MINOR } from '../money.js'
import type { Settled } from '../outcome.js'
import { decide, walletOf, type Decision, type UnknownUserPolicy } from './decide.js'
import type { PostbackRow } from './postback-row.js'
import {
  NOTHING_STORED,
  type Claim,
  type EntryRow,
  type PlannedEntry,
  type StoredEntry,
  type StoredPair,
} from './types.js'

/** One postback on its way through the group commit. */
export interface GroupItem {
  readonly id: string
  /** Null where only an inbox row is to be written; then `fixed` says what became of the call. */
  readonly claim: Claim | null
  readonly fixed: Settled | null
  /** The inbox row for what became of it; null where none is kept (a command's own claim). */
  readonly row: (settled: Settled) => PostbackRow | null
}

/** One leading claim and the identical copies that wait for it; all are settled by the same transaction. */
export interface GroupMember {
  readonly leader: GroupItem
  readonly copies: readonly GroupItem[]
}

/**
 * What the lock step found about one wallet. `busy`: it exists and somebody else holds its lock. `elsewhere`: it
 * belongs to another lane of this process and was not asked for.
 */
export type WalletState =
  | { readonly kind: 'locked'; readonly balance: bigint }
  | { readonly kind: 'missing' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'elsewhere' }

/** How one member fared. One that is not settled was left out of the transaction and nothing of it was written. */
export type MemberResult =
  | { readonly kind: 'settled'; readonly leader: Settled; readonly copies: readonly Settled[] }
  | { readonly kind: 'busy' | 'elsewhere'; readonly user: string }

/** All that a store has to write for one group, in the order in which it has to be written. */
export interface GroupPlan {
  readonly results: readonly MemberResult[]
  /** In key order: id space, transaction key, entry. */
  readonly entries: readonly EntryRow[]
  /** One sum for each wallet, in byte order of the users. */
  readonly changes: readonly WalletChange[]
  readonly rows: readonly PostbackRow[]
}

export interface WalletChange {
  readonly user: string
  readonly amount: bigint
  /** The balance after it. */
  readonly after: bigint
}

/** The key of the map that a store's read step fills. */
export function keyOf(key: { readonly idSpace: string; readonly transactionKey: string }): string {
  return `${key.idSpace}\u0000${key.transactionKey}`
}

/** Builds the pair of one key from rows in any order. */
export function pairOf(rows: readonly StoredEntry[]): StoredPair {
  return {
    credit: rows.find((row) => row.entry === 'credit') ?? null,
    reversal: rows.find((row) => row.entry === 'reversal') ?? null,
  }
}

/** The wallets that a group must lock, in byte order, so that two groups can never wait for each other in a circle. */
export function walletsToLock(
  members: readonly GroupMember[],
  stored: ReadonlyMap<string, StoredPair>,
): string[] {
  const users = new Set<string>()
  for (const { leader } of members) {
    const user = leader.claim === null ? null : walletOf(storedFor(leader.claim, stored), leader.claim)
    if (user !== null) users.add(user)
  }
  return [...users].sort(compareBytes)
}

/** Orders members by key, which is the order in which every process inserts into the ledger. */
export function inKeyOrder(members: readonly GroupMember[]): GroupMember[] {
  return [...members].sort((a, b) => {
    if (a.leader.claim === null) return b.leader.claim === null ? 0 : -1
    if (b.leader.claim === null) return 1
    return (
      compareBytes(a.leader.claim.idSpace, b.leader.claim.idSpace) ||
      compareBytes(a.leader.claim.transactionKey, b.leader.claim.transactionKey)
    )
  })
}

/** Puts the results of ordered members into the order in which the members were given. */
export function inOrderOf(
  members: readonly GroupMember[],
  ordered: readonly GroupMember[],
  results: readonly MemberResult[],
): MemberResult[] {
  const byMember = new Map(ordered.map((member, index) => [member, results[index]]))
  return members.map((member) => {
    const result = byMember.get(member)
    if (result === undefined) throw new TypeError(`Postback ${member.leader.id} got no result.`)
    return result
  })
}

/**
 * Decides every member under the locks and lays out the rows to write.
 *
 * @param members in key order, at most one for each transaction key
 * @param wallets what the lock step found for every user that `walletsToLock` named
 */
export function planGroup(
  members: readonly GroupMember[],
  stored: ReadonlyMap<string, StoredPair>,
  wallets: ReadonlyMap<string, WalletState>,
  unknownUser: UnknownUserPolicy,
): GroupPlan {
  const balances = new Map<string, bigint>()
  const sums = new Map<string, bigint>()
  const results: MemberResult[] = []
  const entries: EntryRow[] = []
  const rows: PostbackRow[] = []
  const keep = (item: GroupItem, settled: Settled): Settled => {
    const row = item.row(settled)
    if (row !== null) rows.push(row)
    return settled
  }
  for (const { leader, copies } of members) {
    const { claim } = leader
    if (claim === null) {
      results.push({ kind: 'settled', leader: keep(leader, fixedOf(leader)), copies: [] })
      continue
    }
    const pair = storedFor(claim, stored)
    const user = walletOf(pair, claim)
    const wallet = user === null ? undefined : wallets.get(user)
    if (user !== null && (wallet?.kind === 'busy' || wallet?.kind === 'elsewhere')) {
      results.push({ kind: wallet.kind, user })
      continue
    }
    const balance = user === null || wallet?.kind !== 'locked' ? null : (balances.get(user) ?? wallet.balance)
    const decision = withinLimit(decide(pair, wallet?.kind === 'locked', claim, unknownUser), balance)
    let after = balance
    for (const planned of decision.entries) {
      if (planned.movesBalance && after !== null) after += planned.amount
      entries.push(entryRow(planned, claim, planned.movesBalance ? after : null))
    }
    if (user !== null && after !== null && balance !== null && after !== balance) {
      balances.set(user, after)
      sums.set(user, (sums.get(user) ?? 0n) + after - balance)
    }
    const leaderSettled = keep(leader, settledOf(decision))
    const pairAfter = afterDecision(pair, claim, decision)
    results.push({
      kind: 'settled',
      leader: leaderSettled,
      copies: copies.map((copy) => keep(copy, settleCopy(copy, pairAfter, leaderSettled))),
    })
  }
  const changes = [...sums]
    .filter(([, amount]) => amount !== 0n)
    .map(([user, amount]) => ({ user, amount, after: balances.get(user) ?? amount }))
    .sort((a, b) => compareBytes(a.user, b.user))
  return { results, entries, changes, rows }
}

/** A copy meets what its leader left; where that left no row, the copy shares the leader's outcome. */
function settleCopy(copy: GroupItem, pairAfter: StoredPair, leader: Settled): Settled {
  const claim = copy.claim as Claim
  if (pairAfter.credit === null && pairAfter.reversal === null) return leader
  // Neither a copy of a credit nor one of a reversal can plan an entry here: its leader's entry is in the pair.
  return leader.outcome === 'held' ? leader : settledOf(decide(pairAfter, true, claim))
}

function withinLimit(decision: Decision, balance: bigint | null): Decision {
  if (balance === null) return decision
  const after = decision.entries.reduce(
    (sum, entry) => (entry.movesBalance ? sum + entry.amount : sum),
    balance,
  )
  const fits = after <= MAX_BALANCE_MINOR && after >= -MAX_BALANCE_MINOR
  return fits ? decision : { outcome: 'held', reason: 'balance_limit', entries: [] }
}

function afterDecision(pair: StoredPair, claim: Claim, decision: Decision): StoredPair {
  if (decision.entries.length === 0) return pair
  const written = decision.entries.map((entry) => storedFrom(entry, claim))
  return pairOf([...written, ...[pair.credit, pair.reversal].filter((row) => row !== null)])
}

/** What a just planned entry will look like to the next claim on its key. */
export function storedFrom(entry: Decision['entries'][number], claim: Claim): StoredEntry {
  return {
    entry: entry.entry as StoredEntry['entry'],
    user: entry.user,
    amount: entry.amount,
    receivedAmount: claim.receivedAmount,
    unit: claim.unit,
    test: claim.test,
    imported: false,
    decision: entry.decision,
    postbackId: claim.postbackId,
  }
}

/** Property by property: two spreads into one object cost ten times as much. */
function entryRow(planned: PlannedEntry, claim: Claim, balanceAfter: bigint | null): EntryRow {
  return {
    entry: planned.entry,
    user: planned.user,
    amount: planned.amount,
    decision: planned.decision,
    movesBalance: planned.movesBalance,
    reason: planned.reason,
    balanceAfter,
    idSpace: claim.idSpace,
    network: claim.network,
    transactionKey: claim.transactionKey,
    transactionId: claim.transactionId,
    test: claim.test,
    imported: false,
    postbackId: claim.postbackId,
    eventId: claim.eventId,
    offer: claim.offer,
    payout: claim.payout,
    receivedAmount: claim.receivedAmount,
    unit: claim.unit,
    rate: claim.rate,
    actor: claim.actor,
  }
}

function storedFor(claim: Claim, stored: ReadonlyMap<string, StoredPair>): StoredPair {
  return (stored.size === 0 ? undefined : stored.get(keyOf(claim))) ?? NOTHING_STORED
}

function settledOf({ outcome, reason }: Settled): Settled {
  return { outcome, reason }
}

function fixedOf(item: GroupItem): Settled {
  if (item.fixed === null) throw new TypeError(`Postback ${item.id} has neither a claim nor an outcome.`)
  return item.fixed
}
