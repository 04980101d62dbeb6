import { describe, expect, it } from 'vitest'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { openFileStore } from './sqlite-files.js'

const OPTIONS = { waitMs: null, owns: () => true } as const

describe('groups that a thread writes', () => {
  it('take turns with what is written beside them', async () => {
    const { store, close } = await openFileStore({ unknownUser: 'create' })
    try {
      let busy = true
      const groups = (async () => {
        for (let n = 0; n < 60; n += 1) {
          const group = Array.from({ length: 20 }, (_, m) =>
            makeMember(makeClaim({ transactionId: `t${n}-${m}`, user: `u${m}` })),
          )
          expect((await store.applyGroup(group, OPTIONS)).kind).toBe('applied')
        }
        busy = false
      })()
      let written = 0
      while (busy) {
        expect(await store.createWallet(`beside${written}`)).toBe(true)
        written += 1
      }
      await groups
      expect(written).toBeGreaterThan(10)
      const [first] = (await store.listEntries('u0', { cursor: null, limit: 1 })).items
      expect(first?.balanceAfter).toBe((await store.readWallet('u0'))?.balance)
      expect(await store.auditChains(null, 100)).toEqual({ items: [], next: null })
    } finally {
      await close()
    }
  })

  it('somebody else who writes meanwhile leaves every balance right', async () => {
    const { store, raw, close } = await openFileStore({ unknownUser: 'create' })
    try {
      await store.applyGroup([makeMember(makeClaim({ transactionId: 'a', user: 'u' }))], OPTIONS)
      const group = [makeMember(makeClaim({ transactionId: 'b', user: 'u' }))]
      // The group has been laid out when this line is reached; its thread has yet to start on it.
      raw.exec('begin immediate')
      const result = store.applyGroup(group, OPTIONS)
      raw.exec('update paidonce_wallets set balance = balance + 7')
      raw.exec('commit')
      // The thread met the lock, or what was written under it, whichever was faster.
      const seen: unknown = await result.catch((error: unknown) => error)
      if (!('kind' in (seen as object))) {
        expect(seen).toMatchObject({ failure: 'retry' })
        expect(await store.readTransaction('n', 'b')).toEqual([])
        expect((await store.applyGroup(group, OPTIONS)).kind).toBe('applied')
      }
      const [entry] = await store.readTransaction('n', 'b')
      expect(entry?.balanceAfter).toBe(2_007n)
      expect(await store.auditChains(null, 100)).toMatchObject({ items: [{ user: 'u' }] })
    } finally {
      await close()
    }
  })

  it('what was booked lately is credited again where the file lost it', async () => {
    const { store, raw, close } = await openFileStore({ unknownUser: 'create', outbox: true })
    const group = () =>
      ['a', 'b'].map((transactionId) => makeMember(makeClaim({ transactionId, user: transactionId })))
    const outcomesOf = async (): Promise<unknown[]> => {
      const result = await store.applyGroup(group(), OPTIONS)
      return result.kind === 'applied'
        ? result.results.map((one) => one.kind === 'settled' && one.leader)
        : []
    }
    try {
      await outcomesOf()
      expect(await outcomesOf()).toMatchObject([{ outcome: 'duplicate' }, { outcome: 'duplicate' }])
      raw.exec("delete from paidonce_ledger where user_id = 'b'; update paidonce_wallets set balance = 0")
      expect(await outcomesOf()).toMatchObject([{ outcome: 'duplicate' }, { outcome: 'credited' }])
      expect((await store.readWallet('b'))?.balance).toBe(1_000n)
      expect(raw.prepare("select count(*) as n from paidonce_settings where name = 'unknown'").get()).toEqual(
        {
          n: 0n,
        },
      )
    } finally {
      await close()
    }
  })

  it('a balance near its limit is judged before it is written', async () => {
    const { store, raw, close } = await openFileStore({ unknownUser: 'create' })
    const book = async (transactionId: string): Promise<unknown> =>
      store.applyGroup([makeMember(makeClaim({ transactionId, user: 'u' }))], OPTIONS)
    try {
      await book('a')
      raw.exec('update paidonce_wallets set balance = 8999999999999999999')
      expect(await book('b')).toMatchObject({ results: [{ leader: { outcome: 'held' } }] })
      raw.exec('update paidonce_wallets set balance = 8999999999999998999')
      expect(await book('c')).toMatchObject({ results: [{ leader: { outcome: 'credited' } }] })
      expect((await store.readWallet('u'))?.balance).toBe(8_999_999_999_999_999_999n)
    } finally {
      await close()
    }
  })

  it('finds what is stored of keys that JSON would change', async () => {
    const { store, close } = await openFileStore({ unknownUser: 'create' })
    try {
      for (const transactionId of ['plain', 'quo"te\\u0000', '\u{1f4b0}', 'nul\u0000', 'é']) {
        const claims = [
          makeClaim({ transactionId, user: 'u' }),
          makeClaim({ transactionId: `${transactionId}2` }),
        ]
        const outcomes = []
        for (let n = 0; n < 2; n += 1) {
          const result = await store.applyGroup(
            claims.map((claim) => makeMember(claim)),
            OPTIONS,
          )
          outcomes.push(result.kind === 'applied' ? result.results.map((one) => one.kind) : result.kind)
        }
        expect(outcomes, transactionId).toEqual([
          ['settled', 'settled'],
          ['settled', 'settled'],
        ])
        expect(await store.readTransaction('n', transactionId)).toHaveLength(1)
      }
    } finally {
      await close()
    }
  })

  it('a balance that a trigger keeps from changing is refused, and says so', async () => {
    const { store, raw, close } = await openFileStore({ unknownUser: 'create' })
    try {
      await store.createWallet('kept')
      raw.exec(
        `create trigger keep before update on paidonce_wallets when old.user_id = 'kept' begin select raise(ignore); end`,
      )
      const group = [makeMember(makeClaim({ transactionId: 'a', user: 'kept' }))]
      await expect(store.applyGroup(group, OPTIONS)).rejects.toMatchObject({ failure: 'refused' })
      expect(await store.readTransaction('n', 'a')).toEqual([])
    } finally {
      await close()
    }
  })
})
