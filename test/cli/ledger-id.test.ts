import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, makeFolder, type CliResult } from './cli-run.js'

const folder = makeFolder()
const ENV = { WALL_POSTBACK_KEY: 'k' }
const run = (...argv: string[]): Promise<CliResult> => cli(folder.path, argv, ENV)

/** A database that has another ledger id than the configuration says. */
beforeAll(async () => {
  const database = `sqlite:${join(folder.path, 'l.db')}`
  expect((await run('migrate', '--database', database)).code).toBe(0)
  const network = { profile: 'sharklio', secret: { env: 'WALL_POSTBACK_KEY' } }
  const config = { database, ledgerId: 'another-ledger', networks: { wall: network } }
  writeFileSync(join(folder.path, 'paidonce.config.json'), JSON.stringify(config))
})
afterAll(() => {
  folder.remove()
})

describe('a ledger id that is not the database’s', () => {
  it('stops every command that touches the database', async () => {
    const id = '0190f3a1-7c00-7000-8000-000000000000'
    for (const argv of [
      ['migrate'],
      ['migrate', '--dry-run'],
      ['audit'],
      ['explain', 't'],
      ['inbox', 'list'],
      ['inbox', 'show', id],
      ['inbox', 'resolve', id, '--reason', 'r'],
      ['inbox', 'reprocess', '--apply'],
      ['wallets', 'list'],
      ['wallets', 'show', 'u'],
      ['wallets', 'create', 'u'],
      ['wallets', 'adjust', 'u', '--amount', '1', '--key', 'k', '--reason', 'r'],
      ['tests', 'clear'],
      ['replay', id],
    ]) {
      const { code, stderr } = await run(...argv, '--json')
      expect([argv, code]).toEqual([argv, 1])
      expect(stderr).toContain('ledger_mismatch')
    }
  })

  it('is a refusal in doctor', async () => {
    const { code, stdout } = await run('doctor')
    expect(code).toBe(1)
    expect(stdout).toMatch(/refuse {2}ledgerId: .*"another-ledger"/)
  })
})
