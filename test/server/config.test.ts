import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PaidonceError } from '../../src/errors.js'
import { loadSettings, type LoadSettingsOptions } from '../../src/server/config.js'

const SECRET = 'a-secret-that-must-not-show'
const NETWORK = { profile: 'sharklio', secret: SECRET }

let cwd = ''
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'paidonce-config-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true })
})

async function load(options: LoadSettingsOptions = {}): ReturnType<typeof loadSettings> {
  return loadSettings({ env: {}, cwd, ...options })
}

async function write(name: string, content: string): Promise<string> {
  const path = join(cwd, name)
  await writeFile(path, content)
  return path
}

async function writeConfig(config: unknown): Promise<string> {
  return write('paidonce.config.json', JSON.stringify(config))
}

async function failureOf(options: LoadSettingsOptions = {}): Promise<PaidonceError> {
  try {
    await load(options)
  } catch (error) {
    if (error instanceof PaidonceError) return error
    throw error
  }
  throw new Error('The settings were accepted.')
}

describe('sources and their order', () => {
  it('falls back to the defaults without anything', async () => {
    const { settings, origins } = await load()
    expect(settings).toMatchObject({
      configFile: null,
      database: 'sqlite:./data/paidonce.db',
      port: 8790,
      host: '127.0.0.1',
      adminPort: null,
      adminToken: null,
      trustProxy: false,
      logLevel: 'info',
      amountScale: 3,
      unknownUser: 'retry',
      tables: { prefix: 'paidonce_' },
      inbox: { verifiedDays: 400, rejectedDays: 30, rejectedPerMinute: 600 },
      isolation: 'read committed',
      networks: {},
    })
    expect(origins['port']).toBe('default')
  })

  it('takes flag before PAIDONCE_ before file before plain variable', async () => {
    const file = await writeConfig({ port: 3 })
    const env = { PAIDONCE_PORT: '2', PORT: '4' }
    expect((await load({ flags: { port: '1' }, env })).settings.port).toBe(1)
    expect(await load({ env })).toMatchObject({
      settings: { port: 2 },
      origins: { port: 'PAIDONCE_PORT' },
    })
    expect(await load({ env: { PORT: '4' } })).toMatchObject({
      settings: { port: 3 },
      origins: { port: file },
    })
    await writeConfig({})
    expect(await load({ env: { PORT: '4' } })).toMatchObject({
      settings: { port: 4 },
      origins: { port: 'PORT' },
    })
    expect((await load({ flags: { port: '1' } })).origins['port']).toBe('--port')
  })

  it.each([
    ['DATABASE_URL', 'postgres://db/x', 'database', 'postgres://db/x'],
    ['PAIDONCE_DATABASE_URL', 'mysql://db/x', 'database', 'mysql://db/x'],
    ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
    ['PAIDONCE_HOST', '::1', 'host', '::1'],
    ['PAIDONCE_ADMIN_PORT', '9000', 'adminPort', 9000],
    ['PAIDONCE_ADMIN_TOKEN', 'abc', 'adminToken', 'abc'],
    ['PAIDONCE_PUBLIC_URL', 'https://pay.example/x', 'publicUrl', 'https://pay.example/x'],
    ['PAIDONCE_TRUST_PROXY', '2', 'trustProxy', 2],
    ['PAIDONCE_TRUST_PROXY', 'false', 'trustProxy', false],
    ['PAIDONCE_TRUST_PROXY', '10.0.0.0/8, ::1', 'trustProxy', ['10.0.0.0/8', '::1']],
    ['LOG_LEVEL', 'debug', 'logLevel', 'debug'],
    ['PAIDONCE_LOG_LEVEL', 'warn', 'logLevel', 'warn'],
  ])('reads %s=%s as %s', async (variable, text, key, value) => {
    const { settings, origins } = await load({ env: { [variable]: text } })
    expect(settings).toMatchObject({ [key]: value })
    expect(origins[key]).toBe(variable)
  })

  it('reads PAIDONCE_X_FILE and drops one line break at the end', async () => {
    const path = await write('token', 'the-token\n')
    const loaded = await load({ env: { PAIDONCE_ADMIN_TOKEN_FILE: path } })
    expect(loaded.settings.adminToken).toBe('the-token')
    expect(loaded.origins['adminToken']).toBe('PAIDONCE_ADMIN_TOKEN_FILE')
  })

  it('refuses a variable that is given twice', async () => {
    const path = await write('port', '1')
    const error = await failureOf({ env: { PAIDONCE_PORT: '1', PAIDONCE_PORT_FILE: path } })
    expect(error.message).toBe('PAIDONCE_PORT and PAIDONCE_PORT_FILE are both set; expected one of them.')
  })

  it('ignores an empty plain variable and refuses an empty one of ours', async () => {
    expect((await load({ env: { PORT: '' } })).settings.port).toBe(8790)
    expect((await failureOf({ env: { PAIDONCE_ADMIN_TOKEN: '' } })).message).toBe(
      'PAIDONCE_ADMIN_TOKEN is empty; expected a value.',
    )
  })

  it('names a file that cannot be read', async () => {
    const error = await failureOf({ env: { PAIDONCE_PORT_FILE: 'nowhere' } })
    expect(error.message).toContain('PAIDONCE_PORT_FILE names the file')
    expect(error.message).toContain('ENOENT')
  })
})

