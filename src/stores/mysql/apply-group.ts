/**
 * A group in one transaction.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import {
  inKeyOrder,
  inOrderOf,
  keyOf,
  pairOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type GroupPlan,
  type MemberResult,
  type WalletState,
} from '../../ledger/group.js'
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import type { StoredEntry, StoredPair } from '../../ledger/types.js'
import type { MysqlContext } from './context.js'
import { isDuplicateOf } from './errors.js'
import { insertEntries, insertMessages, readStored, writePostbackRows } from './group-statements.js'
import { bytes, readStoredEntry, text } from './rows.js'
import type { Statement } from './driver.js'
import { withSession, type Part, type Session } from './session.js'
import { changeBalances, readWalletRow, selectWallets } from './wallet-table.js'

/** A group takes milliseconds; what takes this long hangs on a connection that nobody answers. */
const GROUP_MS = 5_000

const SHORT_LOCK_WAIT: Statement = { sql: 'set session innodb_lock_wait_timeout = 1', values: [] }

/** Settles a group; see `LedgerStore.applyGroup`. */
export async function applyGroup(
  context: MysqlContext,
  members: readonly GroupMember[],
  options: GroupOptions,
): Promise<GroupResult> {
  if (members.length === 0) return { kind: 'applied', results: [] }
  const { waitMs } = options
  const { odds } = context
  const ordered = inKeyOrder(members)
  return withSession(context.source, { timeoutMs: GROUP_MS + (waitMs ?? 0), waitMs }, async (session) => {
    // The guess is that no credit of the group is stored yet. The unique key proves it, and so it spares the look.
    const isGuess = members.every(({ leader: { claim } }) => claim?.entry !== 'reversal')
    if (isGuess && odds.areGood) {
      const guessed = await settle(context, session, ordered, NOTHING, options)
      odds.note(guessed === null)
      if (guessed !== null) return { kind: 'applied', results: inOrderOf(members, ordered, guessed) }
      await session.rollback()
    }
    const stored = await readStoredPairs(context, session, members)
    const results = await settle(context, session, ordered, stored, options)
    if (isGuess && !odds.areGood) odds.note(stored.size > 0 || !areAllBooked(ordered, results))
    if (results === null) return { kind: 'raced' }
    return { kind: 'applied', results: inOrderOf(members, ordered, results) }
  })
}

const NOTHING: ReadonlyMap<string, StoredPair> = new Map()

/**
 * Locks, plans, writes and commits.
 *
 * @param members in key order
 * @param stored what the ledger holds of them; `NOTHING` for a guess
 * @returns null where what is stored is something else
 */
async function settle(
  context: MysqlContext,
  session: Session,
  members: readonly GroupMember[],
  stored: ReadonlyMap<string, StoredPair>,
  options: GroupOptions,
): Promise<readonly MemberResult[] | null> {
  const { waitMs } = options
  let wallets = await beginAndLock(context, session, walletsToLock(members, stored), options)
  const absent = context.unknownUser === 'create' ? missingCreditUsers(members, wallets) : []
  if (absent.length > 0) {
    await session.rollback()
    await session.write(createWallets(context, absent))
    wallets = await beginAndLock(context, session, walletsToLock(members, stored), options)
  }
  const plan = planGroup(members, stored, wallets, context.unknownUser)
  // Only an entry proves that there was none: whatever is not booked has to be looked up.
  if (stored === NOTHING && plan.entries.length !== claimsOf(members)) return null
  try {
    // Waiting for a key with the wallets locked would hold up everybody who needs them.
    if (waitMs !== null) await session.write(SHORT_LOCK_WAIT, 'read')
    await writePlan(context, session, plan)
  } catch (error) {
    if (isDuplicateOf(error, `${context.names.prefix}ledger_key`)) return null
    if (!(error instanceof StoreError) || error.failure !== 'key_busy' || members.length === 1) throw error
    await session.rollback()
    const busy = await findBusyClaims(context, session, members)
    throw new StoreError('key_busy', error.message, error.cause, busy)
  }
  return plan.results
}

function claimsOf(members: readonly GroupMember[]): number {
  return members.filter(({ leader }) => leader.claim !== null).length
}

function areAllBooked(members: readonly GroupMember[], results: readonly MemberResult[] | null): boolean {
  if (results === null) return false
  return members.every(({ leader }, index) => {
    const result = results[index]
    return leader.claim === null || (result?.kind === 'settled' && result.leader.outcome === 'credited')
  })
}

async function readStoredPairs(
  { names, scale }: MysqlContext,
  session: Session,
  members: readonly GroupMember[],
): Promise<Map<string, StoredPair>> {
  const keys = members.flatMap(({ leader }) => (leader.claim === null ? [] : [leader.claim]))
  if (keys.length === 0) return new Map()
  const found = new Map<string, StoredEntry[]>()
  for (const row of await session.read(readStored(names, keys))) {
    const key = keyOf({ idSpace: text(row['id_space']), transactionKey: text(row['transaction_key']) })
    found.set(key, [...(found.get(key) ?? []), readStoredEntry(row, scale)])
  }
  return new Map([...found].map(([key, rows]) => [key, pairOf(rows)]))
}

