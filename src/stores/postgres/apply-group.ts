/**
 * Settles a group of postbacks in one transaction: read, lock, plan, write, commit.
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
  type MemberResult,
  type WalletState,
} from '../../ledger/group.js'
import { walletOf } from '../../ledger/decide.js'
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import { NOTHING_STORED, type StoredPair } from '../../ledger/types.js'
import { isRefuted } from '../guess.js'
import { arrayText } from './columns.js'
import type { PostgresContext } from './context.js'
import { isKeyViolation } from './errors.js'
import { beginGroup, LOCK_TIMEOUT_MS, setLockTimeout, type GroupStatements } from './group-statements.js'
import { readStoredPairs } from './read-stored-pairs.js'
import { need, refuseUnchanged } from './rows.js'
import type { Session } from './session.js'
import { goShortWay } from './short-way.js'
import { readWalletRow, type WalletSql } from './wallet-table.js'
import { writeValues } from './write-statement.js'

type Wallets = ReadonlyMap<string, WalletState>
type Stored = ReadonlyMap<string, StoredPair>

/** How long a group waits for a key for which the short way has waited in vain. */
const AGAIN_MS = 2

export async function applyGroup(
  context: PostgresContext,
  members: readonly GroupMember[],
  given: GroupOptions,
): Promise<GroupResult> {
  const wallets = await context.wallets()
  const statements = await context.statements()
  const ordered = inKeyOrder(members)
  return context.sessions(async (session) => {
    const applied = (results: readonly MemberResult[]): GroupResult => {
      context.recent.note(ordered, results)
      return { kind: 'applied', results: inOrderOf(members, ordered, results) }
    }
    const short = await goShortWay(context, { session, statements, wallets }, ordered, given)
    if (typeof short !== 'string') return applied(short)
    // What has been waited for already is not waited for again.
    const options = short === 'timed_out' && given.waitMs === null ? { ...given, keyWaitMs: AGAIN_MS } : given

    let stored = await readStoredPairs(session, statements, ordered, context.scale)
    context.odds.fresh.note(isRefuted(ordered, stored, context.recent.guess(ordered)))
    let states = await beginAndLock(session, context, wallets, walletsToLock(ordered, stored), options)
    context.odds.free.note([...states.values()].some(({ kind }) => kind === 'busy' || kind === 'missing'))
    const newUsers =
      context.unknownUser === 'create' && !context.foreignWallets
        ? usersToCreate(ordered, stored, states)
        : []
    if (newUsers.length > 0) {
      // Outside the transaction, so that no group ever waits for another one's uncommitted wallet.
      await session.rollback()
      await session.run('single', statements.createWallets, [newUsers])
      stored = await readStoredPairs(session, statements, ordered, context.scale)
      states = await beginAndLock(session, context, wallets, walletsToLock(ordered, stored), options)
    }
    const plan = planGroup(ordered, stored, states, context.unknownUser)
    if (plan.entries.length > 0 || plan.rows.length > 0) {
      await waitForKeys(session, options)
      if (!(await write(session, statements, wallets, plan, context))) return { kind: 'raced' }
      await session.commit()
    }
    return applied(plan.results)
  })
}

async function beginAndLock(
  session: Session,
  { isolation }: PostgresContext,
  wallets: WalletSql,
  users: readonly string[],
  { waitMs, keyWaitMs, owns }: GroupOptions,
): Promise<Wallets> {
  // Without waiting for wallets the one time-out is that of the keys.
  const lockTimeoutMs = waitMs ?? keyWaitMs ?? LOCK_TIMEOUT_MS
  await session.begin(beginGroup(isolation, lockTimeoutMs), Math.max(lockTimeoutMs, keyWaitMs ?? 0))
  const states = new Map<string, WalletState>()
  const wanted: string[] = []
  for (const user of users) {
    if (owns(user)) wanted.push(user)
    else states.set(user, { kind: 'elsewhere' })
  }
  if (wanted.length === 0) return states
  const lock = waitMs === null ? wallets.lockFree : wallets.lockWaiting
  for (const row of await session.run('lock', lock, usersAndKeys(wallets, wanted))) {
    const { user, balance } = readWalletRow(row)
    states.set(user, { kind: 'locked', balance })
  }
  const absent = wanted.filter((user) => !states.has(user))
  if (absent.length === 0) return states
  const rows = await session.run('lock', wallets.find, usersAndKeys(wallets, absent))
  const existing = new Set(rows.map((row) => need(row, 'user_id')))
  if (existing.size > 0 && waitMs !== null) {
    throw new StoreError('wallet_busy', 'A wallet appeared while its lock was waited for.')
  }
  for (const user of absent) states.set(user, { kind: existing.has(user) ? 'busy' : 'missing' })
  return states
}

function usersAndKeys(wallets: WalletSql, users: readonly string[]): string[] {
  return [users, wallets.keysOf(users)].map((texts) => arrayText(texts, (text) => text))
}

/** Gives keys another time-out than wallets, where the group was told one. */
async function waitForKeys(session: Session, { waitMs, keyWaitMs }: GroupOptions): Promise<void> {
  if (waitMs === null || keyWaitMs === undefined || keyWaitMs === waitMs) return
  await session.runOnce('read', setLockTimeout(keyWaitMs))
}

/** The users of first credits whose wallet is missing; a reversal never makes a wallet. */
function usersToCreate(members: readonly GroupMember[], stored: Stored, states: Wallets): string[] {
  const users = new Set<string>()
  for (const { leader } of members) {
    if (leader.claim?.entry !== 'credit') continue
    const user = walletOf(stored.get(keyOf(leader.claim)) ?? NOTHING_STORED, leader.claim)
    if (user !== null && states.get(user)?.kind === 'missing') users.add(user)
  }
  // `states` was filled in byte order, except for those that were locked; the missing ones kept their order.
  return [...states.keys()].filter((user) => users.has(user))
}

/** Writes the plan; false where somebody else wrote one of its entries first, and all is rolled back. */
async function write(
  session: Session,
  { write: text }: GroupStatements,
  wallets: WalletSql,
  plan: GroupPlan,
  { names, scale }: PostgresContext,
): Promise<boolean> {
  try {
    const [row = {}] = await session.run('write', text, writeValues(plan, wallets, scale))
    if (need(row, 'entries') !== String(plan.entries.length)) {
      await session.rollback()
      return false
    }
    // The wallets are locked: nobody but a trigger of the table's owner can have kept a balance as it was.
    refuseUnchanged(need(row, 'changes'), plan.changes.length)
    return true
  } catch (error) {
    if (error instanceof StoreError && isKeyViolation(error.cause, `${names.prefix}ledger_key`)) return false
    throw error
  }
}