describe('the configuration file', () => {
  it.each([
    ['paidonce.config.json', '{"port": 81}'],
    ['paidonce.config.mjs', 'export default { port: 81 }'],
    ['paidonce.config.js', 'module.exports = { port: 81 }'],
    ['paidonce.config.ts', 'const port: number = 81\nexport default { port } satisfies { port: number }'],
  ])('finds and reads %s', async (name, content) => {
    const file = await write(name, content)
    const { settings, origins } = await load()
    expect(settings.port).toBe(81)
    expect(settings.configFile).toBe(file)
    expect(origins['port']).toBe(file)
  })

  it('takes the one that --config or PAIDONCE_CONFIG names', async () => {
    await write('other.json', '{"port": 82}')
    await write('third.json', '{"port": 83}')
    expect((await load({ flags: { config: 'other.json' } })).settings.port).toBe(82)
    expect((await load({ env: { PAIDONCE_CONFIG: 'other.json' } })).settings.port).toBe(82)
    const both = { flags: { config: 'third.json' }, env: { PAIDONCE_CONFIG: 'other.json' } }
    expect((await load(both)).settings.port).toBe(83)
  })

  it('does not look above the working directory', async () => {
    await writeConfig({ port: 81 })
    const { mkdir } = await import('node:fs/promises')
    await mkdir(join(cwd, 'below'))
    expect((await load({ cwd: join(cwd, 'below') })).settings.port).toBe(8790)
  })

  it('refuses a missing, a broken and a second file', async () => {
    expect((await failureOf({ flags: { config: 'gone.json' } })).message).toMatch(
      /gone\.json" does not exist/,
    )
    await write('paidonce.config.json', '{"port": ')
    expect((await failureOf()).message).toMatch(/paidonce\.config\.json cannot be read: /)
    await write('paidonce.config.mjs', 'export default {}')
    expect((await failureOf()).message).toMatch(/2 configuration files .*mjs, paidonce\.config\.json/)
  })

  it('uses the fallback only where no file is', async () => {
    const fallback = { networks: { demo: NETWORK } }
    expect(Object.keys((await load({ fallback })).settings.networks)).toEqual(['demo'])
    await writeConfig({})
    expect((await load({ fallback })).settings.networks).toEqual({})
  })
})

