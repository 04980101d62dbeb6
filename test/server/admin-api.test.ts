import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createAdminApi } from '../../src/server/admin-api.js'
import type { AdminContext, AdminEnv } from '../../src/server/admin-context.js'
import { OPENAPI } from '../../src/server/openapi.js'
import { DEFAULT_SETTINGS } from '../../src/server/settings.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { metric, run, signed, SECRET, TOKEN } from './running.js'

describe('the token', () => {
  it.each([
    ['none', undefined],
    ['a wrong one', `Bearer ${TOKEN}x`],
    ['a prefix', `Bearer ${TOKEN.slice(0, -1)}`],
    ['another scheme', `Basic ${TOKEN}`],
    ['the bare token', TOKEN],
  ])('refuses %s', async (_name, authorization) => {
    const server = await run()
    for (const path of ['/api/v1/wallets', '/api/v1/postbacks', '/api/v1/nothing']) {
      const answer = await fetch(server.adminUrl + path, { headers: authorization ? { authorization } : {} })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(await answer.json()).toMatchObject({
        error: { code: 'unauthorized', hint: expect.any(String) as string },
      })
    }
  })

  it('is generated once for a database, and only by hash in it', async () => {
    const store = memoryStore()
    const first = await run({ adminToken: null }, { store })
    expect(first.adminToken).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const second = await run({ adminToken: null }, { store: memoryStore({ shareWith: store }) })
    expect(second.adminToken).toBeNull()
    const headers = { authorization: `Bearer ${first.adminToken ?? ''}` }
    expect((await fetch(`${second.adminUrl}/api/v1/wallets`, { headers })).status).toBe(200)
    expect([...store.state.settings.values()].join()).not.toContain(first.adminToken)
  })

  it('gives no foreign page a way in', async () => {
    const server = await run()
    const { headers } = await server.api('GET', '/api/v1/wallets', undefined, {
      origin: 'https://evil.example',
    })
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('cache-control')).toBe('no-store')
  })
})

describe('wallets', () => {
  it.each([
    'u1',
    'a/b',
    '100%',
    '50%2F',
    'zwei Worte',
    'José',
    '🦈',
    "o'neil?#&=+",
    ' padded ',
    'a..b',
    '001234',
  ])('makes and reads the wallet of %j', async (user) => {
    const server = await run()
    const path = `/api/v1/wallets/${encodeURIComponent(user)}`
    expect((await server.api('GET', path)).status).toBe(404)
    const made = await server.api('PUT', path)
    expect(made).toMatchObject({ status: 201, json: { user, balance: '0.000', available: '0.000' } })
    expect((await server.api('PUT', path)).status).toBe(200)
    expect((await server.api('GET', path)).json).toEqual({ user, balance: '0.000', available: '0.000' })
    expect(await server.store.readWallet(user)).toEqual({ user, balance: 0n })
  })

  it.each([
    ['a control character', '%00'],
    ['no UTF-8', '%FF'],
    ['a lonely percent sign', '%zz'],
    ['256 bytes', 'x'.repeat(256)],
    ['a macro', encodeURIComponent('{user_id}')],
    ['a blank', '%20'],
  ])('refuses %s as a user', async (_name, segment) => {
    const server = await run()
    const { status, json } = await server.api('PUT', `/api/v1/wallets/${segment}`)
    expect(status).toBe(400)
    expect(json.error).toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(/^user /) as string,
    })
  })

  it('says where wallets are the publisher’s', async () => {
    const server = await run({}, { store: { ...memoryStore(), foreignWallets: true } })
    const { status, json } = await server.api('PUT', '/api/v1/wallets/u1')
    expect([status, json.error.code]).toEqual([409, 'foreign_wallets'])
  })

  it('lists in pages, by prefix, and the negative ones', async () => {
    const server = await run()
    for (const user of ['a1', 'a2', 'b1']) await server.store.createWallet(user)
    await server.api('POST', '/api/v1/wallets/b1/adjustments', {
      key: 'k',
      amount: '-1',
      reason: 'r',
      overdraw: true,
    })
    const first = await server.api('GET', '/api/v1/wallets?limit=2')
    expect(first.json.items.map(({ user }) => user)).toEqual(['a1', 'a2'])
    const rest = await server.api(
      'GET',
      `/api/v1/wallets?limit=2&cursor=${encodeURIComponent(first.json.nextCursor ?? '')}`,
    )
    expect(rest.json).toEqual({
      items: [{ user: 'b1', balance: '-1.000', available: '-1.000' }],
      nextCursor: null,
    })
    expect((await server.api('GET', '/api/v1/wallets?prefix=a')).json.items).toHaveLength(2)
    expect((await server.api('GET', '/api/v1/wallets?negative=true')).json.items).toHaveLength(1)
  })
})