/**
 * The leading claims whose keys somebody has written and not committed: a dirty read sees those entries, a clean one
 * does not. InnoDB waits whole seconds for a lock, so looking for the key in ever smaller groups would take too long.
 */
async function findBusyClaims(
  context: MysqlContext,
  session: Session,
  members: readonly GroupMember[],
): Promise<string[]> {
  await session.write({ sql: 'set transaction isolation level read uncommitted', values: [] }, 'read')
  const dirty = await readStoredPairs(context, session, members)
  await session.write({ sql: 'set transaction isolation level read committed', values: [] }, 'read')
  const clean = await readStoredPairs(context, session, members)
  return members.flatMap(({ leader }) => {
    if (leader.claim === null) return []
    const key = keyOf(leader.claim)
    const seen = dirty.get(key)
    const standing = clean.get(key)
    const written = (['credit', 'reversal'] as const).some(
      (entry) => (seen?.[entry] ?? null) !== null && (standing?.[entry] ?? null) === null,
    )
    return written ? [leader.id] : []
  })
}

/** Begins, locks what this lane owns, and finds out about every wallet that was not to be had whether it exists. */
export async function beginAndLock(
  context: MysqlContext,
  session: Session,
  users: readonly string[],
  { waitMs, owns }: GroupOptions,
): Promise<Map<string, WalletState>> {
  const columns = await context.wallets()
  const states = new Map<string, WalletState>()
  const mine = users.filter((user) => owns(user))
  for (const user of users) states.set(user, { kind: 'elsewhere' })
  for (const user of mine) states.set(user, { kind: 'missing' })

  const lock = selectWallets(columns, mine, waitMs === null ? 'skip' : 'wait')
  if (lock === null) await session.begin()
  for (const row of lock === null ? [] : await session.beginWith(lock)) {
    const { user, balance } = readWalletRow(columns, row)
    states.set(user, { kind: 'locked', balance })
  }
  const absent = mine.filter((user) => states.get(user)?.kind === 'missing')
  const unlocked = selectWallets(columns, absent, 'none')
  for (const row of unlocked === null ? [] : await session.read(unlocked, 'wallets')) {
    const user = text(row['user_bytes'])
    if (waitMs !== null) {
      throw new StoreError('wallet_busy', `The wallet of ${user} appeared while its lock was waited for.`)
    }
    states.set(user, { kind: 'busy' })
  }
  return states
}

function missingCreditUsers(
  members: readonly GroupMember[],
  wallets: ReadonlyMap<string, WalletState>,
): string[] {
  const credited = new Set(
    members.flatMap(({ leader }) => (leader.claim?.entry === 'credit' ? [leader.claim.user] : [])),
  )
  return [...wallets]
    .filter(([user, { kind }]) => kind === 'missing' && credited.has(user))
    .map(([user]) => user)
}

/** In autocommit, before the group: two groups that make the same wallet in their transactions would deadlock. */
function createWallets({ names }: MysqlContext, users: readonly string[]): Statement {
  return {
    sql: `insert into ${names.table('wallets')} (user_id, created_at)
values ${users.map(() => '(?, utc_timestamp(3))').join(', ')}
on duplicate key update user_id = user_id`,
    values: users.map(bytes),
  }
}

/** Writes everything and commits. */
async function writePlan(
  context: MysqlContext,
  session: Session,
  { entries, changes, rows }: GroupPlan,
): Promise<void> {
  const { names, scale, outbox } = context
  const wallets = await context.wallets()
  const parts: Part[] = []
  if (entries.length > 0) parts.push({ ...insertEntries(names, scale, entries), step: 'ledger' })
  if (changes.length > 0) {
    const change = changeBalances(wallets, changes)
    // For our own table the count says nothing (ON DUPLICATE KEY UPDATE); its rows are locked, so they are there.
    if (wallets.foreign) await changeForeign(session, parts.splice(0), change, changes.length)
    else parts.push({ ...change, step: 'write' })
  }
  const messages = outbox ? insertMessages(names, entries) : null
  if (messages !== null) parts.push({ ...messages, step: 'write' })
  for (const statement of writePostbackRows(names, scale, rows, 'replace'))
    parts.push({ ...statement, step: 'write' })
  await session.writeAndCommit(parts)
}

/** A trigger or a rule of the publisher's may have kept a balance as it was: the count is looked at before COMMIT. */
async function changeForeign(
  session: Session,
  before: readonly Part[],
  change: Statement,
  expected: number,
): Promise<void> {
  for (const part of before) await session.write(part, part.step)
  const changed = await session.write(change)
  if (changed === expected) return
  throw new StoreError('refused', `${changed} of ${expected} locked balances were changed; rolled back.`)
}
