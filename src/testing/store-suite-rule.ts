/**
 * The rule on a real store: every row of the table, alone and in sequence.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { Outcome } from '../outcome.js'
import { makeClaim } from './claims.js'
import { balanceOf, onFresh, settleOne } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

type Arrival = 'credit' | 'other amount' | 'other user' | 'other unit' | 'reversal'

/** What arrives one after another for one transaction, what each becomes, and the balance of u1 that must result. */
const SEQUENCES: readonly (readonly [readonly (readonly [Arrival, Outcome])[], bigint])[] = [
  [[['credit', 'credited']], 5_000n],
  [
    [
      ['credit', 'credited'],
      ['credit', 'duplicate'],
      ['credit', 'duplicate'],
    ],
    5_000n,
  ],
  [
    [
      ['credit', 'credited'],
      ['other amount', 'conflict'],
      ['credit', 'duplicate'],
    ],
    5_000n,
  ],
  [
    [
      ['credit', 'credited'],
      ['other user', 'conflict'],
    ],
    5_000n,
  ],
  [
    [
      ['credit', 'credited'],
      ['other unit', 'conflict'],
    ],
    5_000n,
  ],
  [
    [
      ['credit', 'credited'],
      ['reversal', 'reversed'],
    ],
    0n,
  ],
  [
    [
      ['credit', 'credited'],
      ['reversal', 'reversed'],
      ['reversal', 'already_reversed'],
    ],
    0n,
  ],
  [
    [
      ['credit', 'credited'],
      ['reversal', 'reversed'],
      ['credit', 'duplicate'],
      ['other amount', 'conflict'],
    ],
    0n,
  ],
  [
    [
      ['credit', 'credited'],
      ['reversal', 'reversed'],
      ['other user', 'conflict'],
    ],
    0n,
  ],
  [
    [
      ['reversal', 'tombstoned'],
      ['credit', 'tombstoned'],
      ['reversal', 'already_reversed'],
    ],
    0n,
  ],
  [
    [
      ['reversal', 'tombstoned'],
      ['reversal', 'already_reversed'],
      ['other amount', 'tombstoned'],
    ],
    0n,
  ],
  [
    [
      ['other user', 'credited'],
      ['credit', 'conflict'],
      ['reversal', 'reversed'],
    ],
    0n,
  ],
]

