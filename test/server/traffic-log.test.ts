/**
 * What a stranger's traffic may write into the log, and what it may never.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { StoreError } from '../../src/errors.js'
import { describeLine, watchClientErrors, wordingOf } from '../../src/server/client-errors.js'
import type { Logger } from '../../src/server/logger.js'
import { createStoreErrorLog } from '../../src/server/store-error-log.js'
import { createTrafficLog } from '../../src/server/traffic-log.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { run, sendRaw, signed, SECRET, TOKEN, type LogLine } from './running.js'

function recorder(): { lines: LogLine[]; logger: Logger } {
  const lines: LogLine[] = []
  const at =
    (level: string) =>
    (facts: object, message: string): void => {
      lines.push({ level, facts: { ...facts }, message })
    }
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

describe('the limit', () => {
  it('is 50 lines a second, of errors another 50, and what was left out is said', () => {
    const { lines, logger } = recorder()
    let now = 1000
    const traffic = createTrafficLog(logger, { now: () => now })
    for (let call = 0; call < 40; call += 1) {
      traffic.warn({ call }, 'one')
      traffic.info({ call }, 'two')
      traffic.error({ call }, 'three')
      traffic.debug({ call }, 'four')
    }
    expect(lines.filter(({ level }) => level === 'warn' || level === 'info')).toHaveLength(50)
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(40)
    expect(lines.filter(({ level }) => level === 'debug')).toHaveLength(40)
    lines.length = 0
    now = 2000
    traffic.warn({}, 'next')
    expect(lines).toMatchObject([
      { level: 'warn', facts: { leftOut: 30 }, message: 'Left out 30 lines about calls in one second.' },
      { message: 'next' },
    ])
  })

  it('says it too where nothing follows', () => {
    vi.useFakeTimers()
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const { lines, logger } = recorder()
    const traffic = createTrafficLog(logger)
    for (let call = 0; call < 53; call += 1) traffic.warn({}, 'one')
    vi.advanceTimersByTime(1100)
    expect(lines.at(-1)).toMatchObject({ facts: { leftOut: 3 } })
    expect(lines).toHaveLength(51)
  })

  it('holds for all of a stranger’s calls together', async () => {
    const server = await run()
    const send = async (index: number): Promise<void> => {
      await fetch(`${server.url}/unknown${index}?a=1`)
      await fetch(`${server.url}/postback/nobody${index}`)
      await fetch(`${server.url}/postback/demo?${signed('t', 'u', '1', { secret: 'wrong' })}`)
      await sendRaw(server.url, `GET /a b HTTP/1.1\r\n\r\n`)
      await sendRaw(server.url, `GET http://x/ HTTP/1.1\r\n\r\n`)
    }
    await Promise.all(Array.from({ length: 60 }, (_none, index) => send(index)))
    // Calls that fall into two seconds are told of twice, so what counts is the sum.
    const told = (): number => {
      const lines = server.log.filter(({ message }) =>
        /unknown path|answered|lost before|turned away/.test(message),
      )
      return server.log.reduce((sum, { facts }) => sum + Number(facts['leftOut'] ?? 0), lines.length)
    }
    await expect.poll(told, { timeout: 5_000 }).toBe(300)
    expect(server.log.some(({ facts }) => 'leftOut' in facts)).toBe(true)
  })
})

describe('secrets', () => {
  it('stand in no line, whatever a call does with them', async () => {
    const server = await run()
    await fetch(`${server.url}/postback/demo?secret=${SECRET}`)
    await fetch(`${server.url}/postback/${SECRET}?a=1`)
    await fetch(`${server.url}/unknown?token=${SECRET}`)
    await fetch(`${server.url}/unknown/${SECRET}?a=1`)
    await sendRaw(server.url, `GET /x y?key=${SECRET} HTTP/1.1\r\n\r\n`)
    await sendRaw(server.url, `GET /x?user=a b&hash=${SECRET}&${SECRET} HTTP/1.1\r\n\r\n`)
    await sendRaw(server.url, `GET /${SECRET}/${TOKEN} x HTTP/1.1\r\n\r\n`)
    await sendRaw(server.url, `GET http://${SECRET}/ HTTP/1.1\r\n\r\n`)
    expect(server.log.length).toBeGreaterThan(6)
    const log = JSON.stringify(server.log)
    expect(log).not.toContain(SECRET)
    expect(log).not.toContain(TOKEN)
  })

  it.each([
    ['GET /p?tx=1&user=John Doe&sig=geheim HTTP/1.1\r\nHost: x', 'GET /p?tx&user&sig'],
    ['GET /p?geheim HTTP/1.1', 'GET /p?…'],
    ['GET /p?sig=a&geheim&x[1]=2 HTTP/1.1', 'GET /p?sig&…&x[1]'],
    ['GET /p?sig=ge&he im=3 HTTP/1.1', 'GET /p?sig&…'],
    ['GET /a\tb?token=x y HTTP/1.1\r\nCookie: z', 'GET /a\\x09b?token'],
    ['GET /p HTTP/9.9', 'GET /p'],
    [`GET /p?${'n'.repeat(41)}=1`, 'GET /p?…'],
  ])('%s is shown as %s', (packet, shown) => {
    expect(describeLine(Buffer.from(packet))).toBe(shown)
  })

  it('are no part of a packet that does not begin a request', () => {
    expect(describeLine(Buffer.from('ecretpart&x=1'))).toBe('(13 bytes that do not begin a request)')
    expect(describeLine(undefined)).toBeNull()
  })

  it('are taken out of facts at any depth', () => {
    const { lines, logger } = recorder()
    const traffic = createTrafficLog(logger, { secrets: ['geheim', 'geheim-2', ''] })
    traffic.warn({ a: 'x geheim-2 y', b: ['geheim'], c: 7, d: null }, 'one')
    expect(lines[0]?.facts).toEqual({ a: 'x *** y', b: ['***'], c: 7, d: null })
  })
})

describe('calls that are no HTTP', () => {
  it.each([
    ['HPE_HEADER_OVERFLOW', 'longer than 16 KiB'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 'too slow'],
    ['HPE_INVALID_URL', 'does not encode its URL'],
    ['HPE_INVALID_CONSTANT', 'does not encode its URL'],
    ['HPE_INVALID_VERSION', 'does not encode its URL'],
    ['HPE_INVALID_METHOD', 'no valid HTTP'],
    ['HPE_UNEXPECTED_CONTENT_LENGTH', 'no valid HTTP'],
    [undefined, 'no valid HTTP'],
  ])('%s: %s', (code, words) => {
    expect(wordingOf(code, undefined)).toMatch(/^A call was lost before parsing: /)
    expect(wordingOf(code, undefined)).toContain(words)
  })

  it('names TLS on a port for HTTP', () => {
    const hello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])
    expect(wordingOf('HPE_INVALID_METHOD', hello)).toContain('HTTPS')
  })

  it('words what really arrives', async () => {
    const server = await run()
    await sendRaw(server.url, `GET /postback/demo?x=${'y'.repeat(20_000)} HTTP/1.1\r\n\r\n`)
    await sendRaw(server.url, 'GET /postback/demo?user=John Doe HTTP/1.1\r\n\r\n')
    await sendRaw(server.url, Buffer.from('GET /postback/demo?user=José HTTP/1.1\r\n\r\n'))
    const lost = server.log.map(({ message }) => message).filter((text) => text.includes('before parsing'))
    expect(lost).toHaveLength(3)
    expect(lost[0]).toContain('longer than 16 KiB')
    expect(lost[1]).toContain('does not encode its URL')
    expect(lost[2]).toContain('does not encode its URL')
  })

  // Node reports the socket again when its other side ends it in the middle of what it was sending.
  it.each([false, true])('counts a slow sender once; left open: %s', async (allowHalfOpen) => {
    const { lines, logger } = recorder()
    const server = createServer({
      headersTimeout: 100,
      requestTimeout: 150,
      connectionsCheckingInterval: 50,
    })
    let lost = 0
    watchClientErrors(server, logger, () => {
      lost += 1
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
    socket.on('error', () => undefined)
    onTestFinished(() => {
      socket.destroy()
    })
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.write('GET /postback/demo?tx=1 HTTP/1.1\r\n')
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(lost).toBe(1)
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('too slow')])
  })
})

describe('a database in trouble', () => {
  it('is logged with its own error, each kind once in five seconds', () => {
    const { lines, logger } = recorder()
    let now = 0
    const log = createStoreErrorLog(logger, () => now)
    const away = new StoreError('away', 'The database is away.', new Error('connect ECONNREFUSED'))
    for (let attempt = 0; attempt < 10; attempt += 1) log(away)
    log(new StoreError('refused', 'No.'))
    now = 4999
    log(away)
    expect(lines).toMatchObject([
      {
        level: 'error',
        facts: { failure: 'away', error: 'The database is away.', cause: 'connect ECONNREFUSED' },
      },
      { level: 'warn', facts: { failure: 'refused', error: 'No.' } },
    ])
    now = 5000
    log(away)
    expect(lines.at(-1)).toMatchObject({ level: 'error', facts: { leftOut: 10 } })
  })

  it('tells while running what the store says', async () => {
    const inner = memoryStore()
    const store = {
      ...inner,
      applyGroup: (): Promise<never> =>
        Promise.reject(new StoreError('away', 'The database is away.', new Error(`no route, ${SECRET}`))),
    }
    const server = await run({}, { store })
    await server.store.createWallet('u1')
    expect((await fetch(`${server.url}/postback/demo?${signed('t1', 'u1', '1')}`)).status).toBe(503)
    const line = server.log.find(({ facts }) => facts['failure'] === 'away')
    expect(line).toMatchObject({ level: 'error', facts: { cause: 'no route, ***' } })
  })
})

it('keeps the log of a failing admin request within the limit', async () => {
  const store = { ...memoryStore(), readWallet: (): Promise<never> => Promise.reject(new Error('broken')) }
  const server = await run({}, { store })
  for (let call = 0; call < 60; call += 1) {
    expect((await server.api('GET', '/api/v1/wallets/u1')).status).toBe(500)
  }
  const failed = server.log.filter(({ message }) => message === 'An admin request failed.')
  expect(failed.length).toBeGreaterThanOrEqual(50)
  expect(failed.length).toBeLessThanOrEqual(100)
})
