/**
 * A group planned on a guess instead of a look: that nothing of it is stored but what this process has booked lately,
 * and that its wallets exist and are free. The transaction that writes it has to prove the guess.
 *
 * @module
 */
import type { UnknownUserPolicy } from '../ledger/decide.js'
import {
  keyOf,
  planGroup,
  walletsToLock,
  type GroupMember,
  type GroupPlan,
  type WalletState,
} from '../ledger/group.js'
import type { Claim, StoredPair } from '../ledger/types.js'

export type Pairs = ReadonlyMap<string, StoredPair>

/** A claim that was planned as one about a booked credit that says the same. */
export interface KnownCredit {
  readonly claim: Claim
  /** Of the call itself: a credit that it wrote before is not one that it repeats. */
  readonly postbackId: string
}

export interface GuessOptions {
  /** Whether `stored` was read, and is no guess itself. */
  readonly isRead: boolean
  readonly owns: (user: string) => boolean
  readonly unknownUser: UnknownUserPolicy
}

/**
 * The plan, its balances reckoned from empty wallets. Null where something of the guess would not be proved: a free wallet
 * by its change, a claim by its entry or by the credit that is known.
 *
 * @param members in key order
 */
export function planGuess(
  members: readonly GroupMember[],
  stored: Pairs,
  { isRead, owns, unknownUser }: GuessOptions,
): GroupPlan | null {
  const users = walletsToLock(members, stored)
  const wallets = new Map(users.map((user) => [user, owns(user) ? FREE : ELSEWHERE]))
  const plan = planGroup(members, stored, wallets, unknownUser)
  if (plan.changes.length !== users.filter(owns).length) return null
  return isRead || plan.entries.length === entriesOf(members, stored) ? plan : null
}

const FREE: WalletState = { kind: 'locked', balance: 0n }
const ELSEWHERE: WalletState = { kind: 'elsewhere' }

/** How many entries a right guess leads to: one for each claim but the copies of what is known. */
function entriesOf(members: readonly GroupMember[], guessed: Pairs): number {
  return members.filter(
    ({ leader: { claim } }) => claim !== null && (claim.entry === 'reversal' || !guessed.has(keyOf(claim))),
  ).length
}

/** A reversal takes back what stands in the ledger, which has to be read where it is not known. */
export function needsLook(members: readonly GroupMember[], guessed: Pairs): boolean {
  return members.some(({ leader: { claim } }) => claim?.entry === 'reversal' && !guessed.has(keyOf(claim)))
}

/** Whether a look has found other credits than were guessed. */
export function isRefuted(members: readonly GroupMember[], stored: Pairs, guessed: Pairs): boolean {
  return members.some(
    ({ leader: { claim } }) =>
      claim?.entry === 'credit' && stored.has(keyOf(claim)) !== guessed.has(keyOf(claim)),
  )
}

/** What has to be proved: one for each call of a guessed pair, copies included. */
export function knownCredits(members: readonly GroupMember[], guessed: Pairs): readonly KnownCredit[] {
  if (guessed.size === 0) return []
  return members.flatMap(({ leader, copies }) => {
    const { claim } = leader
    if (claim === null || !guessed.has(keyOf(claim))) return []
    return [leader, ...copies].map(({ id }) => ({ claim, postbackId: id }))
  })
}
