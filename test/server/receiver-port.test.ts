import { describe, expect, it } from 'vitest'
import { metric, run, sendRaw, signed } from './running.js'

const LOST = 'paidonce_lost_before_parsing_total'
const refusedBy = (cause: string): string => `paidonce_refused_before_receiver_total{cause="${cause}"}`

describe('postbacks over HTTP', () => {
  it('books a signed call once and answers copies alike', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const url = `${server.url}/postback/demo?${signed('t1', 'u1', '10')}`
    const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(url, { redirect: 'manual' })))
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(await answer.text()).toBe('OK')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    }
    expect(await server.store.readWallet('u1')).toEqual({ user: 'u1', balance: 10_000n })
    expect(await metric(server, 'paidonce_postbacks_total{network="demo",outcome="credited"}')).toBe(1)
    expect(await metric(server, 'paidonce_postbacks_total{network="demo",outcome="duplicate"}')).toBe(4)
    expect(await metric(server, 'paidonce_answer_seconds_count')).toBe(5)
    expect(await metric(server, 'paidonce_last_verified_timestamp_seconds{network="demo"}')).toBeGreaterThan(
      1e9,
    )
    expect(await metric(server, 'paidonce_queue_depth')).toBe(0)
    expect(await metric(server, 'paidonce_group_size_count')).toBeGreaterThan(0)
  })

  it.each(['/postback/demo', '/postback/demo/', '/postback.php', '/postback.php/'])(
    'reaches the network by %s without a redirect',
    async (path) => {
      const server = await run()
      await server.store.createWallet('u1')
      const answer = await fetch(`${server.url}${path}?${signed('t1', 'u1', '1')}`, { redirect: 'manual' })
      expect(answer.status).toBe(200)
      expect((await server.store.readWallet('u1'))?.balance).toBe(1000n)
    },
  )

  it('answers HEAD and other methods with 405 and books nothing', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const url = `${server.url}/postback/demo?${signed('t1', 'u1', '1')}`
    for (const method of ['HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await fetch(url, { method })).status).toBe(405)
    }
    expect((await server.store.readWallet('u1'))?.balance).toBe(0n)
  })

  it('counts and logs an unknown network, and never makes a label of its name', async () => {
    const server = await run()
    expect((await fetch(`${server.url}/postback/nobody?a=1`)).status).toBe(404)
    expect(
      await metric(server, 'paidonce_postbacks_total{network="unknown",outcome="unknown_network"}'),
    ).toBe(1)
    const line = server.log.find(({ facts }) => facts['outcome'] === 'unknown_network')
    expect(line?.level).toBe('warn')
    expect(line?.facts['network']).toBe('nobody')
  })

  it('logs what is not a 200 without the URL and its secrets', async () => {
    const server = await run()
    const query = signed('t1', 'u1', '1', { secret: 'wrong' })
    expect((await fetch(`${server.url}/postback/demo?${query}`)).status).toBe(403)
    const line = server.log.find(({ facts }) => facts['outcome'] === 'bad_signature')
    expect(line).toMatchObject({ level: 'warn', facts: { network: 'demo', status: 403 } })
    expect(JSON.stringify(server.log)).not.toContain(new URLSearchParams(query).get('hash'))
  })

  it('serves HTTP/1.0, and HTTP/1.1 without a Host', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const get = `GET /postback/demo?${signed('t1', 'u1', '1')}`
    expect(await sendRaw(server.url, `${get} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
    const bare = await sendRaw(server.url, `${get} HTTP/1.1\r\nConnection: close\r\n\r\n`)
    expect(bare).toMatch(/^HTTP\/1\.1 200 /)
    expect((await server.store.readWallet('u1'))?.balance).toBe(1000n)
  })

  it('gives a failing receiver a 500 and the log its error', async () => {
    const server = await run()
    server.receiver.handle = () => Promise.reject(new Error('broken on purpose'))
    const answer = await fetch(`${server.url}/postback/demo?${signed('t1', 'u1', '1')}`)
    expect(answer.status).toBe(500)
    expect(server.log.find(({ level }) => level === 'error')?.facts['error']).toContain('broken on purpose')
  })
})

describe('bodies', () => {
  const calls: { method: string; url: string; body: string }[] = []
  const seen = async (): ReturnType<typeof run> => {
    const server = await run()
    calls.length = 0
    server.receiver.handle = ({ method, url, body }) => {
      calls.push({ method, url, body: Buffer.from(body).toString('latin1') })
      return Promise.resolve({ status: 200, headers: {}, body: 'OK', outcome: 'credited' })
    }
    return server
  }
  const post = 'POST /postback/demo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'

  it('hands over a body by length, in chunks, and after 100-continue', async () => {
    const server = await seen()
    await sendRaw(server.url, `${post}Content-Length: 7\r\n\r\na=1&b=2`)
    await sendRaw(server.url, `${post}Transfer-Encoding: chunked\r\n\r\n3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n`)
    const expecting = `${post}Content-Length: 7\r\nExpect: 100-continue\r\n\r\n`
    expect(await sendRaw(server.url, expecting, 50, 'a=1&b=2')).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
    )
    expect(calls.map(({ body }) => body)).toEqual(['a=1&b=2', 'a=1&b=2', 'a=1&b=2'])
  })

  it('passes the raw target on as it arrived', async () => {
    const server = await seen()
    const target = `/postback/demo?a='"<>%zz+%2F\\|{}&a=2`
    await sendRaw(server.url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(calls[0]?.url).toBe(target)
  })

  it('refuses more than 1 MiB, announced or not, with 413', async () => {
    const server = await seen()
    expect(await sendRaw(server.url, `${post}Content-Length: 1048577\r\n\r\nabc`)).toMatch(/^HTTP\/1\.1 413 /)
    const expecting = `${post}Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n`
    expect(await sendRaw(server.url, expecting)).toMatch(/^HTTP\/1\.1 413 /)
    const chunk = `100001\r\n${'x'.repeat(0x100001)}\r\n`
    expect(await sendRaw(server.url, `${post}Transfer-Encoding: chunked\r\n\r\n${chunk}`)).toMatch(
      /^HTTP\/1\.1 413 /,
    )
    expect(calls).toEqual([])
    expect(await metric(server, refusedBy('body_too_large'))).toBe(3)
  })

  it.each([
    [
      'a GET with a length',
      'GET /postback/demo?a=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc',
      'unexpected_body',
    ],
    [
      'a GET in chunks',
      'GET /postback/demo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'unexpected_body',
    ],
    [
      'a GET with an odd encoding',
      'GET /postback/demo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n',
      'unexpected_body',
    ],
    [
      'an absolute target',
      'GET http://evil.example/postback/demo?a=1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'bad_target',
    ],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 'bad_target'],
  ])('refuses %s', async (_name, request, cause) => {
    const server = await seen()
    const answer = await sendRaw(server.url, request)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(answer).toMatch(/connection: close/i)
    expect(calls).toEqual([])
    expect(await metric(server, refusedBy(cause))).toBe(1)
  })
})

