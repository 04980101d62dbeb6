/**
 * A real MariaDB in a throw-away folder.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { freePort } from './free-port.js'
import { MissingServer } from './missing-server.js'
import { findProgram, giveTo, runAs, spawnAs, unprivilegedAccount, type Account } from './unprivileged.js'

export interface MariadbServer {
  /** The system database, as root. */
  readonly url: string
  readonly port: number
  /** False for a server that was given by PAIDONCE_TEST_MYSQL_URL: it must not be stopped, killed or reconfigured. */
  readonly ours: boolean
  /** Makes an empty database and resolves to its URL. */
  newDatabase(): Promise<string>
  /** Kills the server at once, as a crash would. */
  kill9(): Promise<void>
  /** Starts it again on the same port and data, after `stop`ping, `kill9` or while it runs. */
  restart(): Promise<void>
  /** Shuts it down and deletes its folder. */
  stop(): Promise<void>
}

export interface MariadbServerOptions {
  /** Settings of the server, for example `{ innodb_flush_log_at_trx_commit: '2' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

const INSTALL = 'apt-get install mariadb-server'

/**
 * Starts a server, or takes the one that PAIDONCE_TEST_MYSQL_URL names.
 *
 * @throws MissingServer where MariaDB is not installed
 */
export async function startMariadb(options: MariadbServerOptions = {}): Promise<MariadbServer> {
  const given = process.env['PAIDONCE_TEST_MYSQL_URL']
  if (given !== undefined && given !== '' && options.settings === undefined) return givenServer(given)

  const folders = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin']
  const install = await findProgram('mariadb-install-db', folders)
  const program = await findProgram('mariadbd', folders)
  if (install === null || program === null) throw new MissingServer('MariaDB', INSTALL)
  const account = await unprivilegedAccount('mysql')
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-mariadb-'))
  await giveTo(account, folder)
  const data = join(folder, 'data')
  // A server that starts deletes every temporary table it finds in its tmpdir, those of its neighbours too.
  const places = [`--datadir=${data}`, `--tmpdir=${folder}`]
  await runAs(
    account,
    install,
    ['--no-defaults', ...places, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { cwd: folder },
  )
  const port = await freePort()
  const settings = {
    innodb_flush_log_at_trx_commit: '1',
    sync_binlog: '1',
    innodb_buffer_pool_size: '64M',
    max_connections: '200',
    ...options.settings,
  }
  const args = [
    '--no-defaults',
    ...places,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'server.sock')}`,
    `--pid-file=${join(folder, 'server.pid')}`,
    '--skip-name-resolve',
    ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
  ]
  const url = `mysql://root@127.0.0.1:${port}/mysql`
  let child = await launch(account, program, args, folder, url)
  const onExit = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', onExit)
  return {
    url,
    port,
    ours: true,
    newDatabase: async () => newDatabase(url),
    kill9: async () => {
      await end(child, 'SIGKILL')
    },
    restart: async () => {
      await end(child, 'SIGTERM')
      child = await launch(account, program, args, folder, url)
    },
    stop: async () => {
      await end(child, 'SIGTERM')
      process.off('exit', onExit)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function givenServer(url: string): Promise<MariadbServer> {
  const made: string[] = []
  const refuse = async (): Promise<never> => {
    throw new Error('The server of PAIDONCE_TEST_MYSQL_URL is not ours to kill or to restart.')
  }
  return {
    url,
    port: Number(new URL(url).port || '3306'),
    ours: false,
    newDatabase: async () => {
      const database = await newDatabase(url)
      made.push(new URL(database).pathname.slice(1))
      return database
    },
    kill9: refuse,
    restart: refuse,
    stop: async () => {
      for (const name of made) await runMysql(url, `drop database if exists \`${name}\``)
    },
  }
}

let serial = 0

async function newDatabase(url: string): Promise<string> {
  serial += 1
  const name = `paidonce_test_${process.pid}_${Date.now().toString(36)}_${serial}`
  await runMysql(url, `create database \`${name}\` character set utf8mb4`)
  const database = new URL(url)
  database.pathname = `/${name}`
  return database.href
}

/** Runs one statement on a connection of its own. */
export async function runMysql(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const connection = await mysql.createConnection({ uri: url, charset: 'utf8mb4', connectTimeout: 2_000 })
  connection.on('error', () => undefined)
  try {
    const [rows] = await connection.query(sql)
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
  } finally {
    connection.destroy()
  }
}

async function launch(
  account: Account | null,
  program: string,
  args: readonly string[],
  cwd: string,
  url: string,
): Promise<ChildProcess> {
  const child = spawnAs(account, program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4000)))
  const until = Date.now() + 20_000
  for (;;) {
    if (child.exitCode !== null) throw new Error(`MariaDB ended while it started:\n${log}`)
    const up = await runMysql(url, 'select 1').then(
      () => true,
      () => false,
    )
    if (up) return child
    if (Date.now() > until) throw new Error(`MariaDB did not answer within 20 s:\n${log}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}
