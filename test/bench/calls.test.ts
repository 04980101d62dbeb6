import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  callAt,
  countKinds,
  kindAt,
  SECRET,
  signedPath,
  userName,
  type CallPlan,
} from '../../bench/load/calls.js'
import { createUrlFiles } from '../../bench/load/url-file.js'
import { planOf } from '../../bench/one-run.js'
import { createReceiver } from '../../src/receiver/create-receiver.js'
import { memoryStore } from '../../src/stores/memory/index.js'

const SPREAD = planOf('spread')
const MIXED: CallPlan = { ...planOf('mixed'), wallets: { first: 1, last: 50 } }

/** What the product makes of a call. */
async function receive(paths: readonly string[]): Promise<{ statuses: number[]; outcomes: string[] }> {
  const store = memoryStore()
  for (let wallet = 1; wallet <= 50; wallet += 1) store.state.wallets.set(userName(wallet), 0n)
  const receiver = createReceiver({ store, networks: { sharklio: { profile: 'sharklio', secret: SECRET } } })
  const statuses = []
  for (const url of paths) {
    const request = { method: 'GET', url, headers: {}, body: new Uint8Array(), remoteAddress: '127.0.0.1' }
    statuses.push((await receiver.handle(request)).status)
  }
  await receiver.close()
  return { statuses, outcomes: [...store.state.postbacks.values()].map(({ outcome }) => outcome) }
}

describe('a signed call', () => {
  it('is accepted by the product, and a forged one is not', async () => {
    const call = callAt(MIXED, 0)
    const { statuses } = await receive([
      signedPath(call),
      signedPath({ ...call, tx: 'other', kind: 'forged' }),
    ])
    expect(statuses).toEqual([200, 403])
  })

  it('of each kind comes to what the kind says', async () => {
    const calls = Array.from({ length: 1_500 }, (_, index) => callAt(MIXED, index))
    const { statuses, outcomes } = await receive(calls.map(signedPath))
    const expected = { credit: 'booked', copy: 'duplicate', reversal: 'booked', forged: null }
    expect(statuses).toEqual(calls.map(({ kind }) => (kind === 'forged' ? 403 : 200)))
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(
      calls.filter(({ kind }) => expected[kind] === 'duplicate').length,
    )
  })
})

describe('the plan of a run', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(callAt(SPREAD, 77)).toEqual(callAt({ ...SPREAD }, 77))
    expect(callAt({ ...SPREAD, seed: 2 }, 77).tx).not.toBe(callAt(SPREAD, 77).tx)
  })

  it('has no transaction twice, in one file or in those of two kinds of traffic', () => {
    const plans = [planOf('spread'), planOf('spread', 1), planOf('hot'), planOf('replay')]
    const all = plans.flatMap((plan) => Array.from({ length: 5_000 }, (_, index) => callAt(plan, index).tx))
    expect(new Set(all).size).toBe(all.length)
  })

  it('spreads over all wallets, and hot is one', () => {
    const users = (plan: CallPlan): number =>
      new Set(Array.from({ length: 100_000 }, (_, index) => callAt(plan, index).user)).size
    expect(users(SPREAD)).toBeGreaterThan(9_990)
    expect(users(planOf('hot'))).toBe(1)
  })

  it('mixes 70 % credits, 20 % copies, 5 % reversals and 5 % forged calls', () => {
    expect(countKinds(MIXED, 20_000, 40_000)).toEqual({
      credit: 14_000,
      copy: 4_000,
      reversal: 1_000,
      forged: 1_000,
    })
  })

  it('refers only to credits of its own that were sent at least 500 calls before, and reverses each once', () => {
    const credits = new Map<string, number>()
    const reversed = new Set<string>()
    for (let index = 0; index < 20_000; index += 1) {
      const { kind, tx } = callAt(MIXED, index)
      if (kind === 'credit') credits.set(tx, index)
      if (kind !== 'copy' && kind !== 'reversal') continue
      expect(index - (credits.get(tx) ?? index)).toBeGreaterThanOrEqual(500)
      if (kind === 'reversal') {
        expect(reversed.has(tx)).toBe(false)
        reversed.add(tx)
      }
    }
    expect(reversed.size).toBeGreaterThan(900)
  })

  it('begins with credits, because there is nothing to refer to', () => {
    const kinds = new Set(Array.from({ length: 500 }, (_, index) => kindAt(MIXED, index)))
    expect(kinds).toEqual(new Set(['credit', 'forged']))
  })
})

describe('files of calls', () => {
  it('hold them in order, are shared, and are written again where they are too short', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-urls-'))
    const files = createUrlFiles(folder)
    const short = await files.fileOf(SPREAD, 10)
    expect(await files.fileOf(SPREAD, 5)).toBe(short)
    const long = await files.fileOf(SPREAD, 12_000)
    const lines = (await readFile(long.path, 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(12_000)
    expect([lines[0], lines[5_000], lines[11_999]]).toEqual(
      [0, 5_000, 11_999].map((index) => signedPath(callAt(SPREAD, index))),
    )
    await files.clear()
    await expect(readFile(long.path)).rejects.toThrow()
    await rm(folder, { recursive: true, force: true })
  })
})
