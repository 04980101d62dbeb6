/**
 * A group on SQLite. There is one writer, so what is read after BEGIN IMMEDIATE is what the writes will meet: no wallet
 * is ever locked by somebody else, and no key is lost to a race.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import {
  inKeyOrder,
  inOrderOf,
  pairOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type GroupPlan,
  type MemberResult,
  type WalletChange,
  type WalletState,
} from '../../ledger/group.js'
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import type { StoredPair } from '../../ledger/types.js'
import type { SqliteContext } from './context.js'
import { toStoreError } from './errors.js'
import {
  balanceRefused,
  balanceStep,
  changeBalance,
  entryStep,
  insertEntry,
  insertMessage,
  insertWallet,
  messageStep,
  postbackStep,
  readBalance,
  readStored,
  upsertPostback,
  walletStep,
} from './group-statements.js'
import { isRefuted, type Pairs } from '../guess.js'
import { goShortWay } from './short-way.js'
import { Rollback, writeTransaction } from './transaction.js'
import type { SqlWriter } from './writer.js'

/** Its place among the steps of `settleInThread`. */
const BALANCE_STEP = 3

export async function applyGroup(
  context: SqliteContext,
  members: readonly GroupMember[],
  options: GroupOptions,
): Promise<GroupResult> {
  // An aside waits for the write lock by timer, which the thread does not.
  if (context.writer?.usable === true && options.waitMs === null) {
    const { turns } = context.connection
    const ordered = inKeyOrder(members)
    const short = await turns.group(() =>
      goShortWay(context, context.writer as SqlWriter, ordered, options.owns),
    )
    // What is read first must stand until it is written, or groups of one wallet would undo each other's plans.
    const result: GroupResult | null =
      short === null
        ? await turns.alone(() => settleInThread(context, members, options.owns))
        : { kind: 'applied', results: inOrderOf(members, ordered, short) }
    if (result?.kind === 'applied') context.recent.note(members, result.results)
    if (result !== null) return result
  }
  const waiting = {
    milliseconds: options.waitMs,
    whenBusy: options.waitMs === null ? 'retry' : 'wallet_busy',
  } as const
  try {
    const results = await writeTransaction(context.connection, waiting, () =>
      settleGroup(context, members, options.owns),
    )
    context.recent.note(members, results)
    return { kind: 'applied', results }
  } catch (error) {
    if (error instanceof Rollback) return { kind: 'raced' }
    throw error
  }
}

function settleGroup(
  context: SqliteContext,
  members: readonly GroupMember[],
  owns: (user: string) => boolean,
): MemberResult[] {
  const { missing, plan, results } = readAndPlan(context, members, owns)
  for (const user of missing) insertWallet(context, user)
  for (const entry of plan.entries) {
    if (!insertEntry(context, entry)) throw new Rollback()
    insertMessage(context, entry)
  }
  for (const change of plan.changes) changeBalance(context, change)
  for (const row of plan.rows) upsertPostback(context, row)
  return results
}

/**
 * The long way. What is read here, outside the transaction, is a guess that the writes confirm under the write lock: the unique key
 * for absent entries, and the balance that each wallet still has to have. Null where there is no thread.
 */
async function settleInThread(
  context: SqliteContext,
  members: readonly GroupMember[],
  owns: (user: string) => boolean,
): Promise<GroupResult | null> {
  const { missing, stored, plan, results } = readFirst(() => readAndPlan(context, members, owns))
  context.odds.note(missing.length > 0 || isRefuted(members, stored, context.recent.guess(members)))
  const changes = guardedChanges(plan)
  const steps = [
    walletStep(context, missing),
    entryStep(context, plan.entries),
    messageStep(context, plan.entries),
    balanceStep(context, changes),
    postbackStep(context, plan.rows),
  ]
  const written = await (context.writer as SqlWriter).write(steps)
  if (written.kind === 'committed') return { kind: 'applied', results }
  if (written.kind === 'unusable') return null
  const change = written.step === BALANCE_STEP ? changes[written.row] : undefined
  if (change !== undefined && readBalance(context, change.user) === change.after - change.amount) {
    // Nobody was first: a trigger of the table's owner kept the row from being changed.
    throw balanceRefused(change.user, 0)
  }
  return { kind: 'raced' }
}

/** Also wallets whose balance does not change in the end, where entries say what it was. */
function guardedChanges({ entries, changes }: GroupPlan): readonly WalletChange[] {
  const changed = new Set(changes.map(({ user }) => user))
  const last = new Map<string, bigint>()
  for (const { user, balanceAfter } of entries) {
    if (balanceAfter !== null && !changed.has(user)) last.set(user, balanceAfter)
  }
  return last.size === 0
    ? changes
    : [...changes, ...[...last].map(([user, after]) => ({ user, amount: 0n, after }))]
}

function readFirst<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof PaidonceError) throw error
    throw toStoreError(error, 'statement')
  }
}

interface Laid {
  /** Wallets to make first. */
  readonly missing: readonly string[]
  readonly stored: Pairs
  readonly plan: GroupPlan
  /** In the order of the members. */
  readonly results: MemberResult[]
}

function readAndPlan(
  context: SqliteContext,
  members: readonly GroupMember[],
  owns: (user: string) => boolean,
): Laid {
  const keys = members.flatMap(({ leader }) => (leader.claim === null ? [] : [leader.claim]))
  const stored = new Map<string, StoredPair>()
  for (const [key, rows] of readStored(context, keys)) stored.set(key, pairOf(rows))
  const wallets = new Map<string, WalletState>()
  for (const user of walletsToLock(members, stored)) {
    wallets.set(user, owns(user) ? walletState(context, user) : { kind: 'elsewhere' })
  }
  const missing = missingWallets(context, members, wallets)
  const ordered = inKeyOrder(members)
  const plan = planGroup(ordered, stored, wallets, context.unknownUser)
  return { missing, stored, plan, results: inOrderOf(members, ordered, plan.results) }
}

function walletState(context: SqliteContext, user: string): WalletState {
  const balance = readBalance(context, user)
  return balance === null ? { kind: 'missing' } : { kind: 'locked', balance }
}

/** Wallets of credits only: a reversal's wallet that is gone stays gone. Each counts as one of balance 0 from here on. */
function missingWallets(
  context: SqliteContext,
  members: readonly GroupMember[],
  wallets: Map<string, WalletState>,
): string[] {
  if (context.unknownUser !== 'create' || context.foreign !== null) return []
  const missing: string[] = []
  for (const { leader } of members) {
    const { claim } = leader
    if (claim?.entry !== 'credit' || wallets.get(claim.user)?.kind !== 'missing') continue
    missing.push(claim.user)
    wallets.set(claim.user, { kind: 'locked', balance: 0n })
  }
  return missing
}
