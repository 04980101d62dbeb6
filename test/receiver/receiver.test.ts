import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { StoreError } from '../../src/errors.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import { createReceiver } from '../../src/receiver/create-receiver.js'
import type { Receiver, ReceiverOptions, ReceiverResponse } from '../../src/receiver/types.js'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/index.js'

const SECRET = 'a postback key'

interface Bench {
  readonly store: MemoryStore
  readonly receiver: Receiver
  readonly call: (tx: string, part?: Partial<Call>) => Promise<ReceiverResponse>
}

interface Call {
  readonly user: string
  readonly reward: string
  readonly status: string
  readonly secret: string
  readonly remoteAddress: string
  readonly headers: Record<string, string>
  readonly path: string
}

function bench(
  options: Partial<ReceiverOptions> = {},
  wrap: (store: LedgerStore) => LedgerStore = (store) => store,
): Bench {
  const store = memoryStore()
  store.state.wallets.set('ada', 0n)
  const receiver = createReceiver({
    store: wrap(store),
    networks: { sharklio: { profile: 'sharklio', secret: SECRET } },
    ...options,
  })
  return { store, receiver, call: (tx, part) => receiver.handle(requestOf(tx, part)) }
}

function requestOf(tx: string, part: Partial<Call> = {}): Parameters<Receiver['handle']>[0] {
  const call = {
    user: 'ada',
    reward: '5',
    status: '1',
    secret: SECRET,
    remoteAddress: '203.0.113.7',
    headers: {},
    path: '/postback/sharklio',
    ...part,
  }
  const hash = createHmac('sha256', call.secret)
    .update(`${tx}:${call.user}:${call.reward}:${call.status}`)
    .digest('hex')
  const query = new URLSearchParams({ tx, user: call.user, reward: call.reward, status: call.status, hash })
  return {
    method: 'GET',
    url: `${call.path}?${query.toString()}`,
    headers: call.headers,
    body: new Uint8Array(),
    remoteAddress: call.remoteAddress,
  }
}

const PAGE = { limit: 100, cursor: null }

