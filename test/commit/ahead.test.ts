/**
 * A store that takes a group before it has answered the last one.
 *
 * @module
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { createCommitter, type Committer } from '../../src/commit/committer.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { makeClaim, makeItem } from '../../src/testing/claims.js'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('groups that leave ahead', () => {
  let sent: { readonly keys: readonly string[]; readonly go: () => void }[]
  let committer: Committer
  let answers: Promise<string>[]

  beforeEach(() => {
    sent = []
    answers = []
    const memory = memoryStore()
    memory.state.wallets.set('u1', 0n)
    const store = new Proxy<LedgerStore>(memory, {
      get(target, name, receiver): unknown {
        if (name === 'ahead') return 2
        if (name !== 'applyGroup') return Reflect.get(target, name, receiver)
        const apply: LedgerStore['applyGroup'] = async (members, options) => {
          const keys = members.map(({ leader }) => leader.claim?.transactionKey ?? '')
          await new Promise<void>((resolve) => sent.push({ keys, go: resolve }))
          return target.applyGroup(members, options)
        }
        return apply
      },
    })
    committer = createCommitter(store)
  })

  const submit = async (...keys: string[]): Promise<void> => {
    for (const key of keys) {
      const answer = committer.submit(
        makeItem(makeClaim({ transactionId: key })),
        1,
        performance.now() + 4_000,
      )
      answers.push(answer.then(({ settled }) => settled.outcome))
    }
    await turn()
    await turn()
  }
  const groups = (): (readonly string[])[] => sent.map(({ keys }) => keys)
  /** Lets every group go, also those that follow. */
  const finish = async (): Promise<readonly string[]> => {
    let done = false
    const all = Promise.all(answers).finally(() => (done = true))
    while (!done) {
      for (const { go } of sent) go()
      await turn()
    }
    return all
  }

  it('are two at most, and the second is half as large as the first at least', async () => {
    await submit('a', 'b', 'c', 'd')
    await submit('e')
    expect(groups()).toEqual([['a', 'b', 'c', 'd']])
    await submit('f')
    expect(groups()).toEqual([
      ['a', 'b', 'c', 'd'],
      ['e', 'f'],
    ])
    await submit('g', 'h', 'i')
    expect(groups()).toHaveLength(2)
    sent[0]?.go()
    await turn()
    expect(groups()[2]).toEqual(['g', 'h', 'i'])
    expect(new Set(await finish())).toEqual(new Set(['credited']))
    await committer.drain()
    expect(committer.status().pending).toBe(0)
  })

  it('never hold a key twice: its copy waits for the first call', async () => {
    await submit('a', 'b')
    await submit('a', 'c')
    expect(groups()).toEqual([['a', 'b'], ['c']])
    sent[0]?.go()
    await turn()
    await turn()
    sent[1]?.go()
    for (let turns = 0; sent.length < 3 && turns < 50; turns += 1) await turn()
    expect(groups()[2]).toEqual(['a'])
    expect(await finish()).toEqual(['credited', 'credited', 'duplicate', 'credited'])
  })

  it('leave nothing behind when a small rest is left', async () => {
    await submit('a', 'b', 'c', 'd')
    await submit('e', 'f', 'g', 'h')
    await submit('i')
    sent[0]?.go()
    for (let turns = 0; turns < 10; turns += 1) await turn()
    expect(groups()).toHaveLength(2)
    sent[1]?.go()
    for (let turns = 0; turns < 10; turns += 1) await turn()
    expect(groups()[2]).toEqual(['i'])
    expect(await finish()).toHaveLength(9)
  })
})