describe('calls that Node.js rejects before any handler', () => {
  const end = ' HTTP/1.1\r\nHost: x\r\n\r\n'

  it.each<[string, Buffer | string, number]>([
    ['a raw space', `GET /postback/demo?tx=1&user=John Doe&token=geheim${end}`, 400],
    ['raw UTF-8', Buffer.from(`GET /postback/demo?tx=1&user=José&token=geheim${end}`), 400],
    ['no HTTP at all', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]), 400],
    ['two lengths', `POST /postback/demo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    [
      'length and encoding',
      `POST /postback/demo HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
  ])('counts and logs %s', async (_name, request, status) => {
    const server = await run()
    const answer = await sendRaw(server.url, request)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(await metric(server, LOST)).toBe(1)
    const line = server.log.find(({ message }) => message.startsWith('A call was lost before parsing'))
    expect(line?.level).toBe('warn')
    expect(JSON.stringify(line)).not.toContain('geheim')
  })

  it('shows the line, shortened and escaped', async () => {
    const server = await run()
    await sendRaw(server.url, Buffer.from(`GET /postback/demo/José${'x'.repeat(300)}${end}`))
    const line = String(server.log.find(({ facts }) => 'line' in facts)?.facts['line'])
    expect(line).toMatch(/^GET \/postback\/demo\/Jos\\xc3\\xa9x+…$/)
    expect(line).toHaveLength(201)
  })

  it('answers 431 to a URL of 20 kB', async () => {
    const server = await run()
    const answer = await sendRaw(server.url, `GET /postback/demo?x=${'y'.repeat(20_000)}${end}`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(await metric(server, LOST)).toBe(1)
  })

  it('takes a URL of 15 kB', async () => {
    const server = await run()
    const answer = await sendRaw(
      server.url,
      `GET /postback/demo?x=${'y'.repeat(15_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
    expect(await metric(server, LOST)).toBe(0)
  })
})

describe('a port of its own for the admin API', () => {
  it('keeps the two apart, health on both', async () => {
    const server = await run({ adminPort: 0 })
    expect(server.adminUrl).not.toBe(server.url)
    expect((await server.api('GET', '/api/v1/wallets')).status).toBe(200)
    expect((await fetch(`${server.url}/api/v1/wallets`)).status).toBe(404)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect((await fetch(`${server.adminUrl}/readyz`)).status).toBe(200)
    expect((await fetch(`${server.adminUrl}/postback/demo?${signed('t', 'u', '1')}`)).status).toBe(404)
  })
})