describe('adjustments and entries', () => {
  it('books once by its key and shows the entry', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const path = '/api/v1/wallets/u1/adjustments'
    const body = { key: 'k1', amount: '12.5', reason: 'goodwill' }
    const made = await server.api('POST', path, body, { 'x-paidonce-actor': 'ana' })
    expect(made).toMatchObject({
      status: 201,
      json: { key: 'k1', user: 'u1', amount: '12.500', balanceAfter: '12.500', entry: { actor: 'ana' } },
    })
    expect((await server.api('POST', path, body)).status).toBe(200)
    const other = await server.api('POST', path, { ...body, amount: '13' })
    expect([other.status, other.json.error.code]).toEqual([409, 'key_conflict'])
    const below = await server.api('POST', path, { ...body, key: 'k2', amount: '-12.501' })
    expect([below.status, below.json.error.code]).toEqual([409, 'insufficient_balance'])
    const overdrawn = await server.api('POST', path, {
      ...body,
      key: 'k2',
      amount: '-12.501',
      overdraw: true,
    })
    expect(overdrawn.json).toMatchObject({ balanceAfter: '-0.001', entry: { actor: 'api' } })
    const { json } = await server.api('GET', '/api/v1/wallets/u1/entries')
    expect(json.items).toMatchObject([
      { entry: 'adjustment', amount: '-12.501', balanceAfter: '-0.001', transactionId: 'k2' },
      { entry: 'adjustment', amount: '12.500', balanceAfter: '12.500', reason: 'goodwill', test: false },
    ])
    expect(json.items[0]?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(json.nextCursor).toBeNull()
  })

  it.each([
    [{ amount: 12.5 }, 'amount must be decimal text'],
    [{ amount: '1e3' }, 'amount must be decimal text with at most 3 decimals'],
    [{ amount: '0.0001' }, 'amount must be decimal text with at most 3 decimals'],
    [{ amount: '0' }, 'amount must not be zero'],
    [{ amount: '1000000000000.001' }, 'amount is beyond the largest amount'],
    [{ reason: ' ' }, 'reason must be text that says why'],
    [{ reason: undefined }, 'reason must be text that says why'],
    [{ key: '' }, 'key is empty'],
    [{ key: 7 }, 'key must be text'],
    [{ overdraw: 'maybe' }, 'overdraw must be true or false'],
    [{ overdrawn: true }, 'overdrawn is no key of this request'],
  ])('refuses %j', async (change, message) => {
    const server = await run()
    await server.store.createWallet('u1')
    const body = { key: 'k1', amount: '1', reason: 'r', ...change }
    const { status, json } = await server.api('POST', '/api/v1/wallets/u1/adjustments', body)
    expect(status).toBe(400)
    expect(json.error.message).toContain(message)
    expect((await server.store.readWallet('u1'))?.balance).toBe(0n)
  })

  it('knows no user', async () => {
    const server = await run()
    const body = { key: 'k', amount: '1', reason: 'r' }
    const answers = [
      await server.api('POST', '/api/v1/wallets/nobody/adjustments', body),
      await server.api('GET', '/api/v1/wallets/nobody/entries'),
    ]
    for (const { status, json } of answers) expect([status, json.error.code]).toEqual([404, 'unknown_user'])
  })
})

