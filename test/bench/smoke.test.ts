/**
 * The command itself: one short run against the built server, and what it says where a program is missing.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Results } from '../../bench/results.js'
import { findProgram } from '../servers/unprivileged.js'

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'bench.mjs')
const SHORT = ['--only', 'spread', '--stores', 'sqlite', '--rounds', '1', '--seconds', '1']

interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-smoke-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

function bench(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [SCRIPT, ...args],
      { env: { ...process.env, npm_lifecycle_event: undefined, ...env } },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
      },
    )
  })
}

describe('npm run bench', () => {
  it('measures, checks the ledger, prints the table and stores it with its plot', async () => {
    expect(await findProgram('wrk'), 'wrk is needed: apt-get install wrk').not.toBeNull()
    const results = join(folder, 'results')
    const { status, stdout, stderr } = await bench([...SHORT, '--results', results])
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('1. Paidonce: ') as string,
    })
    expect(stdout).toMatch(/^spread +sqlite +64 +[\d,]+ +[\d,]+ +textbook /m)
    expect(stdout).toContain('SQLite 3.')
    const { rows } = JSON.parse(await readFile(join(results, 'latest.json'), 'utf8')) as Results
    expect(rows.map(({ workload, store }) => `${workload} ${store}`)).toEqual(['spread sqlite'])
    expect(rows[0]?.ours?.perSecond).toBeGreaterThan(0)
    expect(await readFile(join(results, 'latest.svg'), 'utf8')).toContain('spread, sqlite, 64')
  }, 60_000)

  it('without wrk says which package to install and runs the rest', async () => {
    const path = join(folder, 'bin')
    await mkdir(path)
    await symlink(process.execPath, join(path, 'node'))
    const temporary = join(folder, 'tmp')
    await mkdir(temporary)
    const args = ['--only', 'spread,lists', '--stores', 'sqlite', '--rows', '1000', '--json']
    const env = { PATH: path, TMPDIR: temporary }
    const { status, stdout, stderr } = await bench([...args, '--results', join(folder, 'without')], env)
    expect(status).toBe(1)
    expect(stderr).toContain('wrk is not installed on this machine. Install it with: apt-get install wrk')
    const { machine, rows } = JSON.parse(stdout) as Results
    expect(machine.node).toBe(process.versions.node)
    expect(rows.map(({ workload }) => workload)).toEqual(['lists'])
    // Nothing is left behind.
    expect((await readdir(temporary)).filter((name) => name.startsWith('paidonce'))).toEqual([])
  }, 60_000)

  it('with wrong usage ends with 2, and measures nothing', async () => {
    const { status, stdout, stderr } = await bench(['--only', 'warm'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain('There is no workload "warm". There are: spread, ')
  }, 30_000)
})
