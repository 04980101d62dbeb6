/**
 * A real PostgreSQL in a throw-away folder.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.js'
import { MissingServer } from './missing-server.js'
import { findProgram, giveTo, runAs, spawnAs, unprivilegedAccount, type Account } from './unprivileged.js'

export interface PostgresServer {
  /** The maintenance database, as superuser. */
  readonly url: string
  readonly port: number
  /** False for a server that was given by PAIDONCE_TEST_POSTGRES_URL: it must not be stopped, killed or reconfigured. */
  readonly ours: boolean
  /** Makes an empty database and resolves to its URL. */
  newDatabase(): Promise<string>
  /** Kills every process of the server at once, as a crash would. */
  kill9(): Promise<void>
  /** Starts it again on the same port and data, after `stop` or `kill9` or while it runs. */
  restart(): Promise<void>
  /** Shuts it down and deletes its folder. */
  stop(): Promise<void>
}

export interface PostgresServerOptions {
  /** Settings for `postgresql.conf`, for example `{ fsync: 'off' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * Starts a server, or takes the one that PAIDONCE_TEST_POSTGRES_URL names.
 *
 * @throws MissingServer where PostgreSQL is not installed
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const given = process.env['PAIDONCE_TEST_POSTGRES_URL']
  if (given !== undefined && given !== '' && options.settings === undefined) return givenServer(given)

  const folders = await binaryFolders()
  const initdb = await findProgram('initdb', folders)
  const program = await findProgram('postgres', folders)
  if (initdb === null || program === null) throw new MissingServer('PostgreSQL', 'apt-get install postgresql')
  const account = await unprivilegedAccount('postgres')
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-postgres-'))
  await giveTo(account, folder)
  const data = join(folder, 'data')
  await runAs(
    account,
    initdb,
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { cwd: folder },
  )
  const port = await freePort()
  const settings = { max_connections: '100', ...options.settings }
  const args = ['-D', data, '-p', String(port), '-k', folder, '-h', '127.0.0.1']
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)

  const url = `postgres://postgres@127.0.0.1:${String(port)}/postgres`
  let child = await launch(account, program, args, folder, url)
  const onExit = (): void => {
    child.kill('SIGQUIT')
  }
  process.once('exit', onExit)
  return {
    url,
    port,
    ours: true,
    newDatabase: async () => newDatabase(url),
    kill9: async () => {
      // The backends go with the postmaster, as in a crash of the machine; left alone they would end their statement.
      const backends = await childrenOf(child.pid)
      const gone = end(child, 'SIGKILL')
      for (const pid of backends) killQuietly(pid)
      await gone
    },
    restart: async () => {
      await end(child, 'SIGINT')
      child = await launch(account, program, args, folder, url)
    },
    stop: async () => {
      // At once: nothing of the folder is needed any more.
      await end(child, 'SIGQUIT')
      process.off('exit', onExit)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function givenServer(url: string): Promise<PostgresServer> {
  const made: string[] = []
  const refuse = async (): Promise<never> => {
    throw new Error('The server of PAIDONCE_TEST_POSTGRES_URL is not ours to kill or to restart.')
  }
  return {
    url,
    port: Number(new URL(url).port || '5432'),
    ours: false,
    newDatabase: async () => {
      const database = await newDatabase(url)
      made.push(new URL(database).pathname.slice(1))
      return database
    },
    kill9: refuse,
    restart: refuse,
    stop: async () => {
      for (const name of made) await runSql(url, `drop database if exists "${name}" with (force)`)
    },
  }
}

let serial = 0

async function newDatabase(url: string): Promise<string> {
  serial += 1
  const name = `paidonce_test_${String(process.pid)}_${Date.now().toString(36)}_${String(serial)}`
  await runSql(url, `create database "${name}"`)
  const database = new URL(url)
  database.pathname = `/${name}`
  return database.href
}

/** Runs one statement on a connection of its own. */
export async function runSql(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const result = await client.query<Record<string, unknown>>(text)
    return result.rows
  } finally {
    await client.end()
  }
}

async function binaryFolders(): Promise<string[]> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'))
}

/** Starts the server. Right after a crash the old backends may still hold its memory: that start is tried again. */
async function launch(
  account: Account | null,
  program: string,
  args: readonly string[],
  cwd: string,
  url: string,
): Promise<ChildProcess> {
  const until = Date.now() + 20_000
  let log = ''
  for (;;) {
    const child = spawnAs(account, program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr?.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4000)))
    while (child.exitCode === null) {
      if (await answers(url)) return child
      if (Date.now() > until) throw new Error(`PostgreSQL did not answer within 20 s:\n${log}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    if (Date.now() > until || !log.includes('still in use')) {
      throw new Error(`PostgreSQL ended while it started:\n${log}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function answers(url: string): Promise<boolean> {
  return runSql(url, 'select 1').then(
    () => true,
    () => false,
  )
}

async function end(child: ChildProcess, signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

/** The processes that the postmaster started; an empty list where the system does not tell. */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const path = `/proc/${String(pid)}/task/${String(pid)}/children`
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself meanwhile.
  }
}
