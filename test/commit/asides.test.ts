import { describe, expect, it } from 'vitest'
import { createCommitter, type Committer } from '../../src/commit/committer.js'
import type { Settlement } from '../../src/commit/pending.js'
import { StoreError } from '../../src/errors.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import type { Claim } from '../../src/ledger/types.js'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/index.js'
import { makeClaim, makeItem } from '../../src/testing/index.js'

function submit(committer: Committer, claim: Claim, milliseconds = 4_000): Promise<Settlement> {
  return committer.submit(makeItem(claim), 100, performance.now() + milliseconds)
}

function storeWith(users: readonly string[]): MemoryStore {
  const store = memoryStore({ lanes: 2 })
  for (const user of users) store.state.wallets.set(user, 0n)
  return store
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

describe('wallets and keys that somebody else holds', () => {
  it('many wallets locked for long do not keep one that was let go from being found', async () => {
    const held = Array.from({ length: 12 }, (_, n) => `held${n}`)
    const store = storeWith([...held, 'free'])
    const committer = createCommitter(store)
    const releases = held.map((user) => store.hold({ user }))
    const stuck = held.map((user) =>
      submit(committer, makeClaim({ transactionId: `t-${user}`, user }), 2_500),
    )
    const letGo = store.hold({ user: 'free' })
    const answer = submit(committer, makeClaim({ transactionId: 't-free', user: 'free' }))
    await pause(200)
    const started = performance.now()
    letGo()
    expect((await answer).settled.outcome).toBe('credited')
    expect(performance.now() - started).toBeLessThan(300)
    const next = await submit(committer, makeClaim({ transactionId: 't-free-2', user: 'free' }))
    expect(next.settled.outcome).toBe('credited')
    releases[0]?.()
    expect((await stuck[0])?.settled.outcome).toBe('credited')
    for (const release of releases) release()
    await committer.drain()
    await pause(50)
    expect(committer.status()).toMatchObject({ pending: 0, asides: 0 })
  })

  it('many busy keys take turns, and a key that is free again is booked', async () => {
    const store = storeWith(['u1'])
    const committer = createCommitter(store)
    const keys = Array.from({ length: 6 }, (_, n) => `k${n}`)
    const releases = keys.map((key) => store.hold({ idSpace: 'n', transactionKey: key, entry: 'credit' }))
    const answers = keys.map((key) => submit(committer, makeClaim({ transactionId: key }), 6_000))
    await pause(1_200)
    expect(committer.status().asides).toBe(6)
    expect((await submit(committer, makeClaim({ transactionId: 'other' }))).settled.outcome).toBe('credited')
    for (const release of releases) release()
    expect(new Set((await Promise.all(answers)).map(({ settled }) => settled.outcome))).toEqual(
      new Set(['credited']),
    )
  }, 15_000)

  it('a copy that came later than its leader is not dropped with it', async () => {
    const store = storeWith(['u1'])
    const committer = createCommitter(store)
    const letGo = store.hold({ user: 'u1' })
    const first = submit(committer, makeClaim({ transactionId: 't' }), 300)
    const copy = submit(committer, makeClaim({ transactionId: 't' }), 3_000)
    expect((await first).settled.outcome).toBe('overloaded')
    await pause(300)
    letGo()
    expect((await copy).settled.outcome).toBe('credited')
  })

  it('nor with a leader that was answered while its key was waited for', async () => {
    const store = storeWith(['u1'])
    const committer = createCommitter(store)
    const letGo = store.hold({ idSpace: 'n', transactionKey: 't', entry: 'credit' })
    const first = submit(committer, makeClaim({ transactionId: 't' }), 400)
    const copy = submit(committer, makeClaim({ transactionId: 't' }), 3_000)
    const other = submit(
      committer,
      makeClaim({ transactionId: 't', amount: 9n, receivedAmount: '0.009' }),
      3_000,
    )
    expect((await first).settled.outcome).toBe('overloaded')
    await pause(300)
    letGo()
    expect((await copy).settled.outcome).toBe('credited')
    expect((await other).settled.outcome).toBe('conflict')
    await committer.drain()
    expect(committer.status().pending).toBe(0)
  })

  it('a store that cannot wait is not asked again and again without a pause', async () => {
    let asked = 0
    const inner = storeWith(['u1'])
    const store: LedgerStore = {
      ...inner,
      applyGroup: async (members, options) => {
        asked += 1
        if (options.waitMs !== null) throw new StoreError('wallet_busy', 'It appeared meanwhile.')
        return { kind: 'applied', results: members.map(() => ({ kind: 'busy', user: 'u1' })) }
      },
    }
    const committer = createCommitter(store)
    expect((await submit(committer, makeClaim({ transactionId: 't' }), 1_000)).settled.outcome).toBe(
      'overloaded',
    )
    await committer.drain()
    expect(asked).toBeLessThan(40)
  })
})
