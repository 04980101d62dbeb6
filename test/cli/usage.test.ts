import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, makeFolder } from './cli-run.js'

let folder: ReturnType<typeof makeFolder>
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => {
  folder.remove()
})

describe('usage', () => {
  it('ends with 2 for what it does not know, and writes nothing to stdout', async () => {
    for (const argv of [['bogus'], ['audit', '--bogus'], ['replay'], [], ['send', '--network', 'demo']]) {
      const { code, stdout, stderr } = await cli(folder.path, argv)
      expect([argv, code, stdout]).toEqual([argv, 2, ''])
      expect(stderr).not.toBe('')
    }
  })

  it('writes errors as JSON where that was asked for', async () => {
    const { code, stderr } = await cli(folder.path, ['replay', 'ftp://x', '--json'])
    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage' } })
  })

  it('prints its version and its help as data', async () => {
    expect((await cli(folder.path, ['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const help = await cli(folder.path, ['replay', '--help'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('Example:')
    expect(help.stderr).toBe('')
  })

  it('refuses a number out of bounds and an amount that is none', async () => {
    const copies = await cli(folder.path, ['replay', 'http://127.0.0.1:1/x', '--copies', '1001'])
    expect(copies).toMatchObject({ code: 2 })
    expect(copies.stderr).toContain('1 to 1000')
    const amount = await cli(folder.path, ['sign', '--network', 'd', '--user', 'u', '--amount', '1e3'])
    expect(amount).toMatchObject({ code: 2 })
  })

  it('does not start without a configuration, and says what to do', async () => {
    const { code, stderr } = await cli(folder.path, ['start'])
    expect(code).toBe(2)
    expect(stderr).toContain('paidonce init')
    expect(stderr).toContain('--demo')
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })

  it('does not make a database by reading one', async () => {
    const file = join(folder.path, 'none.db')
    const { code, stderr } = await cli(folder.path, ['audit', '--database', `sqlite:${file}`])
    expect(code).toBe(1)
    expect(stderr).toContain('paidonce migrate')
    expect(existsSync(file)).toBe(false)
  })

  it('counts a call that nobody answers', async () => {
    const { code, stdout } = await cli(folder.path, [
      'replay',
      'http://127.0.0.1:1/postback/x',
      '--copies',
      '3',
    ])
    expect(code).toBe(1)
    expect(stdout).toBe('3 × no answer (ECONNREFUSED)\n')
  })
})

describe('init', () => {
  const argv = ['init', '--network', 'wall-1', '--profile', 'sharklio']

  it('writes a configuration that starts to work once the secret is there', async () => {
    const made = await cli(folder.path, argv)
    expect(made.code).toBe(0)
    expect(made.stdout).toMatch(/^http:\/\/localhost:8790\/postback\/wall-1\?tx=\{transaction_id\}&/)
    const sign = ['sign', '--network', 'wall-1', '--user', 'u', '--amount', '1']
    expect((await cli(folder.path, sign)).stderr).toContain('WALL_1_POSTBACK_KEY')
    const signed = await cli(folder.path, sign, { WALL_1_POSTBACK_KEY: 'k' })
    expect(signed).toMatchObject({ code: 0 })
    expect(signed.stdout).toMatch(/^http:\/\/127\.0\.0\.1:8790\/postback\/wall-1\?tx=.*&hash=[0-9a-f]{64}\n$/)
  })

  it('never overwrites, whatever the ending', async () => {
    writeFileSync(join(folder.path, 'paidonce.config.json'), '{}')
    const { code, stderr } = await cli(folder.path, argv)
    expect(code).toBe(1)
    expect(stderr).toContain('paidonce.config.json')
    expect(existsSync(join(folder.path, 'paidonce.config.mjs'))).toBe(false)
  })

  it('writes JSON on demand, and never a password', async () => {
    const database = 'postgres://app:hidden@localhost/app'
    const refused = await cli(folder.path, [...argv, '--database', database])
    expect(refused.code).toBe(2)
    expect(refused.stderr).not.toContain('hidden')
    await cli(folder.path, [...argv, '--json-config', '--database', 'sqlite:./x.db'])
    expect(JSON.parse(readFileSync(join(folder.path, 'paidonce.config.json'), 'utf8'))).toEqual({
      database: 'sqlite:./x.db',
      networks: { 'wall-1': { profile: 'sharklio', secret: { env: 'WALL_1_POSTBACK_KEY' } } },
    })
  })

  it('does not know a profile that is not in the catalogue', async () => {
    const { code, stderr } = await cli(folder.path, ['init', '--network', 'n', '--profile', 'sharklo'])
    expect(code).toBe(2)
    expect(stderr).toContain('sharklio')
  })
})

describe('migrate and doctor', () => {
  it('shows the SQL first, then makes the schema, then has nothing to do', async () => {
    const database = `sqlite:${join(folder.path, 'm.db')}`
    const dry = await cli(folder.path, ['migrate', '--dry-run', '--database', database])
    expect(dry.stdout).toContain('create table')
    expect(existsSync(join(folder.path, 'm.db'))).toBe(false)
    const changed = async (): Promise<unknown> =>
      JSON.parse((await cli(folder.path, ['migrate', '--json', '--database', database])).stdout)
    expect(await changed()).toMatchObject({ changed: true })
    expect(await changed()).toMatchObject({ changed: false })
    const generated = await cli(folder.path, ['generate', '--database', database])
    expect(generated.stdout).toContain('create table')
  })

  it('says where each value comes from, and fails where the database cannot be had', async () => {
    const env = { PAIDONCE_PORT: '9001', PAIDONCE_ADMIN_TOKEN: 'not-to-be-shown' }
    const { code, stdout } = await cli(folder.path, ['doctor'], env)
    expect(code).toBe(1)
    expect(stdout).toMatch(/port +9001 +PAIDONCE_PORT/)
    expect(stdout).toMatch(/adminToken +\(set\)/)
    expect(stdout).not.toContain('not-to-be-shown')
    expect(stdout).toContain('refuse  database')
  })
})
