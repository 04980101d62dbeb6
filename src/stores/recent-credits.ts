/**
 * What this process has booked lately, as a guess about what the ledger holds: a network that calls again mostly does so
 * soon, and then nothing has to be looked up. Nothing is ever answered by it. Who guesses has the database prove it in
 * the transaction that writes, because another process, a failover or a restored backup may have changed what is there.
 *
 * @module
 */
import { keyOf, storedFrom, type GroupMember, type MemberResult } from '../ledger/group.js'
import type { Claim, EntryKind, StoredPair } from '../ledger/types.js'

/** Marks of one generation; the last two are kept, 16 bytes for each. */
const MOST = 32_768

export class RecentCredits {
  readonly #most: number
  #young: Marks
  #old: Marks

  /** @param most marks after which the older half is forgotten; a power of 2 */
  constructor(most = MOST) {
    this.#most = most
    this.#young = new Marks(most)
    this.#old = new Marks(most)
  }

  /**
   * The pairs that claims of a group would find if they repeat or take back what was booked lately: the credit as the
   * claim itself tells it, by `keyOf`. A claim that is not among them is likely to be new.
   */
  guess(members: readonly GroupMember[]): ReadonlyMap<string, StoredPair> {
    const pairs = new Map<string, StoredPair>()
    for (const { leader } of members) {
      const { claim } = leader
      if (claim === null || !this.#has(claim, 'credit')) continue
      if (claim.entry === 'reversal' && this.#has(claim, 'reversal')) continue
      const pair = guessedPair(claim)
      if (pair !== null) pairs.set(keyOf(claim), pair)
    }
    return pairs
  }

  /** What a transaction that committed has shown. */
  note(members: readonly GroupMember[], results: readonly MemberResult[]): void {
    results.forEach((result, index) => {
      const claim = members[index]?.leader.claim ?? null
      if (result.kind !== 'settled' || claim === null) return
      const { outcome, reason } = result.leader
      // The reason says that an old table was imported, whose entries tell too little to be guessed.
      if (outcome === 'credited' || (outcome === 'duplicate' && reason === null)) this.#add(claim, 'credit')
      if (outcome === 'reversed' || outcome === 'already_reversed') this.#add(claim, 'reversal')
    })
  }

  #has(claim: Claim, entry: EntryKind): boolean {
    const mark = markOf(claim, entry)
    return this.#young.has(mark) || this.#old.has(mark)
  }

  #add(claim: Claim, entry: EntryKind): void {
    this.#young.add(markOf(claim, entry))
    if (this.#young.size < this.#most) return
    this.#old = this.#young
    this.#young = new Marks(this.#most)
  }
}

/** Null where the claim does not tell enough. */
function guessedPair(claim: Claim): StoredPair | null {
  const { user, amount } = claim
  if (user === '' || amount === null || amount <= 0n) return null
  const credit = {
    entry: 'credit',
    user,
    amount,
    decision: 'booked',
    reason: null,
    movesBalance: true,
  } as const
  return { credit: { ...storedFrom(credit, claim), postbackId: null }, reversal: null }
}

/** Numbers in an open table that is at most half full: no object for the garbage collector to visit. */
class Marks {
  readonly #slots: Float64Array
  size = 0

  constructor(most: number) {
    this.#slots = new Float64Array(2 * most)
  }

  has(mark: number): boolean {
    return this.#slots[this.#placeOf(mark)] === mark
  }

  add(mark: number): void {
    const place = this.#placeOf(mark)
    if (this.#slots[place] === mark) return
    this.#slots[place] = mark
    this.size += 1
  }

  /** Where the mark stands or would stand. */
  #placeOf(mark: number): number {
    const last = this.#slots.length - 1
    let place = mark % this.#slots.length
    while (this.#slots[place] !== 0 && this.#slots[place] !== mark) place = (place + 1) & last
    return place
  }
}

/** 53 bits of the key, never 0: two rounds of FNV-1a beside each other. Keys that share a mark are a wrong guess, no more. */
function markOf({ idSpace, transactionKey }: Claim, entry: EntryKind): number {
  let high = 0x811c9dc5 ^ entry.length
  let low = 0x9e3779b9 ^ entry.length
  for (const text of [idSpace, transactionKey]) {
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index)
      high = Math.imul(high ^ unit, 0x01000193)
      low = Math.imul(low ^ unit, 0x85ebca6b)
    }
    high = Math.imul(high ^ 0x10000, 0x01000193)
  }
  return (high >>> 0) * 0x20_0000 + (low >>> 11) || 1
}
