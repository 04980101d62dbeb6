import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqlite } from '../../src/stores/sqlite/index.js'
import { makeClaim, rowOf } from '../../src/testing/claims.js'
import { cli, makeFolder, type CliResult } from './cli-run.js'

const folder = makeFolder()
const FILE = join(folder.path, 's.db')
const ID = '0190f3a1-7c00-7000-8000-00000000000'
const run = (...argv: string[]): Promise<CliResult> => cli(folder.path, argv)

/** A network that sends its secret as it is, under a name that gives nothing away. */
const PROFILE = {
  id: 'plain',
  name: 'Plain',
  methods: ['GET'],
  fields: {
    transactionId: { query: 'tx' },
    user: { query: 'user' },
    amount: { query: 'coins', unit: 'coins' },
    signature: { query: 's' },
  },
  urlTemplate: null,
  signature: { token: 'secret' },
  entry: [{ when: {}, is: 'credit' }],
  otherwise: 'ignored',
  amountSign: 'positive',
  key: '{transactionId}',
  reversalOf: '{transactionId}',
  test: null,
  answers: {},
  timeBudgetMs: 6000,
  retries: [],
  addresses: { readOn: null, list: [] },
  unconfirmed: false,
}

beforeAll(async () => {
  const networks = { plain: { profile: PROFILE, secret: 'configured-secret' } }
  writeFileSync(
    join(folder.path, 'paidonce.config.json'),
    JSON.stringify({ database: `sqlite:${FILE}`, networks }),
  )
  const store = await openSqlite(FILE, {})
  await store.start()
  const row = rowOf(makeClaim({ transactionId: 't' }), { outcome: 'unknown_user', reason: 'unknown_user' })
  const bodies = [
    'user=u1&token=hidden&note=seen',
    '{"user":"u1","deep":{"api_key":"hidden"},"note":"seen"}',
    'note=seen&x=configured-secret',
  ]
  await store.writePostbacks(
    bodies.map((body, index) => ({
      ...row,
      id: `${ID}${index}`,
      network: 'plain',
      url: Buffer.from('/postback/plain?tx=t&s=configured-secret&token=hidden'),
      body: Buffer.from(body),
    })),
  )
  await store.close()
})
afterAll(() => {
  folder.remove()
})

describe('what is shown of a call', () => {
  it('hides secrets of its body by their names and as they are known', async () => {
    for (const index of [0, 1, 2]) {
      for (const more of [[], ['--json']]) {
        const { code, stdout } = await run('inbox', 'show', `${ID}${index}`, ...more)
        expect(code).toBe(0)
        expect(stdout).toContain('seen')
        expect(stdout).not.toMatch(/hidden|configured-secret/)
      }
    }
  })

  it('hides them in what replay and send say', async () => {
    const targets: string[] = []
    const receiver = createServer((request, response) => {
      targets.push(request.url ?? '')
      response.end('OK')
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const send = ['send', '--network', 'plain', '--user', 'u', '--amount', '1', '--to', origin]
    for (const argv of [['replay', `${ID}0`, '--to', origin], send]) {
      for (const more of [[], ['--json']]) {
        const { code, stdout, stderr } = await run(...argv, ...more)
        expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')])
        expect(stdout + stderr).not.toMatch(/hidden|configured-secret/)
        if (more.length > 0) expect((JSON.parse(stdout) as { url: string }).url).toContain('s=***')
      }
    }
    receiver.close()
    expect(targets).toHaveLength(4)
    for (const target of targets) expect(target).toContain('configured-secret')
  })
})

describe('wallets in the publisher’s own table', () => {
  it('are not made by Paidonce, and no hint says so', async () => {
    const file = join(folder.path, 'own.db')
    const database = new Database(file)
    database.exec('create table users (id text primary key not null, coins integer not null) strict')
    database.close()
    const config = join(folder.path, 'own.json')
    const wallets = { table: 'users', id: 'id', balance: 'coins' }
    writeFileSync(config, JSON.stringify({ database: `sqlite:${file}`, wallets, amountScale: 0 }))
    expect((await run('migrate', '--config', config)).code).toBe(0)
    for (const argv of [
      ['wallets', 'show', 'ghost'],
      ['wallets', 'adjust', 'ghost', '--amount', '1', '--key', 'k', '--reason', 'r'],
    ]) {
      const { code, stderr } = await run(...argv, '--config', config)
      expect(code).toBe(1)
      expect(stderr).toContain('your own table')
      expect(stderr).not.toContain('wallets create')
    }
  })
})
