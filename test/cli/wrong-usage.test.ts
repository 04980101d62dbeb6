import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, makeFolder, type CliResult } from './cli-run.js'

const folder = makeFolder()
const DATABASE = `sqlite:${join(folder.path, 'u.db')}`
const ENV = { WALL_POSTBACK_KEY: 'k' }
const run = (...argv: string[]): Promise<CliResult> => cli(folder.path, argv, ENV)

beforeAll(async () => {
  await run('init', '--network', 'wall', '--profile', 'sharklio', '--database', DATABASE)
  expect((await run('migrate')).code).toBe(0)
})
afterAll(() => {
  folder.remove()
})

async function expectUsage(argv: string[], ...texts: string[]): Promise<void> {
  const { code, stdout, stderr } = await run(...argv)
  expect([argv, code, stdout]).toEqual([argv, 2, ''])
  for (const text of texts) expect(stderr).toContain(text)
}

describe('wrong usage ends with 2', () => {
  it('for a value of a flag that no setting can have', async () => {
    await expectUsage(['start', '--port', '70000'], '--port', '65535')
    await expectUsage(['start', '--port', 'abc', '--demo'], '--port')
    await expectUsage(['start', '--host', 'a b'], '--host')
    await expectUsage(['start', '--admin-port', '-1'], '--admin-port')
    await expectUsage(['audit', '--log-level', 'loud'], '--log-level', 'silent')
    await expectUsage(['audit', '--config', 'none.mjs'], 'none.mjs', '--config')
    await expectUsage(['audit', '--database', 'foo:bar'], '--database', 'sqlite:PATH')
    for (const url of [
      'foo://app:hidden@h/app',
      'postgres://app:hid/hidden@h/app',
      'postgres://a:hid#hidden@h/d',
    ]) {
      const { code, stderr } = await run('audit', '--database', url)
      expect([url, code]).toEqual([url, 2])
      expect(stderr).not.toContain('hidden')
    }
  })

  it('for an empty value of any option or argument', async () => {
    for (const argv of [
      ['sign', '--network', '', '--user', 'u', '--amount', '1'],
      ['sign', '--network', 'wall', '--user', '', '--amount', '1'],
      ['send', '--network', 'wall', '--user', 'u', '--amount', '1', '--to', ''],
      ['inbox', 'list', '--network', ''],
      ['inbox', 'list', '--user', ''],
      ['wallets', 'list', '--prefix', ''],
      ['tests', 'clear', '--network', ''],
      ['explain', ''],
      ['explain', '--user', ''],
      ['wallets', 'show', ''],
      ['inbox', 'show', ''],
    ]) {
      await expectUsage(argv, 'is empty')
    }
  })

  it('for a network that nobody knows', async () => {
    for (const argv of [
      ['tests', 'clear', '--network', 'wal'],
      ['inbox', 'list', '--network', 'wall', '--network', 'wal'],
      ['inbox', 'reprocess', '--network', 'wal', '--apply'],
      ['explain', 't', '--network', 'wal'],
      ['explain', '--user', 'u', '--network', 'wal'],
      ['replay', 'http://127.0.0.1:1/postback/wall', '--network', 'wal'],
    ]) {
      await expectUsage(argv, '"wal"', 'Configured are: wall')
    }
    expect((await run('explain', 't', '--network', 'wall')).code).toBe(0)
    expect((await run('tests', 'clear', '--network', 'wall')).code).toBe(0)
  })

  it('for a key, a reason and a user that the API would refuse', async () => {
    await run('wallets', 'create', 'u')
    const adjust = (key: string, reason: string, user = 'u'): string[] => [
      ...['wallets', 'adjust', user, '--amount', '1', '--key', key, '--reason', reason],
    ]
    for (const key of [' ', 'a\nb', 'x'.repeat(256), '{key}']) await expectUsage(adjust(key, 'r'), '--key')
    for (const reason of ['  ', 'a\u0000b', 'a\nb', 'x'.repeat(501)]) {
      await expectUsage(adjust('k', reason), '--reason')
      await expectUsage(['inbox', 'resolve', 'id', '--reason', reason], '--reason')
    }
    await expectUsage(adjust('k', 'r', 'a\nb'), 'user')
    expect((await run(...adjust('k', 'x'.repeat(500)))).code).toBe(0)
  })

  it('for a cursor and an address that are none', async () => {
    await expectUsage(['wallets', 'list', '--cursor', 'a\nb'], '--cursor')
    await expectUsage(['inbox', 'list', '--cursor', '?'], '--cursor')
    const send = ['send', '--network', 'wall', '--user', 'u', '--amount', '1']
    await expectUsage([...send, '--admin-url', 'x'], '--admin-url')
    await expectUsage([...send, '--to', 'x'], '"x"')
    await expectUsage(['doctor', '--url', 'x'], '"x"')
  })
})

describe('explain', () => {
  it('ends with 0 where nothing is known', async () => {
    expect(await run('explain', 'nothing')).toMatchObject({ code: 0 })
  })
})