describe('wrong values in the file', () => {
  const network = (more: object): object => ({ networks: { acme: { ...NETWORK, ...more } } })

  it.each<[string, unknown, string]>([
    ['no object', [], 'The configuration is []; expected an object (see "defineConfig").'],
    ['an unknown key', { prot: 1 }, 'prot is no known key: did you mean "port"?'],
    [
      'a far unknown key',
      { inbox: { xyzzyxyzzy: 1 } },
      'inbox.xyzzyxyzzy is no known key; expected one of verifiedDays',
    ],
    ['port', { port: '80' }, 'port is "80"; expected a whole number from 0 to 65535.'],
    ['adminPort', { adminPort: 70000 }, 'adminPort is 70000; expected a whole number from 0 to 65535.'],
    ['database', { database: 'redis://u:pw@h/1' }, 'database is "redis://u:***@h/1"; expected sqlite:PATH'],
    ['host', { host: 'a b' }, 'host is "a b"; expected an address or a host name'],
    [
      'publicUrl',
      { publicUrl: 'pay.example' },
      'publicUrl is "pay.example"; expected an http:// or https:// URL',
    ],
    [
      'trustProxy',
      { trustProxy: true },
      'trustProxy is true; expected false, the number of proxies, or a list',
    ],
    ['trustProxy list', { trustProxy: ['10.0.0.0/33'] }, 'trustProxy is ["10.0.0.0/33"]; expected false'],
    ['logLevel', { logLevel: 'loud' }, 'logLevel is "loud"; expected "fatal", "error", "warn", "info"'],
    ['amountScale', { amountScale: 7 }, 'amountScale is 7; expected a whole number from 0 to 6.'],
    ['unknownUser', { unknownUser: 'x' }, 'unknownUser is "x"; expected "retry", "create" or "hold".'],
    ['wallets', { wallets: { table: 'users', id: 'id' } }, 'wallets.balance is missing; expected text'],
    ['wallets key', { wallets: { table: 'u', id: 'i', balanc: 'b' } }, 'did you mean "balance"?'],
    ['tables', { tables: 'x_' }, 'tables is "x_"; expected an object { prefix, schema? }.'],
    ['migrate', { migrate: 'yes' }, 'migrate is "yes"; expected "auto", "check" or "off".'],
    [
      'inbox',
      { inbox: { verifiedDays: 0 } },
      'inbox.verifiedDays is 0; expected a whole number of days from 1',
    ],
    ['outbox', { outbox: 'on' }, 'outbox is "on"; expected true or false.'],
    ['ledgerId', { ledgerId: '' }, 'ledgerId is ""; expected text without white space at its ends.'],
    ['pooler', { pooler: 1 }, 'pooler is 1; expected true or false.'],
    [
      'isolation',
      { isolation: 'snapshot' },
      'isolation is "snapshot"; expected "read committed" or "serializable".',
    ],
    [
      'shutdownDelay',
      { shutdownDelay: -1 },
      'shutdownDelay is -1; expected a whole number of seconds from 0 to 300.',
    ],
    ['networks', { networks: [] }, 'networks is []; expected an object { NAME: network }.'],
    ['network name', { networks: { 'Acme!': NETWORK } }, 'networks has the name "Acme!"; expected 1 to 64'],
    ['reserved name', { networks: { paidonce: NETWORK } }, 'networks has the name "paidonce"; expected'],
    ['network key', network({ secrt: 'x' }), 'networks.acme.secrt is no known key: did you mean "secret"?'],
    ['profile', { networks: { acme: { secret: 'x' } } }, 'networks.acme.profile is missing; expected a name'],
    [
      'secret',
      network({ secret: 5 }),
      'networks.acme.secret has a wrong value (not shown); expected text, { "env"',
    ],
    [
      'secret form',
      network({ secret: { evn: 'X' } }),
      'networks.acme.secret has a wrong value (not shown); expected',
    ],
    [
      'previousSecrets',
      network({ previousSecrets: 'x' }),
      'networks.acme.previousSecrets has a wrong value (not shown)',
    ],
    ['params', network({ params: { user: '' } }), 'networks.acme.params.user is ""; expected text'],
    [
      'paths',
      network({ paths: ['x.php'] }),
      'networks.acme.paths[0] is "x.php"; expected a path that begins with "/"',
    ],
    ['paths query', network({ paths: ['/x?y'] }), 'networks.acme.paths[0] is "/x?y"; expected a path'],
    [
      'own path',
      network({ paths: ['/api/x'] }),
      'networks.acme.paths has "/api/x", which the server uses itself',
    ],
    [
      'health path',
      network({ paths: ['/healthz'] }),
      'networks.acme.paths has "/healthz", which the server uses itself',
    ],
    [
      'postback path',
      network({ paths: ['/postback/acme'] }),
      'networks.acme.paths has "/postback/acme", which',
    ],
    [
      'path twice',
      network({ paths: ['/x', '/x'] }),
      'networks.acme.paths has "/x", which stands there twice',
    ],
    [
      'path of two networks',
      { networks: { acme: { ...NETWORK, paths: ['/x'] }, other: { ...NETWORK, paths: ['/x'] } } },
      'networks.other.paths has "/x", which networks.acme claims as well; expected each path once.',
    ],
    ['idSpace', network({ idSpace: 'paidonce:x' }), 'networks.acme.idSpace is "paidonce:x"; expected an id'],
    [
      'formerly',
      network({ formerly: ['acme'] }),
      'networks.acme.formerly has "acme", which is a configured network',
    ],
    [
      'answers outcome',
      network({ answers: { credit: { status: 200, body: '' } } }),
      'did you mean "credited"?',
    ],
    [
      'answers status',
      network({ answers: { booked: { status: 302, body: 'OK' } } }),
      'networks.acme.answers.booked.status is 302; expected an HTTP status from 200 to 299 or 400 to 599',
    ],
    [
      'answers body',
      network({ answers: { booked: { status: 200 } } }),
      'networks.acme.answers.booked.body is missing',
    ],
    [
      'acceptLoss',
      network({ acceptLoss: 'yes' }),
      'networks.acme.acceptLoss is "yes"; expected true or false.',
    ],
    [
      'tests',
      network({ tests: 'sometimes' }),
      'networks.acme.tests is "sometimes"; expected "credit" or "record".',
    ],
    [
      'allowedIps',
      network({ allowedIps: ['1.2.3'] }),
      'networks.acme.allowedIps[0] is "1.2.3"; expected an IP address',
    ],
    ['rate', network({ rate: 1000 }), 'networks.acme.rate is 1000; expected decimal text above zero'],
    ['rate zero', network({ rate: '0.0' }), 'networks.acme.rate is "0.0"; expected decimal text above zero'],
    [
      'rounding',
      network({ rounding: 'up' }),
      'networks.acme.rounding is "up"; expected "reject", "down" or "half-even".',
    ],
    [
      'idPattern',
      network({ idPattern: '[0-9]+' }),
      'networks.acme.idPattern is "[0-9]+"; expected a regular expression',
    ],
    [
      'idPattern broken',
      network({ idPattern: '^(.$' }),
      'networks.acme.idPattern is "^(.$"; expected a regular',
    ],
    [
      'network publicUrl',
      network({ publicUrl: 'https://x/?a' }),
      'networks.acme.publicUrl is "https://x/?a"; expected',
    ],
  ])('%s', async (_name, config, message) => {
    await writeConfig(config)
    const error = await failureOf()
    expect(error.code).toBe('config_invalid')
    expect(error.message).toContain(message)
    expect(error.message).not.toContain(SECRET)
    expect(error.hint).toBeTruthy()
  })

  it('reports everything at once', async () => {
    await writeConfig({ port: 'x', logLevel: 'y' })
    expect((await failureOf()).message.split('\n')).toHaveLength(2)
  })
})