describe('the inbox', () => {
  it('lists, filters and shows calls', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const call = (query: string): Promise<Response> => fetch(`${server.url}/postback/demo?${query}`)
    await call(signed('t1', 'u1', '10'))
    await call(signed('t1', 'u1', '10'))
    await call(`${signed('t2', 'u1', '10', { secret: 'wrong' })}&token=${SECRET}`)
    await call(signed('t3', 'nobody', '5'))
    await expect.poll(async () => (await server.api('GET', '/api/v1/postbacks')).json.items.length).toBe(4)

    const count = async (query: string): Promise<number> =>
      (await server.api('GET', `/api/v1/postbacks?${query}`)).json.items.length
    expect(await count('outcome=credited&outcome=duplicate')).toBe(2)
    expect(await count('transactionId=t1')).toBe(2)
    expect(await count('user=nobody')).toBe(1)
    expect(await count('network=demo&q=t')).toBe(4)
    expect(await count('network=other')).toBe(0)
    expect(await count('open=true')).toBe(1)
    expect(await count(`since=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`)).toBe(0)
    expect(await count('until=2020-01-01T00:00:00%2B02:00')).toBe(0)

    const [credited] = (await server.api('GET', '/api/v1/postbacks?outcome=credited')).json.items
    expect(credited).toMatchObject({
      network: 'demo',
      method: 'GET',
      transactionId: 't1',
      entry: 'credit',
      user: 'u1',
      amount: '10.000',
      answer: { status: 200, body: 'OK' },
      open: false,
    })
    const [forged] = (await server.api('GET', '/api/v1/postbacks?outcome=bad_signature')).json.items
    const detail = (await server.api('GET', `/api/v1/postbacks/${forged?.id ?? ''}`)).json
    expect(detail).toMatchObject({ signed: 't2:u1:10:1', failedCheck: 'signature_mismatch', verified: false })
    expect(detail.advice).toBeTruthy()
    expect(detail.url).toContain('token=***')
    expect(JSON.stringify(detail)).not.toContain(SECRET)
  })

  describe.each(['form', 'json', 'query', 'header'] as const)(
    'of a network that sends its secret by %s',
    (place) => {
      it.each(['s3cret-of-acme', 'a wrong/one'])('hides %j', async (pass) => {
        const at = (name: string): object => ({ [place === 'json' ? 'json' : 'form']: name })
        const signature = { [place]: place === 'json' ? 'auth.code' : 'Acme-Code' }
        const profile = {
          id: 'acme',
          methods: ['POST'],
          fields: { transactionId: at('tx'), user: at('user'), amount: at('reward'), signature },
          signature: { token: 'secret' },
          entry: [{ when: {}, is: 'credit' }],
        }
        const server = await run({ networks: { acme: { profile, secret: 's3cret-of-acme' } } })
        const form = new URLSearchParams({ tx: 't1', user: 'u1', reward: '1' })
        if (place === 'form') form.set('Acme-Code', pass)
        const json = JSON.stringify({ tx: 't1', user: 'u1', reward: '1', auth: { code: pass } })
        const query = place === 'query' ? `?${new URLSearchParams({ 'Acme-Code': pass }).toString()}` : ''
        const answer = await fetch(`${server.url}/postback/acme${query}`, {
          method: 'POST',
          body: place === 'json' ? json : form.toString(),
          headers: {
            'content-type': place === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
            ...(place === 'header' ? { 'acme-code': pass } : {}),
          },
        })
        expect(answer.status).toBe(pass === 's3cret-of-acme' ? 500 : 403)
        const list = async (): Promise<readonly { id: string }[]> =>
          (await server.api('GET', '/api/v1/postbacks')).json.items
        await expect.poll(async () => (await list()).length).toBe(1)
        const shown = [
          await server.api('GET', '/api/v1/postbacks'),
          await server.api('GET', `/api/v1/postbacks/${(await list())[0]?.id ?? ''}`),
        ].map((page) => JSON.stringify(page.json))
        expect(shown[1]).toContain('t1')
        expect(shown[1]).toContain('***')
        for (const text of [...shown, JSON.stringify(server.log)]) {
          expect(text).not.toContain(pass)
          expect(text).not.toContain(encodeURIComponent(pass))
          expect(text).not.toContain('a+wrong')
        }
      })
    },
  )

  it('closes an open call, and runs kept ones again only when told to', async () => {
    const server = await run()
    await fetch(`${server.url}/postback/demo?${signed('t3', 'late', '5')}`)
    await fetch(`${server.url}/postback/demo?${signed('t4', 'never', '5')}`)
    const open = (await server.api('GET', '/api/v1/postbacks?open=true')).json.items
    expect(open).toHaveLength(2)
    const never = open.find(({ user }) => user === 'never')
    const path = `/api/v1/postbacks/${never?.id ?? ''}/resolve`
    expect((await server.api('POST', path, {})).json.error.message).toContain('reason')
    const resolved = await server.api('POST', path, { reason: 'no such player' })
    expect(resolved).toMatchObject({ status: 200, json: { open: false, resolvedReason: 'no such player' } })

    await server.store.createWallet('late')
    const filter = { network: 'demo', user: ['late'], outcome: 'unknown_user' }
    const dry = await server.api('POST', '/api/v1/postbacks/reprocess', { filter })
    expect(dry).toMatchObject({ status: 200, json: { dryRun: true, counts: { credited: 1 } } })
    expect((await server.store.readWallet('late'))?.balance).toBe(0n)
    const real = await server.api('POST', '/api/v1/postbacks/reprocess', { filter, dryRun: false })
    expect(real.json).toMatchObject({
      dryRun: false,
      counts: { credited: 1 },
      items: [{ transactionId: 't3' }],
    })
    expect((await server.store.readWallet('late'))?.balance).toBe(5000n)
    expect((await server.api('GET', '/api/v1/postbacks?open=true')).json.items).toEqual([])
  })

  it.each([
    ['/api/v1/postbacks?limit=0', 'limit'],
    ['/api/v1/postbacks?limit=501', 'limit'],
    ['/api/v1/postbacks?limit=ten', 'limit'],
    ['/api/v1/postbacks?limit=1&limit=2', 'limit'],
    ['/api/v1/postbacks?cursor=', 'cursor'],
    ['/api/v1/postbacks?open=yes', 'open'],
    ['/api/v1/postbacks?since=yesterday', 'since'],
    ['/api/v1/postbacks?until=2026-02-31', 'until'],
    ['/api/v1/postbacks?outcome=paid', 'outcome'],
    ['/api/v1/postbacks?outcom=credited', 'outcom'],
    ['/api/v1/postbacks?user=', 'user'],
    ['/api/v1/wallets?negative=1', 'negative'],
    ['/api/v1/wallets/u1?x=1', 'x'],
  ])('answers 400 to %s', async (path, name) => {
    const server = await run()
    const { status, json } = await server.api('GET', path)
    expect(status).toBe(400)
    expect(json.error.code).toBe('bad_request')
    expect(json.error.message.split(' ')[0]).toBe(name)
  })

  it.each([
    [undefined, 'filter'],
    [{ dryRun: false }, 'filter'],
    [{ filter: { outcom: 'held' } }, 'outcom'],
    [{ filter: { network: [] } }, 'network'],
    [{ filter: { user: 7 } }, 'user'],
    [{ filter: {}, dryrun: false }, 'dryrun'],
  ])('does not run %j', async (body, name) => {
    const server = await run()
    const { status, json } = await server.api('POST', '/api/v1/postbacks/reprocess', body)
    expect([status, json.error.message.split(' ')[0]]).toEqual([400, name])
  })

  it('refuses a body that is no JSON or too large', async () => {
    const server = await run()
    const post = (body: string): Promise<Response> =>
      fetch(`${server.adminUrl}/api/v1/postbacks/reprocess`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${TOKEN}` },
      })
    expect((await post('{')).status).toBe(400)
    expect((await post('[]')).status).toBe(400)
    expect((await post(JSON.stringify({ filter: {}, x: 'y'.repeat(70_000) }))).status).toBe(413)
  })

  it.each(['00000000-0000-7000-8000-000000000000', 'nothing', '1'])('knows no postback %s', async (id) => {
    const server = await run()
    const { status, json } = await server.api('GET', `/api/v1/postbacks/${id}`)
    expect([status, json.error.code]).toEqual([404, 'unknown_postback'])
  })
})

describe('transactions and audits', () => {
  it('tells everything about one transaction', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    for (const status of ['1', '1', '2']) {
      await fetch(`${server.url}/postback/demo?${signed('t/1 %', 'u1', '10', { status })}`)
    }
    const path = `/api/v1/transactions/demo/${encodeURIComponent('t/1 %')}`
    const { status, json } = await server.api('GET', path)
    expect(status).toBe(200)
    expect(json.transactionId).toBe('t/1 %')
    expect(json.entries.map(({ entry, amount }) => [entry, amount])).toEqual([
      ['credit', '10.000'],
      ['reversal', '-10.000'],
    ])
    expect(json.postbacks).toHaveLength(3)
    expect(json.explanation).toContain('taken back')
    expect(json.complete).toBe(true)
    const unknown = await server.api('GET', '/api/v1/transactions/demo/none')
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'unknown_transaction'])
    expect(unknown.json.error.hint).toContain('no call with transaction id')
  })

  it('runs an audit in the background and keeps its result', async () => {
    const store = memoryStore()
    const server = await run({}, { store })
    expect((await server.api('GET', '/api/v1/audit')).json).toMatchObject({
      state: 'none',
      finishedAt: null,
      findings: [],
    })
    await server.store.createWallet('u1')
    await fetch(`${server.url}/postback/demo?${signed('t1', 'u1', '10')}`)
    store.state.wallets.set('u1', 7n)
    expect(await server.api('POST', '/api/v1/audit')).toMatchObject({ status: 202 })
    await expect.poll(async () => (await server.api('GET', '/api/v1/audit')).json.state).toBe('finished')
    const { json } = await server.api('GET', '/api/v1/audit')
    expect(json.finishedAt).toMatch(/Z$/)
    expect(json.findings[0]).toMatchObject({ severity: 'error', user: 'u1' })
  })
})

describe('health, metrics and description', () => {
  it('answers health without a token', async () => {
    const server = await run()
    const get = (path: string): Promise<Response> => fetch(server.adminUrl + path)
    expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' })
    const ready = await get('/readyz')
    expect(ready.status).toBe(200)
    expect(await ready.json()).toEqual({ status: 'ready', ledgerId: server.ledgerId, store: 'memory' })
    expect(server.ledgerId).toBeTruthy()
  })

  it('is not ready where the database fails or hangs', async () => {
    const store = { ...memoryStore(), ping: (): Promise<Date> => Promise.reject(new Error('gone')) }
    const server = await run({}, { store })
    const failed = await fetch(`${server.adminUrl}/readyz`)
    expect(failed.status).toBe(503)
    expect(await failed.json()).toMatchObject({ status: 'not_ready', reason: 'database_away' })
    store.ping = () => new Promise(() => undefined)
    const startedAt = Date.now()
    expect(await (await fetch(`${server.adminUrl}/readyz`)).json()).toMatchObject({ reason: 'database_slow' })
    expect(Date.now() - startedAt).toBeLessThan(1800)
  })

  it('gives metrics to this machine, and to others with the token', async () => {
    const server = await run()
    expect(await metric(server, 'paidonce_outbox_pending')).toBe(0)
    const proxied = { 'x-forwarded-for': '203.0.113.9' }
    expect((await fetch(`${server.adminUrl}/metrics`, { headers: proxied })).status).toBe(401)
    expect((await server.api('GET', '/metrics', undefined, proxied)).status).toBe(200)
  })

  it('describes every route and no other', async () => {
    const server = await run()
    const served = (await server.api('GET', '/openapi.json')).json
    expect(served).toEqual(JSON.parse(JSON.stringify(OPENAPI)))
    const app: Hono<AdminEnv> = createAdminApi({ store: memoryStore() } as unknown as AdminContext)
    const routes = app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.includes('*'))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    const described = Object.entries(served.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect([...new Set(routes)].sort()).toEqual(described.sort())
    const references = [...JSON.stringify(served).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
      ([, name]) => name,
    )
    for (const name of references) expect(Object.keys(served.components.schemas)).toContain(name)
  })

  it('answers an unknown route in the same form', async () => {
    const server = await run()
    for (const path of ['/api/v1/nothing', '/', '/api/v2/wallets']) {
      const { status, json } = await server.api('GET', path)
      expect([status, json.error.code]).toEqual([404, 'not_found'])
    }
  })

  it('warns of calls to a path that no network has', async () => {
    const server = await run()
    await fetch(`${server.url}/callback.php?tx=1`)
    const line = server.log.find(({ facts }) => facts['path'] === '/callback.php')
    expect(line?.level).toBe('warn')
  })
})

it('answers 503 to a failing database and 500 to a bug, without details', async () => {
  const { StoreError } = await import('../../src/errors.js')
  const store = {
    ...memoryStore(),
    readWallet: (): Promise<never> => Promise.reject(new StoreError('away', 'inner')),
  }
  const server = await run({ ...DEFAULT_SETTINGS, port: 0, adminToken: TOKEN }, { store })
  const away = await server.api('GET', '/api/v1/wallets/u1')
  expect([away.status, away.json.error.code]).toEqual([503, 'overloaded'])
  store.readWallet = () => Promise.reject(new Error('inner detail'))
  const bug = await server.api('GET', '/api/v1/wallets/u1')
  expect([bug.status, bug.json.error.code]).toEqual([500, 'internal'])
  expect(JSON.stringify([away.json, bug.json])).not.toContain('inner')
})
