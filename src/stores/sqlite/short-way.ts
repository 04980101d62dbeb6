/**
 * The short way of a group: nothing is read before it is written. It is planned on the guess that nothing of it is
 * stored yet but what this process has booked lately, and that its wallets exist. The thread's writes prove the guess: a
 * change by its wallet, an entry by the unique key, a credit that is known by a look under the write lock. What they
 * refute is rolled back, and the long way settles the group.
 *
 * @module
 */
import type { GroupMember, MemberResult } from '../../ledger/group.js'
import { knownCredits, needsLook, planGuess } from '../guess.js'
import type { SqliteContext } from './context.js'
import {
  knownStep,
  messageStep,
  postbackStep,
  unreadBalanceStep,
  unreadEntryStep,
} from './group-statements.js'
import type { SqlWriter } from './writer.js'

/**
 * The results of the members in their order, or null where the group has to go the long way.
 *
 * @param members in key order
 */
export async function goShortWay(
  context: SqliteContext,
  writer: SqlWriter,
  members: readonly GroupMember[],
  owns: (user: string) => boolean,
): Promise<readonly MemberResult[] | null> {
  const { odds, recent, unknownUser } = context
  if (!odds.areGood) return null
  const guessed = recent.guess(members)
  if (needsLook(members, guessed)) return null
  const plan = planGuess(members, guessed, { isRead: false, owns, unknownUser })
  if (plan === null) return null
  const wallets = context.wallets()
  // A user that the publisher's column cannot hold has no wallet.
  if (plan.entries.some(({ user }) => wallets.bind(user) === null)) return null
  const written = await writer.write([
    knownStep(context, knownCredits(members, guessed)),
    unreadBalanceStep(wallets, plan.changes),
    unreadEntryStep(context, wallets, plan),
    messageStep(context, plan.entries),
    postbackStep(context, plan.rows),
  ])
  if (written.kind !== 'committed') return null
  odds.note(false)
  return plan.results
}