describe('the receiver', () => {
  it('credits once, and answers a copy like the first', async () => {
    const { call, store } = bench()
    const first = await call('t1')
    expect(first).toEqual({
      status: 200,
      body: 'OK',
      outcome: 'credited',
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    })
    expect(await call('t1')).toMatchObject({ status: 200, body: 'OK', outcome: 'duplicate' })
    expect((await store.readWallet('ada'))?.balance).toBe(5_000n)
  })

  it('keeps every call with its outcome, reason and answer', async () => {
    const { call, store, receiver } = bench()
    await call('t1')
    await call('t1', { secret: 'wrong' })
    await call('t2', { reward: '0.0001' })
    await call('t3', { user: 'ghost' })
    await call('t4', { status: '9' })
    await receiver.close()
    const { items } = await store.listPostbacks({}, PAGE)
    const seen = items.map((row) => [row.outcome, row.reason, row.verified, row.answer.status, row.open])
    expect(seen).toHaveLength(5)
    expect(seen).toEqual(
      expect.arrayContaining([
        ['credited', null, true, 200, false],
        ['bad_signature', 'signature_mismatch', false, 403, false],
        ['malformed', 'too_many_decimals', true, 400, true],
        ['unknown_user', 'unknown_user', true, 500, true],
        ['ignored', expect.stringContaining('status'), true, 200, false],
      ]),
    )
  })

  it('a caller without a valid signature learns nothing about what is stored', async () => {
    const { call } = bench()
    await call('known')
    const about = async (tx: string): Promise<ReceiverResponse> => call(tx, { secret: 'wrong' })
    expect(await about('known')).toEqual(await about('unheard-of'))
  })

  it('answers 404 and 405 without a row, and tells the observer', async () => {
    const events: string[] = []
    const { receiver, store } = bench({
      observe: (event) => events.push(`${event.network} ${event.outcome} ${event.status}`),
    })
    const request = requestOf('t1')
    expect(await receiver.handle({ ...request, url: '/postback/other?tx=1' })).toMatchObject({
      status: 404,
      outcome: null,
    })
    expect(await receiver.handle({ ...request, method: 'HEAD' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET' },
    })
    expect(events).toEqual(['other unknown_network 404', 'sharklio method_not_allowed 405'])
    expect((await store.listPostbacks({}, PAGE)).items).toEqual([])
  })

  it('a trailing slash and an old path reach the same network', async () => {
    const { call } = bench({
      networks: { sharklio: { profile: 'sharklio', secret: SECRET, paths: ['/postback.php'] } },
    })
    expect((await call('t1', { path: '/postback/sharklio/' })).outcome).toBe('credited')
    expect((await call('t1', { path: '/postback.php' })).outcome).toBe('duplicate')
  })

  it('a database that is away is answered 503 with Retry-After, and the call is kept once it is back', async () => {
    let away = true
    const { call, store, receiver } = bench({}, (inner) => ({
      ...inner,
      applyGroup: (members, options) =>
        away ? Promise.reject(new StoreError('away', 'down')) : inner.applyGroup(members, options),
      writePostbacks: (rows) =>
        away ? Promise.reject(new StoreError('away', 'down')) : inner.writePostbacks(rows),
    }))
    expect(await call('t1')).toMatchObject({
      status: 503,
      outcome: 'overloaded',
      headers: { 'retry-after': '5' },
    })
    away = false
    expect(await call('t1')).toMatchObject({ status: 200, outcome: 'credited' })
    await receiver.close()
    const { items } = await store.listPostbacks({ transactionId: ['t1'] }, PAGE)
    expect(items.map((row) => row.outcome).sort()).toEqual(['credited', 'overloaded'])
  })

  it('a store that refuses to start is answered 503 and asked again', async () => {
    let starts = 0
    const { call } = bench({}, (inner) => ({
      ...inner,
      start: () => {
        starts += 1
        return starts === 1 ? Promise.reject(new StoreError('away', 'down')) : inner.start()
      },
    }))
    expect(await call('t1')).toMatchObject({ status: 503, outcome: 'overloaded' })
    // Not for every call that comes at once: a start may cost the database much.
    expect(await call('t1')).toMatchObject({ status: 503, outcome: 'overloaded' })
    expect(starts).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    expect(await call('t1')).toMatchObject({ status: 200, outcome: 'credited' })
  })

  it('an answer that left at the deadline is the one in the inbox, beside the true outcome', async () => {
    const { store, receiver } = bench({}, (inner) => ({
      ...inner,
      applyGroup: async (members, options) => {
        const result = await inner.applyGroup(members, options)
        await new Promise((resolve) => setTimeout(resolve, 4_300))
        return result
      },
    }))
    const started = performance.now()
    const answer = await receiver.handle(requestOf('slow'))
    expect(answer).toMatchObject({ status: 503, outcome: 'overloaded' })
    expect(performance.now() - started).toBeLessThan(4_250)
    await receiver.close()
    const [row] = (await store.listPostbacks({}, PAGE)).items
    expect([row?.outcome, row?.answer.status]).toEqual(['credited', 503])
  }, 15_000)

  it('a COMMIT whose fate stays unknown is answered 500', async () => {
    const { call, store, receiver } = bench({ commit: { sleep: () => Promise.resolve() } }, (inner) => ({
      ...inner,
      applyGroup: () => Promise.reject(new StoreError('unknown', 'the reply was lost')),
    }))
    expect(await call('t1')).toMatchObject({ status: 500, outcome: 'failed' })
    await receiver.close()
    const [row] = (await store.listPostbacks({}, PAGE)).items
    expect([row?.outcome, row?.reason, row?.answer.status]).toEqual(['failed', 'commit_unknown', 500])
  })

  it('forged calls cannot fill the inbox, and do not push out the rejected calls of a real sender', async () => {
    const { call, receiver, store } = bench({
      inbox: { rejectedPerMinute: 5 },
      now: () => Date.UTC(2026, 0, 1),
    })
    await call('real')
    for (let n = 0; n < 200; n += 1) {
      await call(`forged-${n}`, { secret: 'guess', remoteAddress: `198.51.100.${n % 100}` })
    }
    for (let n = 0; n < 3; n += 1) await call(`wrong-${n}`, { secret: 'old' })
    await receiver.close()
    const { items } = await store.listPostbacks({ outcome: ['bad_signature'] }, PAGE)
    expect(items.filter((row) => row.ip === '203.0.113.7')).toHaveLength(3)
    expect(items.filter((row) => row.ip !== '203.0.113.7')).toHaveLength(25)
  })

  it('believes X-Forwarded-For only from proxies that it trusts', async () => {
    const networks = { sharklio: { profile: 'sharklio', secret: SECRET, allowedIps: ['203.0.113.7'] } }
    const direct = bench({ networks })
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    expect((await direct.call('a', { remoteAddress: '198.51.100.9', headers: forwarded })).outcome).toBe(
      'ip_not_allowed',
    )
    const behind = bench({ networks, trustProxy: ['10.0.0.0/8'] })
    const via = (list: string): Promise<ReceiverResponse> =>
      behind.call('b', { remoteAddress: '10.0.0.1', headers: { 'x-forwarded-for': list } })
    expect((await via('203.0.113.7, 198.51.100.9')).outcome).toBe('ip_not_allowed')
    expect((await via('1.2.3.4, 203.0.113.7')).outcome).toBe('credited')
    expect((await via('203.0.113.7:4711')).outcome).toBe('duplicate')
    expect((await behind.call('b', { remoteAddress: '::ffff:10.0.0.1', headers: forwarded })).outcome).toBe(
      'duplicate',
    )
  })

  it('a text in X-Forwarded-For that is no address never passes for one', async () => {
    const { call, store, receiver } = bench({ trustProxy: 2 })
    await call('t1', { remoteAddress: '10.0.0.1', headers: { 'x-forwarded-for': `<b>${'x'.repeat(300)}` } })
    await receiver.close()
    expect((await store.listPostbacks({}, PAGE)).items.map((row) => row.ip)).toEqual(['10.0.0.1'])
  })

  it('a store that hangs while it starts is answered 503 in time', async () => {
    const { call } = bench({}, (inner) => ({ ...inner, start: () => new Promise(() => undefined) }))
    const started = performance.now()
    expect(await call('t1')).toMatchObject({ status: 503, outcome: 'overloaded' })
    expect(performance.now() - started).toBeLessThan(4_500)
  }, 10_000)

  it('a row that the database refuses holds up no other row', async () => {
    const { call, store, receiver } = bench({}, (inner) => ({
      ...inner,
      writePostbacks: (rows) =>
        rows.some((row) => row.transactionId === 'poison')
          ? Promise.reject(new StoreError('refused', 'no'))
          : inner.writePostbacks(rows),
    }))
    for (const tx of ['a', 'poison', 'b', 'c']) await call(tx, { secret: 'wrong' })
    await receiver.close()
    const { items } = await store.listPostbacks({}, PAGE)
    expect(items.map((row) => row.transactionId).sort()).toEqual(['a', 'b', 'c'])
    expect(receiver.status().inbox).toEqual({ suppressed: 0, lost: 1 })
  })

  it('while it closes it says "Connection: close", and answers what it has', async () => {
    const { call, receiver } = bench()
    await call('t1')
    const closing = receiver.close()
    expect((await call('t1')).headers).toMatchObject({ connection: 'close' })
    await closing
  })
})

describe('kept calls run again', () => {
  it('C83: a held call is booked once the user exists, and never twice', async () => {
    const { call, store, receiver } = bench()
    await call('t1', { user: 'ghost' })
    await call('t1', { user: 'ghost' })
    expect(await receiver.reprocess({}, true)).toMatchObject({ counts: { unknown_user: 2 } })
    await store.createWallet('ghost')
    expect(await receiver.reprocess({}, true)).toMatchObject({ counts: { credited: 1, duplicate: 1 } })
    expect(await store.readTransaction('sharklio', 't1')).toEqual([])
    expect(await receiver.reprocess({}, false)).toMatchObject({ counts: { credited: 1, duplicate: 1 } })
    expect(await receiver.reprocess({}, false)).toEqual({ counts: {}, items: [] })
    expect(await receiver.reprocess({ transactionId: ['t1'] }, false)).toMatchObject({
      counts: { duplicate: 2 },
    })
    expect(await call('t1', { user: 'ghost' })).toMatchObject({ outcome: 'duplicate' })
    expect((await store.readWallet('ghost'))?.balance).toBe(5_000n)
    const { items } = await store.listPostbacks({ open: true }, PAGE)
    expect(items).toEqual([])
  })

  it('what a person has resolved is not paid again', async () => {
    const { call, store, receiver } = bench()
    await call('t1', { user: 'ghost' })
    const [row] = (await store.listPostbacks({}, PAGE)).items
    await store.createWallet('ghost')
    await store.resolvePostback(row?.id ?? '', 'paid by hand')
    expect((await receiver.reprocess({ outcome: ['unknown_user'] }, false)).counts).toEqual({
      unknown_user: 1,
    })
    expect((await receiver.reprocess({ transactionId: ['t1'] }, false)).counts).toEqual({ unknown_user: 1 })
    expect((await store.readWallet('ghost'))?.balance).toBe(0n)
  })

  it('calls run in the order in which they came, and a dry run counts copies as copies', async () => {
    const { call, store, receiver } = bench()
    await call('t1', { user: 'ghost', reward: '5' })
    await call('t1', { user: 'ghost', reward: '5' })
    await call('t1', { user: 'ghost', reward: '9' })
    await store.createWallet('ghost')
    const foreseen = await receiver.reprocess({}, true)
    expect(foreseen.counts).toEqual({ credited: 1, duplicate: 1, conflict: 1 })
    expect((await receiver.reprocess({}, false)).counts).toEqual(foreseen.counts)
    expect((await store.readWallet('ghost'))?.balance).toBe(5_000n)
  })

  it('a dry run foresees what the store does about unknown users', async () => {
    for (const [unknownUser, outcome] of [
      ['create', 'credited'],
      ['hold', 'held'],
      ['retry', 'unknown_user'],
    ] as const) {
      const store = memoryStore()
      const networks = { sharklio: { profile: 'sharklio', secret: SECRET } }
      await createReceiver({ store, networks }).handle(requestOf('t1', { user: 'ghost' }))
      const again = createReceiver({ store: memoryStore({ unknownUser, shareWith: store }), networks })
      await again.start()
      expect((await again.reprocess({}, true)).counts).toEqual({ [outcome]: 1 })
      expect((await again.reprocess({}, false)).counts).toEqual({ [outcome]: 1 })
    }
  })

  it('a wrong secret that was put right: the rejected calls are booked', async () => {
    const { call, store, receiver } = bench()
    await call('t1', { secret: 'the new key' })
    await receiver.close()
    const corrected = createReceiver({
      store,
      networks: { sharklio: { profile: 'sharklio', secret: 'the new key' } },
    })
    await corrected.start()
    expect(await corrected.reprocess({ outcome: ['bad_signature'] }, false)).toMatchObject({
      counts: { credited: 1 },
    })
    expect((await store.readWallet('ada'))?.balance).toBe(5_000n)
    const [row] = (await store.listPostbacks({}, PAGE)).items
    expect([row?.outcome, row?.verified, row?.answer.status]).toEqual(['credited', true, 403])
  })
})

describe('id spaces', () => {
  it('a renamed network keeps its keys, and a vanished one stops the start', async () => {
    const { call, store } = bench()
    await call('t1')
    const renamed = createReceiver({
      store,
      networks: { shark2: { profile: 'sharklio', secret: SECRET, formerly: ['sharklio'] } },
    })
    expect(await renamed.handle(requestOf('t1', { path: '/postback/shark2' }))).toMatchObject({
      outcome: 'duplicate',
    })
    const again = createReceiver({
      store,
      networks: { shark3: { profile: 'sharklio', secret: SECRET, formerly: ['shark2', 'sharklio'] } },
    })
    expect(await again.handle(requestOf('t1', { path: '/postback/shark3' }))).toMatchObject({
      outcome: 'duplicate',
    })
    const vanished = createReceiver({ store, networks: { other: { profile: 'sharklio', secret: SECRET } } })
    await expect(vanished.start()).rejects.toMatchObject({ code: 'network_missing' })
  })

  it('two networks may share one id space', async () => {
    const shared = { profile: 'sharklio', secret: SECRET, idSpace: 'walls' }
    const { call } = bench({ networks: { a: shared, b: shared } })
    expect((await call('t1', { path: '/postback/a' })).outcome).toBe('credited')
    expect((await call('t1', { path: '/postback/b' })).outcome).toBe('duplicate')
  })
})