describe('wrong values in flags and variables', () => {
  it.each<[LoadSettingsOptions, string, string]>([
    [{ flags: { port: '80a' } }, 'port is "80a"; expected a whole number from 0 to 65535.', '--port'],
    [{ env: { PAIDONCE_PORT: '-1' } }, 'port is "-1"; expected', 'PAIDONCE_PORT'],
    [{ env: { PORT: '99999' } }, 'port is 99999; expected', 'PORT'],
    [{ env: { LOG_LEVEL: 'verbose' } }, 'logLevel is "verbose"; expected', 'LOG_LEVEL'],
    [{ env: { PAIDONCE_TRUST_PROXY: 'true' } }, 'trustProxy is ["true"]; expected', 'PAIDONCE_TRUST_PROXY'],
    [
      { env: { DATABASE_URL: 'mongodb://a:pass-word@h' } },
      'database is "mongodb://a:***@h"; expected',
      'DATABASE_URL',
    ],
    [
      { env: { PAIDONCE_ADMIN_TOKEN: 'se cret' } },
      'adminToken has a wrong value (not shown); expected',
      'PAIDONCE_ADMIN_TOKEN',
    ],
  ])('%j', async (options, message, source) => {
    const error = await failureOf(options)
    expect(error.message).toContain(message)
    expect(error.message).not.toMatch(/pass-word|se cret/)
    expect(error.hint).toBe(`The value came from ${source}.`)
  })
})

describe('secrets', () => {
  const config = (secret: unknown): unknown => ({ networks: { acme: { profile: 'sharklio', secret } } })

  it('reads text, a variable and a file, and says where each came from', async () => {
    await write('key.txt', 'from-file\n')
    await writeConfig({
      networks: {
        a: { profile: 'sharklio', secret: 'from-text' },
        b: { profile: 'sharklio', secret: { env: 'B_KEY' } },
        c: { profile: 'sharklio', secret: { file: 'key.txt' }, previousSecrets: [{ env: 'B_KEY' }, 'old'] },
      },
    })
    const { settings, origins } = await load({ env: { B_KEY: 'from-variable' } })
    expect(settings.networks['a']?.secret).toBe('from-text')
    expect(settings.networks['b']?.secret).toBe('from-variable')
    expect(settings.networks['c']).toMatchObject({
      secret: 'from-file',
      previousSecrets: ['from-variable', 'old'],
    })
    expect(origins['networks.b.secret']).toBe('environment B_KEY')
    expect(origins['networks.c.secret']).toBe(`file ${join(cwd, 'key.txt')}`)
    expect(JSON.stringify(origins)).not.toContain('from-')
  })

  it.each<[string, unknown, string]>([
    ['empty text', '', 'is empty'],
    ['blank at the end', `${SECRET} `, 'has white space at its ends'],
    ['line break', `${SECRET}\n`, 'has white space at its ends'],
    ['missing variable', { env: 'NOT_SET' }, 'NOT_SET, which is not set'],
    ['empty variable', { env: 'EMPTY' }, 'is empty'],
    ['padded variable', { env: 'PADDED' }, 'has white space at its ends'],
    ['missing file', { file: 'nowhere' }, 'cannot be read (ENOENT)'],
    ['file with two line breaks', { file: 'two' }, 'has white space at its ends'],
  ])('refuses %s', async (_name, secret, message) => {
    await write('two', `${SECRET}\n\n`)
    await writeConfig(config(secret))
    const error = await failureOf({ env: { EMPTY: '', PADDED: ` ${SECRET}` } })
    expect(error.message).toContain('networks.acme.secret')
    expect(error.message).toContain(message)
    expect(error.message + String(error.hint)).not.toContain(SECRET)
  })
})
