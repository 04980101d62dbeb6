/**
 * Settles a group of postbacks in one transaction: read, lock, plan, write, commit.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import {
  inKeyOrder,
  keyOf,
  pairOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type GroupPlan,
  type MemberResult,
  type WalletState,
} from '../../ledger/group.js'
import { walletOf } from '../../ledger/decide.js'
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import { NOTHING_STORED, type StoredEntry, type StoredPair } from '../../ledger/types.js'
import type { PostgresContext } from './context.js'
import { isKeyViolation } from './errors.js'
import {
  beginGroup,
  LOCK_TIMEOUT_MS,
  setLockTimeout,
  writeValues,
  type GroupStatements,
} from './group-statements.js'
import { need, readStored, refuseUnchanged } from './rows.js'
import type { Session } from './session.js'
import { readWalletRow, type WalletSql } from './wallet-table.js'

type Wallets = ReadonlyMap<string, WalletState>
type Stored = ReadonlyMap<string, StoredPair>

export async function applyGroup(
  context: PostgresContext,
  members: readonly GroupMember[],
  options: GroupOptions,
): Promise<GroupResult> {
  const wallets = await context.wallets()
  const statements = await context.statements()
  const ordered = inKeyOrder(members)
  return context.sessions(async (session) => {
    let stored = await readStoredPairs(session, statements, ordered, context.scale)
    let states = await beginAndLock(session, context, wallets, walletsToLock(ordered, stored), options)
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
    return { kind: 'applied', results: inOrderOf(members, ordered, plan.results) }
  })
}

async function readStoredPairs(
  session: Session,
  { read }: GroupStatements,
  members: readonly GroupMember[],
  scale: number,
): Promise<Stored> {
  const claims = members.map(({ leader }) => leader.claim).filter((claim) => claim !== null)
  if (claims.length === 0) return new Map()
  const rows = await session.run('read', read, [
    claims.map(({ idSpace }) => idSpace),
    claims.map(({ transactionKey }) => transactionKey),
  ])
  const found = new Map<string, StoredEntry[]>()
  for (const row of rows) {
    const key = keyOf({ idSpace: need(row, 'id_space'), transactionKey: need(row, 'transaction_key') })
    found.set(key, [...(found.get(key) ?? []), readStored(row, scale)])
  }
  return new Map([...found].map(([key, entries]) => [key, pairOf(entries)]))
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
  for (const row of await session.run('lock', lock, [wanted, wallets.keysOf(wanted)])) {
    const { user, balance } = readWalletRow(row)
    states.set(user, { kind: 'locked', balance })
  }
  const absent = wanted.filter((user) => !states.has(user))
  if (absent.length === 0) return states
  const rows = await session.run('lock', wallets.find, [absent, wallets.keysOf(absent)])
  const existing = new Set(rows.map((row) => need(row, 'user_id')))
  if (existing.size > 0 && waitMs !== null) {
    throw new StoreError('wallet_busy', 'A wallet appeared while its lock was waited for.')
  }
  for (const user of absent) states.set(user, { kind: existing.has(user) ? 'busy' : 'missing' })
  return states
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

function inOrderOf(
  members: readonly GroupMember[],
  ordered: readonly GroupMember[],
  results: readonly MemberResult[],
): MemberResult[] {
  const byMember = new Map(ordered.map((member, index) => [member, results[index]]))
  return members.map((member) => {
    const result = byMember.get(member)
    if (result === undefined) throw new TypeError('A member of the group has no result.')
    return result
  })
}
