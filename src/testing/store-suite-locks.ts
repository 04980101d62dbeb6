/**
 * What a store does when somebody else holds a wallet or a key.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { StoreError } from '../errors.js'
import { makeClaim, makeMember } from './claims.js'
import { applyMembers, balanceOf, onFresh, settleOne } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner, SuiteStore } from './suite-store.js'

export function lockSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('locks', () => {
    it(
      'a wallet locked elsewhere is left out at once, the others are settled',
      onFresh(
        open,
        withLocks(async ({ store, addWallet, lockWallet }) => {
          await addWallet('u1')
          await addWallet('u2')
          const release = await lockWallet('u1')
          try {
            const started = performance.now()
            const results = await applyMembers(store, [
              makeMember(makeClaim({ transactionId: 'a' })),
              makeMember(makeClaim({ transactionId: 'b', user: 'u2' })),
              makeMember(makeClaim({ transactionId: 'c', user: 'ghost' })),
            ])
            assert.ok(performance.now() - started < 900)
            assert.deepEqual(
              results.map((result) => (result.kind === 'settled' ? result.leader.outcome : result.kind)),
              ['busy', 'credited', 'unknown_user'],
            )
            assert.deepEqual(await store.readTransaction('n', 'a'), [])
            assert.equal(
              (await store.listPostbacks({ transactionId: ['a'] }, { limit: 5, cursor: null })).items.length,
              0,
            )
          } finally {
            await release()
          }
          assert.equal((await settleOne(store, makeClaim({ transactionId: 'a' }))).outcome, 'credited')
          assert.equal(await balanceOf(store, 'u1'), 1_000n)
        }),
      ),
    )

    it(
      'a waiting group gets the wallet as soon as it is let go',
      onFresh(
        open,
        withLocks(async ({ store, addWallet, lockWallet }) => {
          await addWallet('u1')
          const release = await lockWallet('u1')
          const waiting = applyMembers(store, [makeMember(makeClaim({ transactionId: 'a' }))], 5_000)
          await new Promise((resolve) => setTimeout(resolve, 300))
          await release()
          const [result] = await waiting
          assert.ok(result?.kind === 'settled' && result.leader.outcome === 'credited')
        }),
      ),
    )

    it(
      'a waiting group gives up as "wallet_busy" and leaves nothing behind',
      onFresh(
        open,
        withLocks(async ({ store, addWallet, lockWallet }) => {
          await addWallet('u1')
          const release = await lockWallet('u1')
          try {
            await assert.rejects(
              applyMembers(store, [makeMember(makeClaim({ transactionId: 'a' }))], 600),
              isFailure('wallet_busy'),
            )
          } finally {
            await release()
          }
          assert.deepEqual(await store.readTransaction('n', 'a'), [])
          assert.equal(await balanceOf(store, 'u1'), 0n)
        }),
      ),
      15_000,
    )

    it(
      "an adjustment waits for its wallet's lock",
      onFresh(
        open,
        withLocks(async ({ store, addWallet, lockWallet }) => {
          await addWallet('u1')
          const release = await lockWallet('u1')
          let done = false
          const adjusting = store
            .adjust({ key: 'k', user: 'u1', amount: 5n, reason: 'r', actor: 'a', overdraw: false })
            .finally(() => (done = true))
          await new Promise((resolve) => setTimeout(resolve, 300))
          assert.equal(done, false)
          await release()
          assert.equal((await adjusting).kind, 'booked')
          assert.equal(await balanceOf(store, 'u1'), 5n)
        }),
      ),
    )

    it(
      'a key written and not committed elsewhere fails as "key_busy", and passes once it is rolled back',
      onFresh(open, async ({ store, addWallet, holdKey }) => {
        assert.ok(holdKey, 'A store with row locks is tested with holdKey.')
        await addWallet('u1')
        const release = await holdKey('n', 'a')
        try {
          await assert.rejects(
            applyMembers(store, [makeMember(makeClaim({ transactionId: 'a' }))]),
            isFailure('key_busy'),
          )
          assert.equal(await balanceOf(store, 'u1'), 0n)
        } finally {
          await release()
        }
        assert.equal((await settleOne(store, makeClaim({ transactionId: 'a' }))).outcome, 'credited')
        assert.equal(await balanceOf(store, 'u1'), 1_000n)
      }),
      15_000,
    )
  })
}

/** A store with row locks has to bring another session that holds one; without it a test would prove nothing. */
function withLocks(
  body: (suite: SuiteStore & { lockWallet: NonNullable<SuiteStore['lockWallet']> }) => Promise<void>,
): (suite: SuiteStore) => Promise<void> {
  return async (suite) => {
    const { lockWallet } = suite
    assert.ok(lockWallet, 'A store with row locks is tested with lockWallet.')
    await body({ ...suite, lockWallet })
  }
}

function isFailure(failure: StoreError['failure']): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.failure === failure
}