export function ruleSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('the rule', () => {
    for (const [steps, balance] of SEQUENCES) {
      const title = steps.map(([arrival, outcome]) => `${arrival} → ${outcome}`).join(', ')
      it(
        title,
        onFresh(open, async ({ store, addWallet }) => {
          await addWallet('u1')
          await addWallet('u2')
          for (const [arrival, outcome] of steps) {
            assert.equal(
              (await settleOne(store, arrive(arrival))).outcome,
              outcome,
              `${arrival} in: ${title}`,
            )
          }
          assert.equal(await balanceOf(store, 'u1'), balance)
          const total = await ledgerTotal(store)
          assert.equal((await balanceOf(store, 'u1')) + (await balanceOf(store, 'u2')), total)
        }),
      )
    }

    it(
      'an unknown user leaves nothing behind, and the same claim is credited once the user exists',
      onFresh(open, async ({ store, addWallet }) => {
        assert.deepEqual(await settleOne(store, arrive('credit')), {
          outcome: 'unknown_user',
          reason: 'unknown_user',
        })
        assert.deepEqual(await store.readTransaction('n', 't'), [])
        await addWallet('u1')
        assert.equal((await settleOne(store, arrive('credit'))).outcome, 'credited')
        assert.equal(await balanceOf(store, 'u1'), 5_000n)
      }),
    )

    it(
      'unknownUser "hold" keeps the call',
      onFresh(
        open,
        async ({ store }) => {
          assert.deepEqual(await settleOne(store, arrive('credit')), {
            outcome: 'held',
            reason: 'unknown_user',
          })
          assert.deepEqual(await store.readTransaction('n', 't'), [])
        },
        { unknownUser: 'hold' },
      ),
    )

    it(
      'unknownUser "create" makes the wallet',
      onFresh(
        open,
        async ({ store }) => {
          assert.equal((await settleOne(store, arrive('credit'))).outcome, 'credited')
          assert.equal(await balanceOf(store, 'u1'), 5_000n)
        },
        { unknownUser: 'create' },
      ),
    )

    it(
      'a reversal of nothing for a user without a wallet is recorded, and its late credit pays nothing',
      onFresh(open, async ({ store, addWallet }) => {
        assert.equal((await settleOne(store, arrive('reversal'))).outcome, 'tombstoned')
        const entries = await store.readTransaction('n', 't')
        assert.deepEqual(
          entries.map(({ entry, amount, decision, balanceAfter }) => [entry, amount, decision, balanceAfter]),
          [
            ['credit', 0n, 'tombstone', null],
            ['reversal', 0n, 'tombstone', null],
          ],
        )
        await addWallet('u1')
        assert.equal((await settleOne(store, arrive('credit'))).outcome, 'tombstoned')
        assert.equal(await balanceOf(store, 'u1'), 0n)
      }),
    )

    it(
      'a reversal takes user and amount from the stored credit, below zero if need be',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        await addWallet('u2', 9_000n)
        await settleOne(store, arrive('credit'))
        await store.adjust({
          key: 'spent',
          user: 'u1',
          amount: -4_500n,
          reason: 'spent',
          actor: 'suite',
          overdraw: false,
        })
        const reversal = { ...arrive('reversal'), user: 'u2', amount: 1n, receivedAmount: '0.001' }
        assert.deepEqual(await settleOne(store, reversal), {
          outcome: 'reversed',
          reason: 'reversal_names_other_user',
        })
        assert.equal(await balanceOf(store, 'u1'), -4_500n)
        assert.equal(await balanceOf(store, 'u2'), 9_000n)
      }),
    )

    it(
      'a reversal whose wallet is gone is booked as an orphan and moves no balance',
      onFresh(open, async ({ store, addWallet, removeWallet }) => {
        await addWallet('u1')
        await settleOne(store, arrive('credit'))
        await removeWallet('u1')
        assert.deepEqual(await settleOne(store, arrive('reversal')), {
          outcome: 'reversed',
          reason: 'wallet_gone',
        })
        const [, reversal] = await store.readTransaction('n', 't')
        assert.deepEqual(
          [reversal?.amount, reversal?.decision, reversal?.balanceAfter],
          [-5_000n, 'orphan', null],
        )
        assert.equal((await settleOne(store, arrive('reversal'))).outcome, 'already_reversed')
      }),
    )

    it(
      'a refusal is recorded once and for ever, but never sticks to a user who does not exist yet',
      onFresh(open, async ({ store, addWallet }) => {
        const refuse = { kind: 'refuse', reason: 'blocked_offer' } as const
        assert.equal((await settleOne(store, { ...arrive('credit'), gate: refuse })).outcome, 'unknown_user')
        await addWallet('u1')
        assert.deepEqual(await settleOne(store, { ...arrive('credit'), gate: refuse }), {
          outcome: 'refused',
          reason: 'blocked_offer',
        })
        assert.equal((await settleOne(store, arrive('credit'))).outcome, 'refused')
        assert.equal((await settleOne(store, arrive('reversal'))).outcome, 'already_reversed')
        assert.equal(await balanceOf(store, 'u1'), 0n)
      }),
    )

    it(
      'a held claim uses up no key, and stored rows are judged before the hold',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const hold = { kind: 'hold', reason: 'paused' } as const
        assert.deepEqual(await settleOne(store, { ...arrive('credit'), gate: hold }), {
          outcome: 'held',
          reason: 'paused',
        })
        assert.equal((await settleOne(store, arrive('credit'))).outcome, 'credited')
        assert.equal((await settleOne(store, { ...arrive('credit'), gate: hold })).outcome, 'duplicate')
        assert.equal((await settleOne(store, { ...arrive('reversal'), gate: hold })).outcome, 'held')
        assert.equal(await balanceOf(store, 'u1'), 5_000n)
      }),
    )

    it(
      'a test is booked where tests are credited and recorded where they are not',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        assert.equal((await settleOne(store, { ...arrive('credit'), test: true })).outcome, 'credited')
        const recorded = { ...makeClaim({ transactionId: 't2' }), test: true, recordOnly: true }
        assert.equal((await settleOne(store, recorded)).outcome, 'test')
        assert.equal(await balanceOf(store, 'u1'), 5_000n)
        assert.equal((await store.readTransaction('n', 't'))[0]?.test, true)
        assert.deepEqual(await store.readTransaction('n', 't2'), [])
      }),
    )

    it(
      'a re-run of the same postback takes the outcome it had',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('u1')
        const credit = arrive('credit')
        const reversal = arrive('reversal')
        const early = makeClaim({ transactionId: 'early', entry: 'reversal' })
        for (const [claim, outcome] of [
          [credit, 'credited'],
          [reversal, 'reversed'],
          [early, 'tombstoned'],
        ] as const) {
          assert.equal((await settleOne(store, claim)).outcome, outcome)
          assert.equal((await settleOne(store, claim)).outcome, outcome)
        }
        assert.equal((await store.readTransaction('n', 't')).length, 2)
        assert.equal(await balanceOf(store, 'u1'), 0n)
      }),
    )

    it(
      'ids are compared byte for byte: C34, C36, trailing spaces, composed and decomposed letters',
      onFresh(open, async ({ store, addWallet }) => {
        const ids = [
          'aBcD12',
          'ABCD12',
          'abcd12',
          'a',
          'a ',
          ' a',
          'á',
          'a\u0301',
          'ß',
          'ss',
          '😀',
          '😁',
          'n1',
          'ñ1',
          '1',
          '01',
          'x'.repeat(255),
          `${'x'.repeat(254)}y`,
        ]
        for (const id of ids) await addWallet(id)
        for (const id of ids) {
          assert.equal(
            (await settleOne(store, makeClaim({ transactionId: id, user: id }))).outcome,
            'credited',
            id,
          )
        }
        for (const id of ids) {
          assert.equal(await balanceOf(store, id), 1_000n, id)
          assert.equal(
            (await settleOne(store, makeClaim({ transactionId: id, user: id }))).outcome,
            'duplicate',
            id,
          )
        }
      }),
    )

    it(
      'an amount keeps every digit, and every field is read back as it was written',
      onFresh(open, async ({ store, addWallet }) => {
        await addWallet('josé')
        const claim = makeClaim({
          transactionId: 't',
          user: 'josé',
          amount: 999_999_999_999_999n,
          receivedAmount: '9007199254740993.000000000000000000000000000001',
          unit: 'usd',
          rate: '0.001',
          eventId: 'e 1',
          offer: 'Win \' \\ " € 🎁 %_',
          payout: '1.25',
          test: true,
        })
        await settleOne(store, claim)
        const [entry] = (await store.listEntries('josé', { limit: 10, cursor: null })).items
        assert.ok(entry)
        const { id, createdAt, ...rest } = entry
        assert.match(id, /^\d+$/)
        assert.ok(Math.abs(createdAt.getTime() - Date.now()) < 60_000)
        assert.deepEqual(rest, {
          idSpace: 'n',
          network: 'n',
          transactionKey: 't',
          transactionId: 't',
          entry: 'credit',
          user: 'josé',
          amount: 999_999_999_999_999n,
          balanceAfter: 999_999_999_999_999n,
          decision: 'booked',
          reason: null,
          test: true,
          imported: false,
          cleared: false,
          postbackId: claim.postbackId,
          eventId: 'e 1',
          offer: 'Win \' \\ " € 🎁 %_',
          payout: '1.25',
          receivedAmount: '9007199254740993.000000000000000000000000000001',
          unit: 'usd',
          rate: '0.001',
          actor: null,
        })
      }),
    )
  })
}

function arrive(arrival: Arrival): ReturnType<typeof makeClaim> {
  const credit = makeClaim({ transactionId: 't', amount: 5_000n, receivedAmount: '5' })
  switch (arrival) {
    case 'credit':
      return credit
    case 'other amount':
      return { ...credit, amount: 9_000n, receivedAmount: '9' }
    case 'other user':
      return { ...credit, user: 'u2' }
    case 'other unit':
      return { ...credit, unit: 'usd' }
    case 'reversal':
      return { ...credit, entry: 'reversal' }
  }
}

async function ledgerTotal(store: Parameters<typeof settleOne>[0]): Promise<bigint> {
  const entries = await store.readTransaction('n', 't')
  return entries.reduce((sum, entry) => sum + entry.amount, 0n)
}
