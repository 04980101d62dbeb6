/**
 * What the admin API makes of requests that a tidy client never sends.
 */
import { describe, expect, it } from 'vitest'
import { metric, run, sendRaw, TOKEN, type Running } from './running.js'

const authorization = `Authorization: Bearer ${TOKEN}\r\n`

/** Sends one request with exactly these headers; resolves to status and JSON body. */
async function call(
  server: Running,
  line: string,
  headers = `Host: x\r\n${authorization}`,
  body = '',
): Promise<{ status: number; text: string; json: Record<string, unknown> }> {
  const answer = await sendRaw(
    server.adminUrl,
    `${line} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n${body}`,
  )
  const text = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0), text, json }
}

function codeOf({ json }: { json: Record<string, unknown> }): unknown {
  return (json['error'] as { code?: string } | undefined)?.code
}

describe('requests without a Content-Length', () => {
  it('makes a wallet', async () => {
    const server = await run()
    expect((await call(server, 'PUT /api/v1/wallets/new1')).status).toBe(201)
    expect(await server.store.readWallet('new1')).toEqual({ user: 'new1', balance: 0n })
  })

  it('starts an audit, and names what a body would have said', async () => {
    const server = await run()
    expect((await call(server, 'POST /api/v1/audit')).status).toBe(202)
    const bare = await call(server, 'POST /api/v1/postbacks/reprocess')
    expect([bare.status, codeOf(bare)]).toEqual([400, 'bad_request'])
    expect(bare.text).toContain('filter is missing')
  })

  it.each(['OPTIONS', 'DELETE', 'PATCH', 'PUT', 'TRACE'])('has no %s route', async (method) => {
    const server = await run()
    const { status, json } = await call(server, `${method} /api/v1/wallets`)
    expect([status, codeOf({ json })]).toEqual([404, 'not_found'])
    expect((await call(server, `${method} /healthz`)).status).toBe(404)
  })

  it('answers HEAD as GET', async () => {
    const server = await run()
    expect(await call(server, 'HEAD /api/v1/wallets')).toMatchObject({ status: 200, text: '' })
  })

  it('reads a body in chunks', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const body = JSON.stringify({ key: 'k', amount: '1', reason: 'José' })
    const [head, tail] = [body.slice(0, 10), Buffer.from(body.slice(10))]
    const chunks = `a\r\n${head}\r\n${tail.length.toString(16)}\r\n${tail.toString()}\r\n0\r\n\r\n`
    const headers = `Host: x\r\n${authorization}Transfer-Encoding: chunked\r\n`
    const made = await call(server, 'POST /api/v1/wallets/u1/adjustments', headers, chunks)
    expect(made.status).toBe(201)
    expect((await server.store.readWallet('u1'))?.balance).toBe(1000n)
  })
})

describe('bodies', () => {
  const post = 'POST /api/v1/postbacks/reprocess'
  it('takes 64 KiB and refuses more with 413, announced or not', async () => {
    const server = await run()
    const length = (bytes: number): string => `Host: x\r\n${authorization}Content-Length: ${bytes}\r\n`
    const full = '{"filter":{}}'.padEnd(64 * 1024, ' ')
    expect((await call(server, post, length(full.length), full)).status).toBe(200)
    const announced = await call(server, post, length(64 * 1024 + 1), 'abc')
    expect([announced.status, codeOf(announced)]).toEqual([413, 'bad_request'])
    // The server ends the connection by itself: what is left of the body is no request.
    const chunked = `${post} HTTP/1.1\r\nHost: x\r\n${authorization}Transfer-Encoding: chunked\r\n\r\n`
    const grown = await sendRaw(server.adminUrl, chunked, `10001\r\n${'x'.repeat(0x10001)}\r\n`)
    expect(grown).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i)
    expect(grown.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('refuses text that is not UTF-8', async () => {
    const server = await run()
    const answer = await sendRaw(
      server.adminUrl,
      `${post} HTTP/1.1\r\nHost: x\r\n${authorization}Connection: close\r\nContent-Length: 3\r\n\r\n`,
      Buffer.from([0x22, 0xff, 0x22]),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*is no UTF-8 text/)
  })
})

describe('the Host header', () => {
  it.each([
    ['HTTP/1.0', ''],
    ['HTTP/1.1', ''],
    ['HTTP/1.1', 'Host: \r\n'],
    ['HTTP/1.1', 'Host: a b/c\r\n'],
    ['HTTP/1.1', 'Host: ex_ample:99999\r\n'],
    ['HTTP/1.1', 'Host: [::1\r\n'],
  ])('is not needed: %s %j', async (version, host) => {
    for (const changes of [{}, { adminPort: 0 }]) {
      const server = await run(changes)
      const get = (url: string, path: string): Promise<string> =>
        sendRaw(url, `GET ${path} ${version}\r\n${host}${authorization}Connection: close\r\n\r\n`)
      for (const path of ['/healthz', '/readyz', '/metrics', '/api/v1/wallets']) {
        expect(await get(server.adminUrl, path)).toMatch(/^HTTP\/1\.1 200 /)
      }
      expect(await get(server.url, '/readyz')).toMatch(/^HTTP\/1\.1 200 /)
    }
  })
})

describe('paths that could mean another one', () => {
  it.each([
    '/api/v1/wallets/u1/../u2',
    '/api/v1/wallets/u1/%2e%2E/u2',
    '/api/v1/wallets/./u2',
    '/api/v1/wallets/u1/.%2e/u2/entries',
    '/api/v1/wallets/%2E%2E/wallets/u2',
    '/api/v1/transactions/demo/../u2',
    '/api/v1/wallets/u1\\..\\u2',
    '/api/v1/wallets/u2#/entries',
    '/x/../api/v1/wallets/u2',
  ])('refuses %s', async (path) => {
    const server = await run()
    await server.store.createWallet('u1')
    await server.store.createWallet('u2')
    for (const method of ['GET', 'PUT']) {
      const answer = await call(server, `${method} ${path}`)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'bad_request'])
    }
    expect((await server.store.listWallets({ limit: 9, cursor: null })).items).toHaveLength(2)
  })

  it('refuses a target that is no path, on a port of its own as well', async () => {
    const server = await run({ adminPort: 0 })
    for (const target of ['http://v1/api/v1/wallets/u1', '*']) {
      const answer = await call(server, `OPTIONS ${target}`)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'bad_request'])
    }
  })

  it('leaves ids with dots alone', async () => {
    const server = await run()
    for (const user of ['...', '..a', 'a.', '.a..']) {
      expect((await call(server, `PUT /api/v1/wallets/${user}`)).status).toBe(201)
      expect(await server.store.readWallet(user)).not.toBeNull()
    }
  })
})

