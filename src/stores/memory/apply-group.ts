/**
 * A group on the memory store: the same steps, locks and races as on a database, so that a simulated history meets
 * what a real one would.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import {
  inKeyOrder,
  inOrderOf,
  keyOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type GroupPlan,
  type WalletState,
} from '../../ledger/group.js'
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import type { StoredPair } from '../../ledger/types.js'
import type { UnknownUserPolicy } from '../../ledger/decide.js'
import { keptRow } from './inbox.js'
import { lockWallet } from './lock-wallet.js'
import {
  appendEntry,
  entryLock,
  findEntry,
  lockReleased,
  outboxRowOf,
  readPair,
  releaseLocks,
  tryLock,
  walletLock,
  type MemoryState,
} from './state.js'

/** The points between which a fault can strike. `committed` lies after the commit and before its reply. */
export const MEMORY_STEPS = [
  'read',
  'begin',
  'lock',
  'insert',
  'update',
  'inbox',
  'commit',
  'committed',
] as const

export type MemoryStep = (typeof MEMORY_STEPS)[number]

export interface MemoryGroupContext {
  readonly state: MemoryState
  readonly now: () => Date
  readonly unknownUser: UnknownUserPolicy
  readonly outbox: boolean
  /** Called at every step; what it throws is what the database would have failed with. */
  readonly step: (step: MemoryStep) => Promise<void> | void
}

/** How long a write waits for a key that another transaction has written and not committed. */
const KEY_PATIENCE_MS = 200

export async function applyMemoryGroup(
  context: MemoryGroupContext,
  members: readonly GroupMember[],
  options: GroupOptions,
): Promise<GroupResult> {
  const { state } = context
  await context.step('read')
  const stored = readStored(state, members)
  await context.step('begin')
  const transaction = {}
  try {
    await context.step('lock')
    const wallets = await lockWallets(context, transaction, walletsToLock(members, stored), options)
    const ordered = inKeyOrder(members)
    const plan = planGroup(ordered, stored, wallets, context.unknownUser)
    await context.step('insert')
    for (const entry of plan.entries) {
      await lockEntry(state, transaction, entryLock(entry), options.keyWaitMs ?? KEY_PATIENCE_MS)
      if (findEntry(state, entry) !== undefined) return { kind: 'raced' }
    }
    await context.step('update')
    await context.step('inbox')
    await context.step('commit')
    writePlan(context, plan)
    await context.step('committed')
    return { kind: 'applied', results: inOrderOf(members, ordered, plan.results) }
  } finally {
    releaseLocks(state, transaction)
  }
}

export async function awaitMemoryKey(
  state: MemoryState,
  key: { idSpace: string; transactionKey: string },
  waitMs: number,
): Promise<boolean> {
  const deadline = Date.now() + waitMs
  const names = ['credit', 'reversal'].map((entry) => entryLock({ ...key, entry }))
  while (names.some((name) => state.locks.has(name)) && Date.now() < deadline) {
    await lockReleased(state, deadline - Date.now())
  }
  return !names.some((name) => state.locks.has(name))
}

function readStored(state: MemoryState, members: readonly GroupMember[]): Map<string, StoredPair> {
  const stored = new Map<string, StoredPair>()
  for (const { leader } of members) {
    if (leader.claim !== null) stored.set(keyOf(leader.claim), readPair(state, leader.claim))
  }
  return stored
}

async function lockWallets(
  { state, unknownUser }: MemoryGroupContext,
  transaction: object,
  users: readonly string[],
  { owns, waitMs }: GroupOptions,
): Promise<Map<string, WalletState>> {
  const wallets = new Map<string, WalletState>()
  const deadline = Date.now() + (waitMs ?? 0)
  for (const user of users) {
    if (!owns(user)) {
      wallets.set(user, { kind: 'elsewhere' })
      continue
    }
    if (!state.wallets.has(user) && unknownUser === 'create') state.wallets.set(user, 0n)
    if (waitMs !== null) await lockWallet(state, transaction, user, deadline)
    else if (state.wallets.has(user)) tryLock(state, transaction, [walletLock(user)])
    wallets.set(user, walletState(state, transaction, user))
  }
  return wallets
}

function walletState(state: MemoryState, transaction: object, user: string): WalletState {
  const balance = state.wallets.get(user)
  if (balance === undefined) return { kind: 'missing' }
  return state.locks.get(walletLock(user)) === transaction ? { kind: 'locked', balance } : { kind: 'busy' }
}

async function lockEntry(
  state: MemoryState,
  transaction: object,
  name: string,
  patienceMs: number,
): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!tryLock(state, transaction, [name])) {
    if (Date.now() >= deadline)
      throw new StoreError('key_busy', 'An entry of this group is written and not committed elsewhere.')
    await lockReleased(state, deadline - Date.now())
  }
}

function writePlan({ state, now, outbox }: MemoryGroupContext, plan: GroupPlan): void {
  for (const row of plan.entries) {
    appendEntry(state, row, now())
    const message = outbox ? outboxRowOf(row) : null
    if (message !== null) state.outbox.push(message)
  }
  for (const { user, amount } of plan.changes) {
    state.wallets.set(user, (state.wallets.get(user) ?? 0n) + amount)
  }
  for (const row of plan.rows) {
    const resolvedReason = state.postbacks.get(row.id)?.resolvedReason ?? null
    // What a person has closed stays closed.
    state.postbacks.set(row.id, {
      ...keptRow(row),
      open: row.open && resolvedReason === null,
      resolvedReason,
    })
  }
}
