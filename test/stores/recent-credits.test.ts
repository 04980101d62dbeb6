/**
 * What a process remembers of its credits: a bounded guess, never more.
 *
 * @module
 */
import { describe, expect, it } from 'vitest'
import type { MemberResult } from '../../src/ledger/group.js'
import type { Claim } from '../../src/ledger/types.js'
import type { Outcome } from '../../src/outcome.js'
import { RecentCredits } from '../../src/stores/recent-credits.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'

function note(recent: RecentCredits, claim: Claim, outcome: Outcome, reason: string | null = null): void {
  const result: MemberResult = { kind: 'settled', leader: { outcome, reason }, copies: [] }
  recent.note([makeMember(claim)], [result])
}

function knows(recent: RecentCredits, claim: Claim): boolean {
  return recent.guess([makeMember(claim)]).size === 1
}

const credit = (transactionId: string, part: Partial<Claim> = {}): Claim =>
  makeClaim({ transactionId, ...part })
const reversal = (transactionId: string, part: Partial<Claim> = {}): Claim =>
  makeClaim({ transactionId, entry: 'reversal', ...part })

describe('recent credits', () => {
  it('are guessed as the claim tells them', () => {
    const recent = new RecentCredits()
    note(recent, credit('a'), 'credited')
    const claim = credit('a', { user: 'u9', amount: 5n, receivedAmount: '0.005' })
    const [pair] = recent.guess([makeMember(claim)]).values()
    expect(pair).toMatchObject({
      credit: { user: 'u9', amount: 5n, receivedAmount: '0.005', decision: 'booked', postbackId: null },
      reversal: null,
    })
  })

  it('are those of one key: neither another id space nor another split of it', () => {
    const recent = new RecentCredits()
    note(recent, credit('bc', { idSpace: 'a' }), 'credited')
    expect(knows(recent, credit('bc', { idSpace: 'a' }))).toBe(true)
    expect(knows(recent, credit('bc'))).toBe(false)
    expect(knows(recent, credit('c', { idSpace: 'ab' }))).toBe(false)
    expect(knows(recent, credit('bd', { idSpace: 'a' }))).toBe(false)
  })

  it('are taken back once, and repeated for ever', () => {
    const recent = new RecentCredits()
    expect(knows(recent, reversal('a'))).toBe(false)
    note(recent, credit('a'), 'credited')
    expect(knows(recent, reversal('a'))).toBe(true)
    note(recent, reversal('a'), 'reversed')
    expect(knows(recent, reversal('a'))).toBe(false)
    expect(knows(recent, credit('a'))).toBe(true)
  })

  it.each(['unknown_user', 'held', 'conflict', 'refused', 'tombstoned', 'test', 'malformed'] as const)(
    'are not made by %s',
    (outcome) => {
      const recent = new RecentCredits()
      note(recent, credit('a'), outcome)
      expect(knows(recent, credit('a'))).toBe(false)
    },
  )

  it('are not made by a copy of what was imported, which tells too little', () => {
    const recent = new RecentCredits()
    note(recent, credit('a'), 'duplicate', 'imported')
    expect(knows(recent, credit('a'))).toBe(false)
    note(recent, credit('a'), 'duplicate')
    expect(knows(recent, credit('a'))).toBe(true)
  })

  it('need a user and an amount', () => {
    const recent = new RecentCredits()
    note(recent, credit('a'), 'credited')
    expect(knows(recent, reversal('a', { user: '' }))).toBe(false)
    expect(knows(recent, reversal('a', { amount: null }))).toBe(false)
  })

  it('are forgotten by halves', () => {
    const recent = new RecentCredits(64)
    const claims = Array.from({ length: 200 }, (_, place) => credit(`t-${place}`))
    for (const claim of claims) note(recent, claim, 'credited')
    const known = claims.map((claim) => knows(recent, claim))
    expect(known.lastIndexOf(false)).toBe(127)
    expect(known.indexOf(true)).toBe(128)
  })
})
