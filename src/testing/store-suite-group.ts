/**
 * Groups on a real store: many claims in one transaction.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { MAX_BALANCE_MINOR } from '../money.js'
import { makeClaim, makeMember } from './claims.js'
import { applyMembers, balanceOf, onFresh, settleOne } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

export function groupSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('groups', () => {
    it(
      'many claims on few wallets change each balance by its sum and keep the running balance unbroken',
      onFresh(open, async ({ store, addWallet }) => {
        const users = ['u1', 'u2', 'u3']
        for (const user of users) await addWallet(user)
        const claims = Array.from({ length: 300 }, (_, n) =>
          makeClaim({
            transactionId: `t${n}`,
            user: users[n % 3] as string,
            amount: BigInt(n + 1),
            receivedAmount: String(n + 1),
          }),
        )
        const results = await applyMembers(
          store,
          claims.map((claim) => makeMember(claim)),
        )
        assert.equal(results.length, 300)
        for (const result of results)
          assert.deepEqual(result, {
            kind: 'settled',
            leader: { outcome: 'credited', reason: null },
            copies: [],
          })
        for (const [index, user] of users.entries()) {
          const expected = claims
            .filter((_, n) => n % 3 === index)
            .reduce((sum, claim) => sum + (claim.amount ?? 0n), 0n)
          assert.equal(await balanceOf(store, user), expected)
          await assertUnbroken(store, user)
        }
      }),
    )

    it(
      'results come in the order in which the members were given',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 'b' }))
        const results = await applyMembers(store, [
          makeMember(makeClaim({ transactionId: 'z' })),
          makeMember(makeClaim({ transactionId: 'b' })),
          makeMember(makeClaim({ transactionId: 'a', entry: 'reversal' })),
          makeMember(makeClaim({ transactionId: 'c', user: 'ghost' })),
        ])
        assert.deepEqual(
          results.map((result) => result.kind === 'settled' && result.leader.outcome),
          ['credited', 'duplicate', 'tombstoned', 'unknown_user'],
        )
      }),
    )

    it(
      'copies in one group are settled by their leader, and each has its inbox row',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const copies = [makeClaim({ transactionId: 't' }), makeClaim({ transactionId: 't' })]
        const [credit, ghost] = await applyMembers(store, [
          makeMember(makeClaim({ transactionId: 't' }), copies),
          makeMember(makeClaim({ transactionId: 'g', user: 'ghost' }), [
            makeClaim({ transactionId: 'g', user: 'ghost' }),
          ]),
        ])
        assert.deepEqual(credit?.kind === 'settled' && credit.copies.map((copy) => copy.outcome), [
          'duplicate',
          'duplicate',
        ])
        assert.deepEqual(ghost?.kind === 'settled' && ghost.copies.map((copy) => copy.outcome), [
          'unknown_user',
        ])
        assert.equal(await balanceOf(store, 'u1'), 1_000n)
        assert.equal(
          (await store.listPostbacks({ transactionId: ['t'] }, { limit: 10, cursor: null })).items.length,
          3,
        )
      }),
    )

    it(
      'credits and reversals of one wallet in one group',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        for (let n = 0; n < 20; n += 1) await settleOne(store, makeClaim({ transactionId: `old${n}` }))
        await applyMembers(
          store,
          Array.from({ length: 20 }, (_, n) => [
            makeMember(makeClaim({ transactionId: `old${n}`, entry: 'reversal' })),
            makeMember(makeClaim({ transactionId: `new${n}`, amount: 7n, receivedAmount: '0.007' })),
          ]).flat(),
        )
        assert.equal(await balanceOf(store, 'u1'), 140n)
        await assertUnbroken(store, 'u1')
      }),
    )

    it(
      'a balance beyond the limit is held and costs its neighbours nothing',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('rich', MAX_BALANCE_MINOR - 500n)
        await addWallet('u1')
        const results = await applyMembers(store, [
          makeMember(makeClaim({ transactionId: 'a', user: 'rich' })),
          makeMember(makeClaim({ transactionId: 'b', user: 'rich', amount: 400n, receivedAmount: '0.4' })),
          makeMember(makeClaim({ transactionId: 'c' })),
        ])
        assert.deepEqual(
          results.map((result) => result.kind === 'settled' && [result.leader.outcome, result.leader.reason]),
          [
            ['held', 'balance_limit'],
            ['credited', null],
            ['credited', null],
          ],
        )
        assert.equal(await balanceOf(store, 'rich'), MAX_BALANCE_MINOR - 100n)
      }),
    )

    it(
      'a wallet of another lane comes back untouched',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await addWallet('u2')
        const result = await store.applyGroup(
          [
            makeMember(makeClaim({ transactionId: 'a' })),
            makeMember(makeClaim({ transactionId: 'b', user: 'u2' })),
          ],
          { waitMs: null, owns: (user) => user === 'u1' },
        )
        assert.ok(result.kind === 'applied')
        assert.deepEqual(result.results[1], { kind: 'elsewhere', user: 'u2' })
        assert.equal(await balanceOf(store, 'u1'), 1_000n)
        assert.deepEqual(await store.readTransaction('n', 'b'), [])
        assert.equal(
          (await store.listPostbacks({ transactionId: ['b'] }, { limit: 9, cursor: null })).items.length,
          0,
        )
      }),
    )

    it(
      'one outbox message for each entry that moves money, none for a copy or a tombstone',
      onFresh(
        open,
        async ({ store, addWallet, countMessages }) => {
          await addWallet('u1')
          for (const entry of ['credit', 'credit', 'reversal', 'reversal'] as const)
            await settleOne(store, makeClaim({ transactionId: 't', entry }))
          await settleOne(store, makeClaim({ transactionId: 'early', entry: 'reversal' }))
          assert.equal(await countMessages(), 2)
        },
        { outbox: true },
      ),
    )

    it(
      'two stores on one database: every key is booked once, whoever is first',
      onFresh(open, async ({ store, second, addWallet }) => {
        const other = await second()
        for (const user of ['u1', 'u2']) await addWallet(user)
        for (let round = 0; round < 15; round += 1) {
          const members = (): ReturnType<typeof makeMember>[] =>
            Array.from({ length: 6 }, (_, n) =>
              makeMember(makeClaim({ transactionId: `r${round}-${n}`, user: n % 2 === 0 ? 'u1' : 'u2' })),
            )
          const runs = await Promise.all([
            applyPatiently(store, members()),
            applyPatiently(other, members().reverse()),
          ])
          const outcomes = runs.flat()
          assert.equal(
            outcomes.filter((outcome) => outcome === 'credited').length,
            6,
            `round ${round}: ${outcomes.join()}`,
          )
          assert.equal(
            outcomes.filter((outcome) => outcome === 'duplicate').length,
            6,
            `round ${round}: ${outcomes.join()}`,
          )
        }
        assert.equal(await balanceOf(store, 'u1'), 45_000n)
        assert.equal(await balanceOf(store, 'u2'), 45_000n)
        await assertUnbroken(store, 'u1')
      }),
      60_000,
    )
  })
}

/** Applies members and tries again whatever passes: another store's locks, races and lock cycles. */
async function applyPatiently(
  store: Parameters<typeof applyMembers>[0],
  members: readonly ReturnType<typeof makeMember>[],
): Promise<string[]> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      const results = await applyMembers(store, members, 2_000)
      return results.map((result) => (result.kind === 'settled' ? result.leader.outcome : result.kind))
    } catch (error) {
      if (!(
        error instanceof Error &&
        'failure' in error &&
        ['retry', 'key_busy', 'wallet_busy'].includes(String(error.failure))
      ))
        throw error
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
    }
  }
  throw new Error('The group did not pass in 200 attempts.')
}

/** Reads a wallet's entries in their official order and checks each balance after. */
export async function assertUnbroken(store: Parameters<typeof balanceOf>[0], user: string): Promise<void> {
  const entries: { amount: bigint; balanceAfter: bigint | null }[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof store.listEntries>> = await store.listEntries(user, {
      limit: 100,
      cursor,
      cleared: true,
    })
    entries.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  let balance: bigint | null = null
  for (const { amount, balanceAfter } of entries.reverse()) {
    if (balanceAfter === null) continue
    if (balance !== null) assert.equal(balanceAfter, balance + amount)
    balance = balanceAfter
  }
  if (balance !== null) assert.equal(await balanceOf(store, user), balance)
}
