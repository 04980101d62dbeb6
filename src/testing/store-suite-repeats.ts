/**
 * What comes again soon after it was booked: a store may guess that, and has to prove it. So each case here has something
 * that makes the guess wrong, or somebody else who did.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { LedgerStore } from '../ledger/store.js'
import type { Claim } from '../ledger/types.js'
import { makeClaim, makeMember, nextPostbackId } from './claims.js'
import { applyMembers, balanceOf, onFresh } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

const USERS = ['u1', 'u2', 'u3']

export function repeatsSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('repeats', () => {
    it(
      'copies and reversals of what was just booked, beside new credits',
      onFresh(
        open,
        async ({ store, addWallet, countMessages }) => {
          for (const user of USERS) await addWallet(user)
          assert.deepEqual(await book(store, credits('a')), ['credited', 'credited', 'credited'])
          assert.deepEqual(await book(store, credits('a')), ['duplicate', 'duplicate', 'duplicate'])
          const [copy, taken] = credits('a') as [Claim, Claim]
          const group = [copy, reversalOf(taken), makeClaim({ transactionId: 'b', user: 'u3' })]
          assert.deepEqual(await book(store, group), ['duplicate', 'reversed', 'credited'])
          assert.deepEqual(await book(store, group.map(again)), [
            'duplicate',
            'already_reversed',
            'duplicate',
          ])
          assert.deepEqual(await balancesOf(store), [1_000n, 0n, 2_000n])
          assert.equal(await countMessages(), 5)
          const { items } = await store.listEntries('u3', { limit: 10, cursor: null })
          assert.deepEqual(
            items.map(({ balanceAfter }) => balanceAfter),
            [2_000n, 1_000n],
          )
        },
        { outbox: true },
      ),
    )

    it(
      'a call that says something else about what was just booked',
      onFresh(open, async ({ store, addWallet }) => {
        for (const user of USERS) await addWallet(user)
        const said = (part: Partial<Claim>): Claim => makeClaim({ transactionId: 'a', ...part })
        await book(store, [said({})])
        assert.deepEqual(await book(store, [said({ user: 'u2' })]), ['conflict'])
        assert.deepEqual(await book(store, [said({ amount: 2_000n, receivedAmount: '2' })]), ['conflict'])
        assert.deepEqual(await book(store, [said({ unit: 'gems' })]), ['conflict'])
        // Another rate of the same payout is not another payout.
        assert.deepEqual(await book(store, [said({ amount: 2_000n })]), ['duplicate'])
        const other = { entry: 'reversal', user: 'u2', amount: 7_000n, receivedAmount: '7' } as const
        assert.deepEqual(await book(store, [said(other)]), ['reversed'])
        assert.deepEqual(await balancesOf(store), [0n, 0n, 0n])
      }),
    )

    it(
      'what somebody else has taken back meanwhile, or booked before',
      onFresh(open, async ({ store, second, addWallet }) => {
        for (const user of USERS) await addWallet(user)
        const another = await second()
        await book(store, credits('a'))
        const taken = credits('a').map(reversalOf)
        assert.deepEqual(await book(another, taken), ['reversed', 'reversed', 'reversed'])
        for (let round = 0; round < 2; round += 1) {
          assert.deepEqual(
            await book(store, taken.map(again)),
            taken.map(() => 'already_reversed'),
          )
        }
        await book(another, credits('b'))
        const mixed = [...credits('a'), ...credits('b'), ...credits('c')]
        assert.deepEqual(await book(store, mixed), [
          ...Array<string>(6).fill('duplicate'),
          ...Array<string>(3).fill('credited'),
        ])
        assert.deepEqual(await balancesOf(store), [2_000n, 2_000n, 2_000n])
      }),
    )

    it(
      'the call that wrote a credit, once more: alone and as a copy of another one',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const claim = makeClaim({ transactionId: 'a' })
        await book(store, [claim])
        assert.deepEqual(await book(store, [claim]), ['credited'])
        const [result] = await applyMembers(store, [makeMember(makeClaim({ transactionId: 'a' }), [claim])])
        assert.equal(result?.kind === 'settled' && result.leader.outcome, 'duplicate')
        assert.equal(result?.kind === 'settled' && result.copies[0]?.outcome, 'credited')
        assert.equal(await balanceOf(store, 'u1'), 1_000n)
      }),
    )

    it(
      'groups of the same wallets that are on their way at the same time',
      onFresh(open, async ({ store, addWallet }) => {
        for (const user of USERS) await addWallet(user)
        const names = Array.from({ length: 12 }, (_, n) => `g${n}`)
        const outcomes = await Promise.all(names.map((name) => book(store, credits(name))))
        // Of two at the same time the later one may find its wallets busy.
        const booked = BigInt(outcomes.flat().filter((outcome) => outcome === 'credited').length)
        assert.deepEqual(
          new Set(outcomes.flat().filter((outcome) => outcome !== 'busy')),
          new Set(['credited']),
        )
        const balances = await balancesOf(store)
        assert.equal(
          balances.reduce((sum, balance) => sum + balance),
          booked * 1_000n,
        )
        assert.deepEqual(await store.auditChains(null, 100), { items: [], next: null })
      }),
    )
  })
}

function credits(name: string): Claim[] {
  return USERS.map((user, place) => makeClaim({ transactionId: `${name}-${place}`, user }))
}

function reversalOf(claim: Claim): Claim {
  return { ...again(claim), entry: 'reversal' }
}

/** The same claim by another call. */
function again(claim: Claim): Claim {
  return { ...claim, postbackId: nextPostbackId() }
}

async function book(store: LedgerStore, claims: readonly Claim[]): Promise<string[]> {
  const results = await applyMembers(
    store,
    claims.map((claim) => makeMember(claim)),
  )
  return results.map((result) => (result.kind === 'settled' ? result.leader.outcome : result.kind))
}

function balancesOf(store: LedgerStore): Promise<bigint[]> {
  return Promise.all(USERS.map((user) => balanceOf(store, user)))
}
