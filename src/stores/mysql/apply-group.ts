/**
 * A group in one transaction.
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
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import type { StoredEntry, StoredPair } from '../../ledger/types.js'
import type { MysqlContext } from './context.js'
import { isDuplicateOf } from './errors.js'
import { insertEntries, insertMessages, readStored, writePostbackRows } from './group-statements.js'
import { bytes, readStoredEntry, text } from './rows.js'
import type { Row, Statement } from './driver.js'
import { withSession, type Session } from './session.js'
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
  return withSession(context.source, { timeoutMs: GROUP_MS + (waitMs ?? 0), waitMs }, async (session) => {
    const stored = await readStoredPairs(context, session, members)
    await session.begin()
    let wallets = await lockWallets(context, session, walletsToLock(members, stored), options)
    const absent = context.unknownUser === 'create' ? missingCreditUsers(members, wallets) : []
    if (absent.length > 0) {
      await session.rollback()
      await session.write(createWallets(context, absent))
      await session.begin()
      wallets = await lockWallets(context, session, walletsToLock(members, stored), options)
    }
    const ordered = inKeyOrder(members)
    const plan = planGroup(ordered, stored, wallets, context.unknownUser)
    try {
      // Waiting for a key with the wallets locked would hold up everybody who needs them.
      if (waitMs !== null) await session.write(SHORT_LOCK_WAIT, 'read')
      if (!(await writePlan(context, session, plan))) return { kind: 'raced' }
    } catch (error) {
      if (!(error instanceof StoreError) || error.failure !== 'key_busy' || members.length === 1) throw error
      await session.rollback()
      const busy = await findBusyClaims(context, session, members)
      throw new StoreError('key_busy', error.message, error.cause, busy)
    }
    await session.commit()
    return { kind: 'applied', results: inGivenOrder(members, ordered, plan.results) }
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

/** Locks what this lane owns, and finds out about every wallet that was not to be had whether it exists. */
export async function lockWallets(
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

  for (const row of await readAll(session, selectWallets(columns, mine, waitMs === null ? 'skip' : 'wait'))) {
    const { user, balance } = readWalletRow(columns, row)
    states.set(user, { kind: 'locked', balance })
  }
  const absent = mine.filter((user) => states.get(user)?.kind === 'missing')
  for (const row of await readAll(session, selectWallets(columns, absent, 'none'))) {
    const user = text(row['user_bytes'])
    if (waitMs !== null) {
      throw new StoreError('wallet_busy', `The wallet of ${user} appeared while its lock was waited for.`)
    }
    states.set(user, { kind: 'busy' })
  }
  return states
}

async function readAll(session: Session, statement: Statement | null): Promise<readonly Row[]> {
  return statement === null ? [] : session.read(statement, 'wallets')
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

/** Writes everything; false where somebody else wrote one of the entries first. */
async function writePlan(context: MysqlContext, session: Session, plan: GroupPlan): Promise<boolean> {
  const { names, scale, outbox } = context
  const wallets = await context.wallets()
  if (plan.entries.length > 0) {
    try {
      await session.write(insertEntries(names, scale, plan.entries), 'ledger')
    } catch (error) {
      if (isDuplicateOf(error, `${names.prefix}ledger_key`)) return false
      throw error
    }
  }
  if (plan.changes.length > 0) {
    const changed = await session.write(changeBalances(wallets, plan.changes))
    // For our own table the count says nothing (ON DUPLICATE KEY UPDATE); its rows are locked, so they are there.
    if (wallets.foreign && changed !== plan.changes.length) {
      throw new StoreError(
        'refused',
        `${changed} of ${plan.changes.length} locked balances were changed; rolled back.`,
      )
    }
  }
  const messages = outbox ? insertMessages(names, plan.entries) : null
  if (messages !== null) await session.write(messages)
  for (const statement of writePostbackRows(names, scale, plan.rows, 'replace'))
    await session.write(statement)
  return true
}

function inGivenOrder(
  given: readonly GroupMember[],
  ordered: readonly GroupMember[],
  results: readonly MemberResult[],
): MemberResult[] {
  const byMember = new Map(ordered.map((member, index) => [member, results[index]]))
  return given.flatMap((member) => byMember.get(member) ?? [])
}
