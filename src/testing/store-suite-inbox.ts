/**
 * The inbox on a real store.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { PostbackFilter } from '../ledger/store.js'
import type { PostbackRow } from '../ledger/postback-row.js'
import type { Settled } from '../outcome.js'
import { makeClaim, makeMember, nextPostbackId, rowOf } from './claims.js'
import { applyMembers, onFresh, settleOne } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

const PAGE = { limit: 50, cursor: null }

export function inboxSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('inbox', () => {
    it(
      'a row is read back byte for byte',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const claim = makeClaim({ transactionId: 't', test: true })
        await settleOne(store, claim)
        const row = await store.readPostback(claim.postbackId)
        assert.deepEqual(row, {
          ...rowOf(claim, { outcome: 'credited', reason: null }),
          open: false,
          resolvedReason: null,
        })
        assert.equal(await store.readPostback(nextPostbackId()), null)
      }),
    )

    it(
      'calls without a claim are written alone and in groups',
      onFresh(open, async ({ store }) => {
        const fixed: Settled = { outcome: 'ignored', reason: 'status: 3' }
        const claim = makeClaim({ transactionId: 't' })
        const [result] = await applyMembers(store, [
          {
            leader: { id: claim.postbackId, claim: null, fixed, row: (settled) => rowOf(claim, settled) },
            copies: [],
          },
        ])
        assert.deepEqual(result, { kind: 'settled', leader: fixed, copies: [] })
        const forged = rejected({})
        await store.writePostbacks([forged])
        await store.writePostbacks([{ ...forged, reason: 'again' }])
        assert.equal((await store.readPostback(forged.id))?.reason, 'signature_mismatch')
        assert.deepEqual(
          (await store.listPostbacks({}, PAGE)).items.map((row) => row.outcome),
          ['bad_signature', 'ignored'],
        )
      }),
    )

    it(
      'rows are found by every filter, newest first and page by page',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 'tx_1' }))
        await settleOne(store, makeClaim({ transactionId: 'tx_2', user: 'ghost' }))
        await settleOne(store, makeClaim({ transactionId: 'txé', user: 'u%', network: 'm', idSpace: 'm' }))
        const march = new Date('2026-03-01T00:00:00Z')
        await store.writePostbacks([rejected({ id: nextPostbackId(march), receivedAt: march })])
        const find = async (filter: PostbackFilter): Promise<(string | null)[]> =>
          (await store.listPostbacks(filter, PAGE)).items.map((row) => row.transactionId)
        assert.deepEqual(await find({}), [null, 'txé', 'tx_2', 'tx_1'])
        assert.deepEqual(await find({ network: ['m'] }), ['txé'])
        assert.deepEqual(await find({ network: ['m', 'n'], user: ['ghost', 'u1'] }), ['tx_2', 'tx_1'])
        assert.deepEqual(await find({ outcome: ['credited'] }), ['tx_1'])
        assert.deepEqual(await find({ outcome: ['credited', 'bad_signature'] }), [null, 'tx_1'])
        assert.deepEqual(await find({ transactionId: ['tx_2'] }), ['tx_2'])
        assert.deepEqual(await find({ q: 'tx_' }), ['tx_2', 'tx_1'])
        assert.deepEqual(await find({ q: 'u%' }), ['txé'])
        assert.deepEqual(await find({ open: true }), ['txé', 'tx_2'])
        assert.deepEqual(await find({ open: false }), [null, 'tx_1'])
        assert.deepEqual(await find({ since: new Date('2026-03-01T00:00:00Z') }), [null])
        assert.deepEqual(await find({ until: new Date('2026-03-01T00:00:00Z') }), ['txé', 'tx_2', 'tx_1'])
        const first = await store.listPostbacks({}, { limit: 3, cursor: null })
        const rest = await store.listPostbacks({}, { limit: 3, cursor: first.nextCursor })
        assert.deepEqual(
          [first.items.length, rest.items.map((row) => row.transactionId), rest.nextCursor],
          [3, ['tx_1'], null],
        )
      }),
    )

    it(
      "an unknown user's call closes by itself once the same key is credited",
      onFresh(open, async ({ store, addWallet }) => {
        const early = makeClaim({ transactionId: 't' })
        await settleOne(store, early)
        assert.equal((await store.readPostback(early.postbackId))?.open, true)
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 't' }))
        assert.equal((await store.readPostback(early.postbackId))?.open, false)
        assert.deepEqual((await store.listPostbacks({ open: true }, PAGE)).items, [])
      }),
    )

    it(
      'a kept call is run again under its own id: booked once, its row rewritten',
      onFresh(open, async ({ store, addWallet }) => {
        const claim = makeClaim({ transactionId: 't' })
        await settleOne(store, claim)
        await addWallet('u1')
        assert.equal((await settleOne(store, claim)).outcome, 'credited')
        const row = await store.readPostback(claim.postbackId)
        assert.deepEqual([row?.outcome, row?.reason, row?.open], ['credited', null, false])
        assert.equal((await store.listPostbacks({}, PAGE)).items.length, 1)
      }),
    )

    it(
      'an open row is resolved once, with the reason',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 't' }))
        const changed = makeClaim({ transactionId: 't', amount: 9_000n, receivedAmount: '9' })
        assert.equal((await settleOne(store, changed)).outcome, 'conflict')
        assert.equal((await store.readPostback(changed.postbackId))?.open, true)
        assert.deepEqual(
          [
            await store.resolvePostback(changed.postbackId, 'asked the network'),
            await store.resolvePostback(changed.postbackId, 'again'),
          ],
          [true, false],
        )
        const row = await store.readPostback(changed.postbackId)
        assert.deepEqual([row?.open, row?.resolvedReason], [false, 'asked the network'])
      }),
    )

    it(
      'a resolved row stays closed when its call is run again',
      onFresh(open, async ({ store }) => {
        const claim = makeClaim({ transactionId: 't', user: 'ghost' })
        await settleOne(store, claim)
        assert.equal(await store.resolvePostback(claim.postbackId, 'the user is gone'), true)
        assert.equal((await settleOne(store, claim)).outcome, 'unknown_user')
        const row = await store.readPostback(claim.postbackId)
        assert.deepEqual([row?.open, row?.resolvedReason], [false, 'the user is gone'])
        assert.deepEqual((await store.listPostbacks({ open: true }, PAGE)).items, [])
      }),
    )

    it(
      'a transaction is found by its id and by its key, also when its call was pruned',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const transactionKey = 'tx9\u001fgoal1'
        await settleOne(store, makeClaim({ transactionId: 'tx9', transactionKey }))
        await settleOne(store, makeClaim({ transactionId: 'tx9', transactionKey: 'tx9' }))
        await settleOne(store, makeClaim({ transactionId: 'tx9', idSpace: 'other' }))
        await store.prunePostbacks({ verified: true, before: new Date('2027-01-01T00:00:00Z'), limit: 10 })
        assert.deepEqual((await store.listPostbacks({}, PAGE)).items, [])
        const keysOf = async (id: string): Promise<string[]> =>
          (await store.readTransaction('n', id)).map((entry) => entry.transactionKey)
        assert.deepEqual(await keysOf('tx9'), [transactionKey, 'tx9'])
        assert.deepEqual(await keysOf(transactionKey), [transactionKey])
        assert.deepEqual(await keysOf('tx'), [])
      }),
    )

    it(
      'an odd address or method never costs a reward its row',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const odd = { ip: `fe80::1%é\u0000${'x'.repeat(300)}`, method: `PÖST${'x'.repeat(300)}` }
        const claim = makeClaim({ transactionId: 't' })
        const member = makeMember(claim)
        const leader = {
          ...member.leader,
          row: (settled: Settled): PostbackRow => ({ ...rowOf(claim, settled), ...odd }),
        }
        await applyMembers(store, [{ ...member, leader }])
        const alone = rejected(odd)
        await store.writePostbacks([alone])
        for (const id of [claim.postbackId, alone.id]) {
          const row = await store.readPostback(id)
          assert.deepEqual([row?.ip, row?.method], [`fe80::1%??${'x'.repeat(54)}`, `P?ST${'x'.repeat(28)}`])
        }
      }),
    )

    it(
      'the answer that really left can be put right',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const claim = makeClaim({ transactionId: 't' })
        await settleOne(store, claim)
        await store.correctAnswers([{ id: claim.postbackId, answer: { status: 503, body: 'later' } }])
        assert.deepEqual((await store.readPostback(claim.postbackId))?.answer, { status: 503, body: 'later' })
      }),
    )

    it(
      'old rows are pruned in small batches; what somebody has to decide stays',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        for (let n = 0; n < 3; n += 1) await settleOne(store, makeClaim({ transactionId: `t${n}` }))
        const changed = makeClaim({ transactionId: 't1', amount: 9_000n, receivedAmount: '9' })
        assert.equal((await settleOne(store, changed)).outcome, 'conflict')
        const held = makeClaim({ transactionId: 'h', gate: { kind: 'hold', reason: 'over_limit' } })
        assert.equal((await settleOne(store, held)).outcome, 'held')
        // Their networks were told that nothing was delivered: open, and yet nothing was promised.
        assert.equal(
          (await settleOne(store, makeClaim({ transactionId: 'g', user: 'ghost' }))).outcome,
          'unknown_user',
        )
        await store.writePostbacks([
          rejected({}),
          { ...rejected({}), outcome: 'malformed', verified: true, open: true },
        ])
        const before = new Date('2027-01-01T00:00:00Z')
        const prune = (verified: boolean, at = before): Promise<number> =>
          store.prunePostbacks({ verified, before: at, limit: 3 })
        assert.equal(await prune(true, new Date('2026-01-01T00:00:00Z')), 0)
        assert.deepEqual([await prune(true), await prune(true), await prune(true)], [3, 2, 0])
        assert.deepEqual(
          (await store.listPostbacks({}, PAGE)).items.map((row) => row.outcome),
          ['bad_signature', 'held', 'conflict'],
        )
        assert.equal(await prune(false), 1)
      }),
    )

    it(
      'addresses that delivered a verified call are known',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await settleOne(store, makeClaim({ transactionId: 'a' }))
        await settleOne(store, makeClaim({ transactionId: 'b' }))
        await store.writePostbacks([rejected({ ip: '198.51.100.9' })])
        assert.deepEqual(await store.verifiedAddresses(new Date('2026-01-01T00:00:00Z'), 10), [
          { network: 'n', ip: '203.0.113.7' },
        ])
        assert.deepEqual(await store.verifiedAddresses(new Date('2026-02-01T00:00:00Z'), 10), [])
      }),
    )

    it(
      "a copy's row is committed with it",
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const leader = makeClaim({ transactionId: 't' })
        const copy = makeClaim({ transactionId: 't' })
        await applyMembers(store, [makeMember(leader, [copy])])
        assert.equal((await store.readPostback(copy.postbackId))?.outcome, 'duplicate')
      }),
    )
  })
}

/** A call that could not be verified, with nothing in it that could be read. */
function rejected(part: Partial<PostbackRow>): PostbackRow {
  const claim = makeClaim({ transactionId: 'x' })
  return {
    ...rowOf(claim, { outcome: 'bad_signature', reason: 'signature_mismatch' }),
    verified: false,
    transactionId: null,
    idSpace: null,
    transactionKey: null,
    entry: null,
    user: null,
    amount: null,
    answer: { status: 403, body: 'bad signature' },
    ...part,
  }
}
