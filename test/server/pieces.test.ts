import { describe, expect, it } from 'vitest'
import { redactBody, redactForm, redactHeaders, redactText, redactUrl } from '../../src/inbox/redact.js'
import { parseDatabaseUrl, redactDatabaseUrl } from '../../src/server/database-url.js'
import { isPostback } from '../../src/server/dispatch.js'
import { levelOf } from '../../src/server/event-log.js'
import { nearestKey } from '../../src/server/nearest-key.js'
import { openStore } from '../../src/server/open-store.js'
import { pruneInbox } from '../../src/server/prune-inbox.js'
import { DEFAULT_SETTINGS } from '../../src/server/settings.js'

describe('redactUrl', () => {
  it.each([
    ['/p?tx=1&hash=abc', '/p?tx=1&hash=abc'],
    ['/p?token=abc&tx=1', '/p?token=***&tx=1'],
    [
      '/p?Secret_Key=a&api_key=b&apikey=c&password=d&key=e&pwd=f',
      '/p?Secret_Key=***&api_key=***&apikey=***&password=***&key=***&pwd=***',
    ],
    ['/p?%74oken=abc', '/p?%74oken=***'],
    ['/p?keyword=a&monkey=b&author=', '/p?keyword=a&monkey=b&author='],
    ['/p?sig=abc', '/p?sig=***'],
    ['/p?x=my+secret%21', '/p?x=***'],
    ['/p/my%20secret!/x', '/p/***/x'],
    ['/p?%zz=1&flag', '/p?%zz=1&flag'],
    ['/p?token=', '/p?token='],
    ['/p', '/p'],
  ])('%s', (url, shown) => {
    expect(redactUrl(url, { names: ['sig'], secrets: ['my secret!', ''] })).toBe(shown)
  })

  it('hides in forms and headers too', () => {
    expect(redactForm('a=1&auth=2')).toBe('a=1&auth=***')
    const headers = JSON.stringify({ authorization: 'Bearer x', 'x-a': ['abc', 's3'], host: 'h' })
    expect(redactHeaders(headers, { secrets: ['s3'] })).toEqual({
      authorization: '***',
      'x-a': ['abc', '***'],
      host: 'h',
    })
  })
})

describe('redactBody', () => {
  it.each([
    ['tx=1&token=geheim&sig=x', 'tx=1&token=***&sig=***'],
    ['{"tx":"1","token":"geheim"}', '{"tx":"1","token":"***"}'],
    ['{ "token" : 17, "Secret_Key":true,"a":1.50 }', '{ "token" : "***", "Secret_Key":"***","a":1.50 }'],
    ['{"token":{"a":["x","y"],"b":1},"c":"d"}', '{"token":"***","c":"d"}'],
    ['{"token":null,"secret":"","pwd":[]}', '{"token":null,"secret":"","pwd":"***"}'],
    ['{"\\u0074oken":"geheim"}', '{"\\u0074oken":"***"}'],
    [
      '[{"sig":"x"},{"deep":"x","user":{"deep":"y"}}]',
      '[{"sig":"***"},{"deep":"***","user":{"deep":"***"}}]',
    ],
    ['{"a":"x my secret! y","b":"my\\u0020secret!"}', '{"a":"x *** y","b":"***"}'],
    ['{"is my secret! in":1,"a":"token:b"}', '{"is *** in":"***","a":"token:b"}'],
    ['{"a":"{\\"token\\":1}","b":"\\\\"}', '{"a":"{\\"token\\":1}","b":"\\\\"}'],
    ['{"a":1,"token":"cut sho', '{"a":1,"token":"***"'],
    ['{"a":1,"token":{"x":[1,2', '{"a":1,"token":"***"'],
    ['{"a":1,"token":', '{"a":1,"token":'],
    ['\ufeff {"token":"x"}', '\ufeff {"token":"***"}'],
    ['{"tokens', '{"tokens'],
    ['plain text', 'plain text'],
    ['', ''],
  ])('%s', (body, shown) => {
    expect(redactBody(body, { names: ['sig', 'user.deep'], secrets: ['my secret!', ''] })).toBe(shown)
  })

  it('takes one pass over a large body', () => {
    const body = `{"a":"${'\\"'.repeat(200_000)}","b":[${'{"c":1},'.repeat(50_000)}1]}`
    const startedAt = performance.now()
    expect(redactBody(body)).toBe(body)
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })

  it('hides the longer of two secrets whole', () => {
    expect(redactText('x abcdef y', { secrets: ['abc', 'abcdef'] })).toBe('x *** y')
  })
})