describe('cursors', () => {
  const uuid = '00000000-0000-7000-8000-000000000000'
  it.each([
    ['/api/v1/postbacks', '17'],
    ['/api/v1/postbacks', 'nothing'],
    ['/api/v1/postbacks', `${uuid}0`],
    ['/api/v1/wallets/u1/entries', uuid],
    ['/api/v1/wallets/u1/entries', '-1'],
    ['/api/v1/wallets/u1/entries', '1e3'],
    ['/api/v1/wallets/u1/entries', '9'.repeat(19)],
    ['/api/v1/wallets', '%00'],
    ['/api/v1/wallets', 'x'.repeat(256)],
  ])('of %s is not %s', async (path, cursor) => {
    const server = await run()
    await server.store.createWallet('u1')
    const { status, json } = await server.api('GET', `${path}?cursor=${cursor}`)
    expect([status, json.error.code]).toEqual([400, 'bad_request'])
    expect(json.error.message).toBe('cursor must be the nextCursor of an earlier answer.')
  })

  it('is taken where it has the shape of its list', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    for (const path of [`postbacks?cursor=${uuid}`, 'wallets/u1/entries?cursor=1', 'wallets?cursor=u1']) {
      expect((await server.api('GET', `/api/v1/${path}`)).status).toBe(200)
    }
  })
})

describe('times', () => {
  it.each([
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T12:00:00+02:00',
    '2026-00-10T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:00+24:00',
  ])('refuses %s', async (time) => {
    const server = await run()
    for (const name of ['since', 'until']) {
      const { status, json } = await server.api(
        'GET',
        `/api/v1/postbacks?${name}=${encodeURIComponent(time)}`,
      )
      expect([status, json.error.message.split(' ')[0]]).toEqual([400, name])
    }
  })

  it.each(['2028-02-29T23:59:59.999Z', '2026-12-31T00:00:00-11:30', '2026-01-01T00:00:00.123456789Z'])(
    'takes %s',
    async (time) => {
      const server = await run()
      const query = encodeURIComponent(time)
      expect((await server.api('GET', `/api/v1/postbacks?since=${query}`)).status).toBe(200)
    },
  )
})

it('tells how often each path of the group commit was taken', async () => {
  const server = await run()
  const status = server.receiver.status.bind(server.receiver)
  server.receiver.status = () => ({ ...status(), counters: { ...status().counters, skippedWallets: 4 } })
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text()
  expect(text).toContain('paidonce_commit_events_total{event="skipped_wallets"} 4')
  expect(text).toContain('paidonce_commit_events_total{event="unknown_commits"} 0')
})

it('tells what the inbox could not keep', async () => {
  const server = await run()
  const status = server.receiver.status.bind(server.receiver)
  server.receiver.status = () => ({ ...status(), inbox: { suppressed: 7, lost: 3 } })
  for (let scrape = 0; scrape < 2; scrape += 1) {
    expect(await metric(server, 'paidonce_inbox_suppressed_total')).toBe(7)
    expect(await metric(server, 'paidonce_inbox_lost_total')).toBe(3)
  }
})
