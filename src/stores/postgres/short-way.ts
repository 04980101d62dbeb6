/**
 * The short way of a group: no lock step and no look at what is stored. The group is planned on the guess that nothing of
 * it is there yet but what this process has booked lately, and that its wallets exist and are free; then one statement
 * changes the wallets, which locks them, and writes the rest. What that statement counts proves the guess or refutes it,
 * and a refuted one is rolled back as if it had never been tried: the long way settles the group.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { GroupMember, GroupPlan, MemberResult } from '../../ledger/group.js'
import type { GroupOptions } from '../../ledger/store.js'
import type { BatchStatement } from './batch.js'
import type { PostgresContext } from './context.js'
import { LOCK_TIMEOUT_MS, openGroup, type GroupStatements } from './group-statements.js'
import { isRefuted, knownCredits, needsLook, planGuess, type KnownCredit } from '../guess.js'
import { Odds } from '../odds.js'
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
}

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
  const looks = !odds.fresh.areGood || needsLook(members, guessed)
  const stored = looks ? await readStoredPairs(session, statements, members, scale) : guessed
  if (looks) odds.fresh.note(isRefuted(members, stored, guessed))
  const known = looks ? [] : knownCredits(members, guessed)
  const plan = planGuess(members, stored, { isRead: looks, owns, unknownUser })
  if (plan === null) return 'refused'
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