describe('database URLs', () => {
  it.each([
    ['sqlite:./data/x.db', { kind: 'sqlite', path: './data/x.db' }],
    ['sqlite:/var/x.db', { kind: 'sqlite', path: '/var/x.db' }],
    ['sqlite:///var/x.db', { kind: 'sqlite', path: '/var/x.db' }],
    ['postgres://u@h/d', { kind: 'postgres', url: 'postgres://u@h/d' }],
    ['postgresql://u@h/d', { kind: 'postgres', url: 'postgresql://u@h/d' }],
    ['mysql://u@h/d', { kind: 'mysql', url: 'mysql://u@h/d' }],
    ['mariadb://u@h/d', { kind: 'mysql', url: 'mysql://u@h/d' }],
  ])('%s', (url, target) => {
    expect(parseDatabaseUrl(url)).toEqual(target)
  })

  it.each(['', 'sqlite:', 'redis://x', './x.db', 'postgres://'])('refuses %j', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(/^database is .*; expected sqlite:PATH/)
  })

  it('shows no password', async () => {
    expect(redactDatabaseUrl('postgres://u:p%40w@h/d?sslpassword=x&a=b')).toBe(
      'postgres://u:***@h/d?sslpassword=***&a=b',
    )
    expect(redactDatabaseUrl('mysql://u:a:b@c@h/d')).toBe('mysql://u:***@h/d')
    expect(redactDatabaseUrl('postgres://app:pa/ss#word@h/d')).toBe('postgres://app:***@h/d')
    const opened = openStore({ ...DEFAULT_SETTINGS, database: 'redis://u:hidden@h' })
    await expect(opened).rejects.toThrow('redis://u:***@h')
  })
})

describe('isPostback', () => {
  const options = { extraPaths: new Set(['/postback.php', '/cb/acme']), servesAdmin: true }
  it.each([
    ['/postback/demo?x', true],
    ['/postback', true],
    ['/postback?x', true],
    ['/postback.php?x=1', true],
    ['/cb/acme/', true],
    ['http://h/postback/x', true],
    ['/cb/acme/x', false],
    ['/postbacks', false],
    ['/api/v1/postbacks', false],
    ['/', false],
  ])('%s: %s', (target, expected) => {
    expect(isPostback(target, options)).toBe(expected)
  })

  it('leaves only health to the admin API on a port of its own', () => {
    const own = { ...options, servesAdmin: false }
    expect(isPostback('/healthz?x', own)).toBe(false)
    expect(isPostback('/api/v1/wallets', own)).toBe(true)
  })
})

describe('logging', () => {
  it.each([
    ['credited', 200, 'debug'],
    ['held', 200, 'info'],
    ['conflict', 200, 'warn'],
    ['credited', 204, 'info'],
    ['unknown_user', 500, 'warn'],
    ['overloaded', 503, 'warn'],
    ['failed', 500, 'error'],
    ['method_not_allowed', 405, 'info'],
  ] as const)('logs %s with %i at %s', (outcome, status, level) => {
    expect(levelOf({ outcome, status })).toBe(level)
  })
})

describe('pruneInbox', () => {
  it('deletes in batches, each kind by its own age, until a batch is not full', async () => {
    const left = { true: 12, false: 3 }
    const calls: { verified: boolean; before: Date; limit: number }[] = []
    const store = {
      prunePostbacks: (prune: { verified: boolean; before: Date; limit: number }): Promise<number> => {
        calls.push(prune)
        const key = prune.verified ? 'true' : 'false'
        const deleted = Math.min(left[key], prune.limit)
        left[key] -= deleted
        return Promise.resolve(deleted)
      },
    }
    const now = Date.parse('2026-06-30T00:00:00.000Z')
    const total = await pruneInbox(store, { verifiedDays: 10, rejectedDays: 1 }, now, {
      batch: 5,
      pauseMs: 1,
    })
    expect(total).toBe(15)
    expect(left).toEqual({ true: 0, false: 0 })
    expect(calls.map(({ verified, before, limit }) => [verified, before.toISOString(), limit])).toEqual([
      [false, '2026-06-29T00:00:00.000Z', 5],
      [true, '2026-06-20T00:00:00.000Z', 5],
      [true, '2026-06-20T00:00:00.000Z', 5],
      [true, '2026-06-20T00:00:00.000Z', 5],
    ])
  })

  it('stops when told to', async () => {
    const stop = new AbortController()
    const store = {
      prunePostbacks: (): Promise<number> => {
        stop.abort()
        return Promise.resolve(5)
      },
    }
    const options = { batch: 5, pauseMs: 1, signal: stop.signal }
    expect(await pruneInbox(store, DEFAULT_SETTINGS.inbox, 0, options)).toBe(5)
  })
})

it.each([
  ['prot', 'port'],
  ['amountscale', 'amountScale'],
  ['databse', 'database'],
  ['xyzzy', null],
])('takes %s for %s', (given, near) => {
  expect(nearestKey(given, Object.keys(DEFAULT_SETTINGS))).toBe(near)
})
