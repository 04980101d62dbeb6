/**
 * Wallets, adjustments, tests, settings and the audit on a real store.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { Adjustment, LedgerStore } from '../ledger/store.js'
import { makeClaim } from './claims.js'
import { balanceOf, onFresh, settleOne } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

const PAGE = { limit: 50, cursor: null }

export function accountsSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('accounts', () => {
    it(
      'a wallet is made once',
      onFresh(open, async ({ store }) => {
        assert.equal(await store.readWallet('u1'), null)
        assert.deepEqual([await store.createWallet('u1'), await store.createWallet('u1')], [true, false])
        assert.deepEqual(await store.readWallet('u1'), { user: 'u1', balance: 0n })
      }),
    )

    it(
      "the database's clock is told",
      onFresh(open, async ({ store }) => {
        assert.ok(Math.abs((await store.ping()).getTime() - Date.now()) < 5_000)
      }),
    )

    it(
      'wallets are listed in byte order, page by page',
      onFresh(open, async ({ store, addWallet }) => {
        for (const user of ['b', 'a', 'Z', 'é', 'ab']) await addWallet(user, user === 'ab' ? -5n : 1n)
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const page: Awaited<ReturnType<LedgerStore['listWallets']>> = await store.listWallets({
            limit: 2,
            cursor,
          })
          seen.push(...page.items.map((row) => row.user))
          cursor = page.nextCursor
        } while (cursor !== null)
        assert.deepEqual(seen, ['Z', 'a', 'ab', 'b', 'é'])
        assert.deepEqual(
          (await store.listWallets({ ...PAGE, prefix: 'a' })).items.map((row) => row.user),
          ['a', 'ab'],
        )
        assert.deepEqual((await store.listWallets({ ...PAGE, negative: true })).items, [
          { user: 'ab', balance: -5n },
        ])
      }),
    )

    it(
      'an adjustment is booked once by its key and never below zero unless told to',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const adjust = (part: Partial<Adjustment>): ReturnType<LedgerStore['adjust']> =>
          store.adjust({
            key: 'k1',
            user: 'u1',
            amount: 700n,
            reason: 'goodwill',
            actor: 'ada',
            overdraw: false,
            ...part,
          })
        const first = await adjust({})
        assert.ok(first.kind === 'booked')
        assert.deepEqual(
          [first.entry.amount, first.entry.balanceAfter, first.entry.actor, first.entry.reason],
          [700n, 700n, 'ada', 'goodwill'],
        )
        assert.equal((await adjust({})).kind, 'repeated')
        assert.equal((await adjust({ amount: 800n })).kind, 'key_conflict')
        assert.equal((await adjust({ key: 'k2', user: 'ghost' })).kind, 'unknown_user')
        assert.equal((await adjust({ key: 'k3', amount: -701n })).kind, 'insufficient_balance')
        assert.equal((await adjust({ key: 'k3', amount: -701n, overdraw: true })).kind, 'booked')
        assert.equal((await adjust({ key: 'k4', amount: 1n })).kind, 'booked')
        assert.equal((await adjust({ key: 'k5', amount: 9n * 10n ** 18n })).kind, 'booked')
        assert.equal((await adjust({ key: 'k6', amount: 9n * 10n ** 18n })).kind, 'balance_limit')
        assert.equal(await balanceOf(store, 'u1'), 9n * 10n ** 18n)
        const runs = await Promise.all(Array.from({ length: 8 }, () => adjust({ key: 'par', amount: -1n })))
        assert.equal(runs.filter((run) => run.kind === 'booked').length, 1)
        assert.equal(runs.filter((run) => run.kind === 'repeated').length, 7)
      }),
      20_000,
    )

    it(
      'entries are listed newest first, page by page',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        for (let n = 0; n < 5; n += 1) await settleOne(store, makeClaim({ transactionId: `t${n}` }))
        const first = await store.listEntries('u1', { limit: 3, cursor: null })
        const second = await store.listEntries('u1', { limit: 3, cursor: first.nextCursor })
        assert.deepEqual(
          [...first.items, ...second.items].map((entry) => entry.transactionId),
          ['t4', 't3', 't2', 't1', 't0'],
        )
        assert.equal(second.nextCursor, null)
      }),
    )

    it(
      'standing tests are found, and what was cleared is left out of lists',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 'real' }))
        await settleOne(store, makeClaim({ transactionId: 'test_1', test: true }))
        await settleOne(store, makeClaim({ transactionId: 'test_2', test: true, entry: 'reversal' }))
        const standing = await store.listStandingTests(null, 10)
        assert.deepEqual(
          standing.map(({ transactionId, credit }) => [transactionId, credit.user, credit.amount]),
          [['test_1', 'u1', 1_000n]],
        )
        assert.equal(await store.markTestsCleared(null), 2)
        await settleOne(store, makeClaim({ transactionId: 'test_1', test: true, entry: 'reversal' }))
        assert.equal(await store.markTestsCleared('n'), 2)
        assert.equal(await store.markTestsCleared(null), 0)
        assert.deepEqual(
          (await store.listEntries('u1', PAGE)).items.map((entry) => entry.transactionId),
          ['real'],
        )
        assert.equal((await store.listEntries('u1', { ...PAGE, cleared: true })).items.length, 5)
        assert.deepEqual(await store.listStandingTests('n', 10), [])
      }),
    )

    it(
      'a setting is claimed once and can be replaced',
      onFresh(open, async ({ store }) => {
        assert.equal(await store.readSetting('colour'), null)
        assert.equal(await store.claimSetting('colour', 'red'), 'red')
        assert.equal(await store.claimSetting('colour', 'blue'), 'red')
        await store.replaceSetting('colour', 'green')
        assert.equal(await store.readSetting('colour'), 'green')
        assert.equal(await store.readSetting('amount_scale'), '3')
      }),
    )

    it(
      'the id spaces in use are known',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 'a' }))
        await settleOne(store, makeClaim({ transactionId: 'b', network: 'm', idSpace: 'shared' }))
        await store.adjust({ key: 'k', user: 'u1', amount: 1n, reason: 'r', actor: 'a', overdraw: false })
        const used = [...(await store.usedIdSpaces())].sort((a, b) => (a.idSpace < b.idSpace ? -1 : 1))
        assert.deepEqual(used, [
          { idSpace: 'n', network: 'n' },
          { idSpace: 'shared', network: 'm' },
        ])
      }),
    )

    it(
      'the audit is clean on a right ledger and names a broken running balance',
      onFresh(open, async ({ store, addWallet, corruptBalanceAfter }) => {
        await addWallet('u1')
        await addWallet('u2')
        for (let n = 0; n < 4; n += 1) await settleOne(store, makeClaim({ transactionId: `t${n}` }))
        await settleOne(store, makeClaim({ transactionId: 't1', entry: 'reversal' }))
        await settleOne(store, makeClaim({ transactionId: 'none', user: 'ghost', entry: 'reversal' }))
        const wallets = (await store.auditWallets(null, 100)).items.filter(
          (row) => row.user === 'u1' || row.user === 'u2',
        )
        assert.deepEqual(wallets, [
          { user: 'u1', balance: 3_000n, ledgerTotal: 3_000n, lastBalanceAfter: 3_000n },
          { user: 'u2', balance: 0n, ledgerTotal: 0n, lastBalanceAfter: null },
        ])
        assert.deepEqual((await store.auditChains(null, 100)).items, [])
        assert.deepEqual((await store.auditPairs(null, 100)).items, [])
        await corruptBalanceAfter('u1')
        const breaks = (await store.auditChains(null, 100)).items
        assert.ok(breaks.length > 0 && breaks.every((fault) => fault.user === 'u1'))
      }),
    )
  })
}
