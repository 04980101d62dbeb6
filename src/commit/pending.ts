/**
 * One postback on its way through the group commit.
 *
 * @module
 */
import type { GroupItem } from '../ledger/group.js'
import { keyOf } from '../ledger/group.js'
import type { Claim } from '../ledger/types.js'
import type { Settled } from '../outcome.js'

/**
 * What is known of a postback when its answer has to leave.
 *
 * - `committed`: its transaction committed; the outcome is final.
 * - `dropped`: known not booked, and no row was written; it is safe to send again.
 * - `unknown`: a COMMIT was sent and its fate could not be learned.
 * - `late`: its deadline passed while its transaction was running; `truth` resolves when that is over.
 */
export type Settlement =
  | { readonly fate: 'committed' | 'dropped' | 'unknown'; readonly settled: Settled }
  | { readonly fate: 'late'; readonly settled: Settled; readonly truth: Promise<Settlement> }

/** `queued`: can be dropped; `sent`: part of a running transaction; `done`: its fate is known. */
export type PendingState = 'queued' | 'sent' | 'done'

/** A claim (or a call without one) between its submission and its fate. */
export class Pending {
  readonly item: GroupItem
  readonly bytes: number
  /** On the committer's clock, milliseconds. */
  readonly deadlineAt: number
  readonly key: string | null
  /** The wallet by which it is routed: the claim's user until the store names the stored credit's. */
  user: string | null
  state: PendingState = 'queued'
  readonly answer: Promise<Settlement>
  #resolveAnswer!: (settlement: Settlement) => void
  /** Set where the answer left before the truth was known. */
  #resolveTruth: ((settlement: Settlement) => void) | null = null

  constructor(item: GroupItem, bytes: number, deadlineAt: number) {
    this.item = item
    this.bytes = bytes
    this.deadlineAt = deadlineAt
    this.key = item.claim === null ? null : keyOf(item.claim)
    this.user = item.claim === null || item.claim.user === '' ? null : item.claim.user
    this.answer = new Promise((resolve) => (this.#resolveAnswer = resolve))
  }

  /** Whether it was answered at its deadline while its transaction ran. */
  get late(): boolean {
    return this.#resolveTruth !== null
  }

  /** Its fate is known: tells whoever waits for it. */
  tell(settlement: Settlement): void {
    this.#resolveAnswer(settlement)
    this.#resolveTruth?.(settlement)
  }

  /** Its deadline passed while its transaction runs: the answer leaves now, the truth follows. */
  answerLate(): void {
    const truth = new Promise<Settlement>((resolve) => (this.#resolveTruth = resolve))
    this.#resolveAnswer({ fate: 'late', settled: overloaded('deadline'), truth })
  }
}

export function overloaded(reason: string): Settled {
  return { outcome: 'overloaded', reason }
}

/** Whether `claim` asks for exactly what `leader` asks for, so that one decision serves both. */
export function isCopy(leader: Claim, claim: Claim): boolean {
  return (
    leader.entry === claim.entry &&
    leader.user === claim.user &&
    leader.receivedAmount === claim.receivedAmount &&
    leader.unit === claim.unit &&
    leader.test === claim.test &&
    leader.recordOnly === claim.recordOnly &&
    leader.gate.kind === claim.gate.kind &&
    leader.actor === claim.actor
  )
}
