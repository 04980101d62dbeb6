/**
 * A pgbouncer in transaction pooling, in front of a throw-away PostgreSQL.
 *
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import { MissingServer } from './missing-server.js'
import { runSql } from './postgres.js'
import { findProgram, giveTo, spawnAs, unprivilegedAccount } from './unprivileged.js'

export interface PgbouncerOptions {
  readonly upstreamPort: number
  /** The database to pass on to. */
  readonly database: string
  /** Server connections that all clients share. */
  readonly poolSize: number
}

export interface Pgbouncer {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

/** @throws MissingServer where pgbouncer is not installed */
export async function startPgbouncer(options: PgbouncerOptions): Promise<Pgbouncer> {
  const program = await findProgram('pgbouncer', ['/usr/sbin'])
  if (program === null) throw new MissingServer('pgbouncer', 'apt-get install pgbouncer')
  const account = await unprivilegedAccount('postgres')
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-pgbouncer-'))
  await giveTo(account, folder)
  const port = await freePort()
  const config = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users.txt')
  await writeFile(users, '"postgres" ""\n')
  await writeFile(
    config,
    `[databases]
* = host=127.0.0.1 port=${String(options.upstreamPort)} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${String(options.poolSize)}
max_client_conn = 200
`,
  )
  await giveTo(account, users)
  await giveTo(account, config)
  const child = spawnAs(account, program, ['-q', config], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4000)))
  const url = `postgres://postgres@127.0.0.1:${String(port)}/${options.database}`
  const until = Date.now() + 10_000
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended while it started:\n${log}`)
    const up = await runSql(url, 'select 1').then(
      () => true,
      () => false,
    )
    if (up) break
    if (Date.now() > until) throw new Error(`pgbouncer did not answer within 10 s:\n${log}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url,
    port,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGTERM')
        await gone
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}
