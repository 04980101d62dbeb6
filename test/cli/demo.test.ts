import { exec } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../servers/free-port.js'
import { cli, makeFolder, startCli, type CliResult, type StartedCli } from './cli-run.js'

const folder = makeFolder()
let started: StartedCli
let port: number
const origin = (): string => `http://127.0.0.1:${port}`
const run = (...argv: string[]): Promise<CliResult> => cli(folder.path, argv)

beforeAll(async () => {
  port = await freePort()
  started = await startCli(folder.path, ['--demo', '--port', String(port)])
})

afterAll(async () => {
  expect(await started.stop()).toBe(0)
  folder.remove()
})

function announcedUrl(): string {
  return /^curl '(http[^']+)'$/m.exec(started.stdout())?.[1] ?? ''
}

function announcedToken(): string {
  return /^admin token +(\S+)/m.exec(started.stdout())?.[1] ?? ''
}

async function balance(): Promise<string> {
  const { stdout } = await run('wallets', 'show', 'demo-user', '--json')
  return (JSON.parse(stdout) as { balance: string }).balance
}

describe('the demo', () => {
  it('keeps what it makes to its owner', () => {
    expect(statSync(join(folder.path, 'data')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder.path, 'data', 'demo-secret')).mode & 0o777).toBe(0o600)
  })

  it('prints lines that work as pasted into a shell', async () => {
    const lines = started.stdout().split('\n')
    const [postback = '', wallet = ''] = lines.filter((line) => line.startsWith('curl '))
    expect(await shell(postback)).toBe('OK')
    expect(await shell(postback)).toBe('OK')
    expect(JSON.parse(await shell(wallet))).toMatchObject({ user: 'demo-user', balance: '315.000' })
    expect(await balance()).toBe('315.000')
  })

  it('replays a call twenty times, reading the database or the admin API', async () => {
    const before = await balance()
    const direct = await run('replay', announcedUrl(), '--copies', '20', '--check')
    expect(direct).toMatchObject({ code: 0 })
    expect(direct.stdout).toMatch(/^20 × 200\nok: 1 credit row/)
    const env = { PAIDONCE_ADMIN_TOKEN: announcedToken() }
    const api = await cli(folder.path, ['replay', announcedUrl(), '--copies', '20', '--check', '--json'], env)
    expect(api.code).toBe(0)
    expect(api.stderr).toContain('admin API')
    expect(JSON.parse(api.stdout)).toMatchObject({
      answers: [{ status: 200, count: 20 }],
      failures: [],
      check: { ok: true, rows: 1, balanceBefore: before, balanceAfter: before },
    })
  })

  it('sends a first delivery twenty times and sees it paid once', async () => {
    const signed = await run(
      'sign',
      '--network',
      'demo',
      '--user',
      'demo-user',
      '--amount',
      '7.5',
      '--base',
      origin(),
    )
    const { code, stdout } = await run('replay', signed.stdout.trim(), '--copies', '20', '--check')
    expect(stdout).toMatch(/^20 × 200\nok: 1 credit row, the balance moved once by 7\.500/)
    expect(code).toBe(0)
  })

  it('tells what was booked after a send where it has the token', async () => {
    const argv = ['send', '--network', 'demo', '--user', 'demo-user', '--amount', '10', '--copies', '5']
    const { code, stdout } = await cli(folder.path, [...argv, '--to', origin()], {
      PAIDONCE_ADMIN_TOKEN: announcedToken(),
    })
    expect(stdout).toMatch(/^5 × 200\nbooked: 1 credit row, the balance moved once by 10\.000/)
    expect(code).toBe(0)
  })

  it('fails the check of a call that is not booked', async () => {
    const argv = ['sign', '--network', 'demo', '--user', 'nobody', '--amount', '1', '--base', origin()]
    const url = (await run(...argv)).stdout.trim()
    const { code, stdout } = await run('replay', url, '--check')
    expect(stdout).toContain('1 × 500')
    expect(stdout).toContain('0 credit rows instead of 1')
    expect(code).toBe(1)
  })

  it('refuses to check a forged call', async () => {
    const url = announcedUrl().replace('reward=315', 'reward=9999')
    const { code, stderr } = await run('replay', url, '--check', '--json')
    expect(code).toBe(1)
    expect(stderr).toContain('signature_mismatch')
  })

  it('replays a kept call by its id, and explains, lists and resolves', async () => {
    const list = await run('inbox', 'list', '--limit', '1', '--outcome', 'duplicate', '--json')
    const [row] = (JSON.parse(list.stdout) as { items: { id: string; transactionId: string }[] }).items
    const replayed = await run('replay', row?.id ?? '', '--to', origin(), '--copies', '3', '--check')
    expect(replayed.stdout).toMatch(/^3 × 200\nok:/)
    const explained = await run('explain', row?.transactionId ?? '')
    expect(explained.stdout).toMatch(/Paid: \d+\.\d{3} was credited to user "demo-user"/)
    const open = await run('inbox', 'list', '--open', '--json')
    const [waiting] = (JSON.parse(open.stdout) as { items: { id: string }[] }).items
    expect((await run('inbox', 'show', waiting?.id ?? '')).stdout).toContain('paidonce wallets create')
    expect((await run('inbox', 'resolve', waiting?.id ?? '', '--reason', 'a test')).stdout).toContain(
      'is closed',
    )
  })

  it('reprocesses a kept call once its wallet exists', async () => {
    const late = ['send', '--network', 'demo', '--user', 'late', '--amount', '4', '--transaction', 'late-1']
    expect((await run(...late, '--to', origin())).stdout).toContain('1 × 500')
    await run('wallets', 'create', 'late')
    const filter = ['inbox', 'reprocess', '--transaction', 'late-1']
    expect((await run(...filter, '--json')).stdout).toContain('"dryRun": true')
    expect((await run('wallets', 'show', 'late', '--json')).stdout).toContain('"balance": "0.000"')
    await run(...filter, '--apply')
    expect((await run('wallets', 'show', 'late', '--json')).stdout).toContain('"balance": "4.000"')
  })

  it('clears a test credit through its own key', async () => {
    const before = await balance()
    await run(
      'send',
      '--network',
      'demo',
      '--user',
      'demo-user',
      '--amount',
      '3',
      '--transaction',
      'test_9',
      '--to',
      origin(),
    )
    expect(await balance()).not.toBe(before)
    const cleared = await run('tests', 'clear', '--network', 'demo', '--json')
    expect(JSON.parse(cleared.stdout)).toEqual({ reversed: 1, failed: {}, marked: 2 })
    expect(await balance()).toBe(before)
  })

  it('corrects a balance once for each key', async () => {
    await run('wallets', 'create', 'corrected')
    const adjust = (...more: string[]): Promise<CliResult> =>
      run('wallets', 'adjust', 'corrected', '--reason', 'a test', '--json', ...more)
    expect((await adjust('--key', 'k1', '--amount', '5')).code).toBe(0)
    expect(JSON.parse((await adjust('--key', 'k1', '--amount', '5')).stdout)).toMatchObject({
      repeated: true,
    })
    const conflict = await adjust('--key', 'k1', '--amount', '6')
    expect(conflict.code).toBe(1)
    expect(JSON.parse(conflict.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'key_conflict' },
    })
    expect((await adjust('--key', 'k2', '--amount', '-6')).stderr).toContain('insufficient_balance')
    expect((await adjust('--key', 'k2', '--amount', '-6', '--overdraw')).code).toBe(0)
  })

  it('tells of a send that booked nothing by its exit status', async () => {
    const nobody = ['send', '--network', 'demo', '--user', 'nobody-else', '--amount', '1', '--to', origin()]
    const { code, stdout } = await cli(folder.path, nobody, { PAIDONCE_ADMIN_TOKEN: announcedToken() })
    expect(stdout).toContain('0 credit rows')
    expect(code).toBe(1)
  })

  it('tells how many rejected calls were not looked at, and runs them where they are named', async () => {
    const forged = announcedUrl().replace('reward=315', 'reward=9998')
    await run('replay', forged, '--copies', '2')
    const plain = await run('inbox', 'reprocess', '--network', 'demo')
    expect(plain.stderr).toMatch(/\d+ rejected calls were not looked at: --outcome bad_signature/)
    expect(plain.stderr).toMatch(/repeat the command with --apply/)
    const json = await run('inbox', 'reprocess', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({
      notLookedAt: { bad_signature: expect.any(Number) as number },
    })
    const named = await run('inbox', 'reprocess', '--outcome', 'bad_signature', '--json')
    expect(JSON.parse(named.stdout)).toMatchObject({
      counts: { bad_signature: expect.any(Number) as number },
    })
    expect(named.stderr).not.toContain('not looked at')
  })

  it('names the transaction where it shows only some of its calls', async () => {
    const many = [
      'send',
      '--network',
      'demo',
      '--user',
      'demo-user',
      '--amount',
      '1',
      '--transaction',
      "it's",
    ]
    await run(...many, '--copies', '12', '--to', origin())
    const { stderr } = await run('explain', "it's")
    expect(stderr).toContain("paidonce inbox list --network demo --transaction 'it'\\''s'")
  })

  it('finds nothing to say in an audit and can be reached', async () => {
    const audit = await run('audit', '--json')
    expect(JSON.parse(audit.stdout)).toMatchObject({ counts: { error: 0, warning: 0 } })
    expect(audit.code).toBe(0)
    const doctor = await run('doctor', '--url', origin(), '--json')
    expect(doctor.code).toBe(0)
    expect(doctor.stdout).toContain('answered 403, as it should be')
    expect(doctor.stdout).not.toContain(secret())
  })

  it('names the port that is taken', async () => {
    const { code, stderr } = await run('start', '--demo', '--port', String(port), '--log-level', 'silent')
    expect(code).toBe(1)
    expect(stderr).toContain(String(port))
    expect(stderr).toContain('--port')
  })
})

function secret(): string {
  return readFileSync(join(folder.path, 'data', 'demo-secret'), 'utf8').trim()
}

/** Not synchronous: the server that the line calls runs in this very process. */
async function shell(line: string): Promise<string> {
  return (await promisify(exec)(`${line} --silent --show-error`)).stdout
}
