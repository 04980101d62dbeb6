/**
 * The short way of a group: no lock step and no look at what is stored. The group is planned on the guess that nothing of
 * it is there yet but what this process has booked lately, and that its wallets exist and are free; then one statement
 * changes the wallets, which locks them, and writes the rest. What that statement counts proves the guess or refutes it,
 * and a refuted one is rolled back as if it had never been tried: the long way settles the group.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import {
  keyOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type GroupPlan,
  type MemberResult,
  type WalletState,
} from '../../ledger/group.js'
import type { GroupOptions } from '../../ledger/store.js'
import type { Claim, StoredPair } from '../../ledger/types.js'
import type { BatchStatement } from './batch.js'
import type { PostgresContext } from './context.js'
import { LOCK_TIMEOUT_MS, openGroup, type GroupStatements } from './group-statements.js'
import { Odds } from '../odds.js'
import { knownCredits, type KnownCredit } from './known-credits.js'
import { readStoredPairs } from './read-stored-pairs.js'
import type { Session } from './session.js'
import type { WalletSql } from './wallet-table.js'
import { isSingle, keepValues, singleValues, writeValues } from './write-statement.js'

/** What the two guesses have been worth lately. */
export class ShortWayOdds {
  /** That credits are new, or were booked lately by this process. */
  readonly fresh = new Odds()
  /** That wallets exist and are free. */
  readonly free = new Odds()

  /** What the look into the ledger told about the guess. */
  noteStored(members: readonly GroupMember[], stored: Pairs, guessed: Pairs): void {
    this.fresh.note(
      members.some(
        ({ leader: { claim } }) =>
          claim?.entry === 'credit' && stored.has(keyOf(claim)) !== guessed.has(keyOf(claim)),
      ),
    )
  }
}

type Pairs = ReadonlyMap<string, StoredPair>

/** What a group is settled with, whichever way it goes. */
export interface GroupTools {
  readonly session: Session
  readonly statements: GroupStatements
  readonly wallets: WalletSql
}

/** `refused`: not tried, or refuted. `timed_out`: somebody else holds one of its wallets or keys. */
export type ShortWay = readonly MemberResult[] | 'refused' | 'timed_out'

/**
 * The results of the members in their order, or why the group has to go the long way.
 *
 * @param members in key order
 */
export async function goShortWay(
  context: PostgresContext,
  { session, statements, wallets }: GroupTools,
  members: readonly GroupMember[],
  { waitMs, keyWaitMs, owns }: GroupOptions,
): Promise<ShortWay> {
  const { odds, isolation, scale, unknownUser } = context
  // A group that waits for its wallet may take it at once; one that looks for a busy key may not wait for any other.
  const isSearch = waitMs === null && keyWaitMs !== undefined
  if (isSearch || !odds.free.areGood) return 'refused'

  const guessed = context.recent.guess(members)
  const looks =
    !odds.fresh.areGood || members.some(({ leader: { claim } }) => isUnknownReversal(claim, guessed))
  const stored = looks ? await readStoredPairs(session, statements, members, scale) : guessed
  if (looks) odds.noteStored(members, stored, guessed)
  const known = looks ? [] : knownCredits(members, guessed)
  const users = walletsToLock(members, stored)
  const plan = planGroup(members, stored, guessedWallets(users, owns), unknownUser)
  // Each guess needs something that proves it: a free wallet its change, a claim its entry or the credit that is known.
  if (plan.changes.length !== users.filter(owns).length) return 'refused'
  if (!looks && plan.entries.length !== entriesOf(members, guessed)) return 'refused'
  if (plan.entries.length === 0 && plan.rows.length === 0 && known.length === 0) return plan.results

  try {
    const write = guessedWrite(statements, plan, known, wallets, scale)
    await session.transact(openGroup(isolation, LOCK_TIMEOUT_MS), LOCK_TIMEOUT_MS, write)
  } catch (error) {
    // The long way finds out which wallet, key or claim it was.
    if (!(error instanceof StoreError)) throw error
    if (error.failure === 'key_busy' || error.failure === 'wallet_busy') return 'timed_out'
    if (error.failure === 'refused') return 'refused'
    throw error
  }
  odds.free.note(false)
  if (!looks) odds.fresh.note(false)
  return plan.results
}

/** A reversal takes back what stands in the ledger, which has to be read where it is not known. */
function isUnknownReversal(claim: Claim | null, guessed: Pairs): boolean {
  return claim?.entry === 'reversal' && !guessed.has(keyOf(claim))
}

/** How many entries a right guess leads to: one for each claim but the copies of what is known. */
function entriesOf(members: readonly GroupMember[], guessed: Pairs): number {
  return members.filter(
    ({ leader: { claim } }) => claim !== null && (claim.entry === 'reversal' || !guessed.has(keyOf(claim))),
  ).length
}

function guessedWrite(
  statements: GroupStatements,
  plan: GroupPlan,
  known: readonly KnownCredit[],
  wallets: WalletSql,
  scale: number,
): BatchStatement {
  if (plan.entries.length === 0) {
    return { ...statements.keepRows, values: keepValues(plan.rows, known, scale) }
  }
  if (known.length > 0) {
    return { ...statements.writeKnown, values: writeValues(plan, wallets, scale, known) }
  }
  return isSingle(plan)
    ? { ...statements.writeSingle, values: singleValues(plan, wallets, scale) }
    : { ...statements.writeNew, values: writeValues(plan, wallets, scale) }
}

/** Empty wallets: the write reckons every balance from what it finds. */
function guessedWallets(
  users: readonly string[],
  owns: (user: string) => boolean,
): ReadonlyMap<string, WalletState> {
  return new Map(users.map((user) => [user, owns(user) ? FREE : ELSEWHERE]))
}

const FREE: WalletState = { kind: 'locked', balance: 0n }
const ELSEWHERE: WalletState = { kind: 'elsewhere' }
