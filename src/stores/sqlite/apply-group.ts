/**
 * A group on SQLite. There is one writer, so what is read after BEGIN IMMEDIATE is what the writes will meet: no wallet
 * is ever locked by somebody else, and no key is lost to a race.
 *
 * @module
 */
import {
  inKeyOrder,
  keyOf,
  pairOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type MemberResult,
  type WalletState,
} from '../../ledger/group.js'
import type { GroupOptions, GroupResult } from '../../ledger/store.js'
import type { StoredPair } from '../../ledger/types.js'
import type { SqliteContext } from './context.js'
import {
  changeBalance,
  insertEntry,
  insertMessage,
  insertWallet,
  readBalance,
  readStored,
  upsertPostback,
} from './group-statements.js'
import { Rollback, writeTransaction } from './transaction.js'

export async function applyGroup(
  context: SqliteContext,
  members: readonly GroupMember[],
  options: GroupOptions,
): Promise<GroupResult> {
  const waiting = {
    milliseconds: options.waitMs,
    whenBusy: options.waitMs === null ? 'retry' : 'wallet_busy',
  } as const
  try {
    const results = await writeTransaction(context.connection, waiting, () =>
      settleGroup(context, members, options.owns),
    )
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
  const stored = new Map<string, StoredPair>()
  for (const { leader } of members) {
    if (leader.claim !== null) stored.set(keyOf(leader.claim), pairOf(readStored(context, leader.claim)))
  }
  const wallets = new Map<string, WalletState>()
  for (const user of walletsToLock(members, stored)) {
    wallets.set(user, owns(user) ? walletState(context, user) : { kind: 'elsewhere' })
  }
  createMissing(context, members, wallets)

  const ordered = inKeyOrder(members)
  const plan = planGroup(ordered, stored, wallets, context.unknownUser)
  for (const entry of plan.entries) {
    if (!insertEntry(context, entry)) throw new Rollback()
    insertMessage(context, entry)
  }
  for (const change of plan.changes) changeBalance(context, change)
  for (const row of plan.rows) upsertPostback(context, row)
  return inGivenOrder(members, ordered, plan.results)
}

function walletState(context: SqliteContext, user: string): WalletState {
  const balance = readBalance(context, user)
  return balance === null ? { kind: 'missing' } : { kind: 'locked', balance }
}

/** Wallets of credits only: a reversal's wallet that is gone stays gone. */
function createMissing(
  context: SqliteContext,
  members: readonly GroupMember[],
  wallets: Map<string, WalletState>,
): void {
  if (context.unknownUser !== 'create' || context.foreign !== null) return
  for (const { leader } of members) {
    const { claim } = leader
    if (claim?.entry !== 'credit' || wallets.get(claim.user)?.kind !== 'missing') continue
    insertWallet(context, claim.user)
    wallets.set(claim.user, { kind: 'locked', balance: 0n })
  }
}

function inGivenOrder(
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
