/**
 * Who runs against whom: how each is started on an empty database.
 *
 * @module
 */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/servers/free-port.js'
import { startPgbouncer } from '../test/servers/pgbouncer.js'
import type { Cleanup } from './cleanup.js'
import type { BenchDatabase } from './databases/database.js'
import { SECRET } from './load/calls.js'
import { startNodeProcess, type NodeProcess } from './processes/node-process.js'

export type ContenderName =
  | 'Paidonce'
  | 'Paidonce ×2'
  | 'Paidonce, pooler'
  | 'textbook'
  | 'textbook 10'
  | 'textbook 30'
  | 'textbook 10, pooler'
  | 'textbook 30, pooler'

/** A started contender: one or more processes on one database. */
export interface Running {
  readonly processes: readonly NodeProcess[]
  stop(): Promise<void>
}

export interface StartOptions {
  readonly database: BenchDatabase
  /** Wallets to make; 0 where they are there. */
  readonly wallets: number
  /** Further networks of Paidonce's configuration, beside `sharklio`. Default: none. */
  readonly networks?: readonly string[]
  /** For configuration and logs. */
  readonly folder: string
  /** Where a process of Paidonce leaves its CPU profile; null for none. */
  readonly profile: string | null
  readonly cleanup: Cleanup
}

interface Contender {
  readonly isPaidonce: boolean
  readonly processes: number
  readonly pool: number
  readonly pooler: boolean
}

export const ADMIN_TOKEN = 'a-token-for-the-benchmark'

/** Server connections behind pgbouncer: as many as the larger pool of the textbook handler. */
const POOLER_SIZE = 30

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

/** What a name says. */
export function contenderOf(name: ContenderName): Contender {
  return {
    isPaidonce: name.startsWith('Paidonce'),
    processes: name.endsWith('×2') ? 2 : 1,
    pool: Number(/\d+/.exec(name)?.[0] ?? '1'),
    pooler: name.endsWith('pooler'),
  }
}

export async function startContender(name: ContenderName, options: StartOptions): Promise<Running> {
  const contender = contenderOf(name)
  const { database, wallets } = options
  const pooler = contender.pooler ? await startPooler(options) : null
  const url = pooler?.url ?? database.url
  if (!contender.isPaidonce) await database.makeTextbookTables(wallets)
  const processes: NodeProcess[] = []
  for (let place = 0; place < contender.processes; place += 1) {
    processes.push(
      contender.isPaidonce
        ? await startPaidonce(url, contender.pooler, options)
        : await startTextbook(url, contender.pool, options),
    )
  }
  if (contender.isPaidonce && wallets > 0) await database.fillWallets(wallets)
  await database.settle()
  return {
    processes,
    async stop() {
      await Promise.all(processes.map((each) => each.stop()))
      await pooler?.stop()
    },
  }
}

async function startPaidonce(
  url: string,
  pooler: boolean,
  { networks = [], folder, profile, cleanup }: StartOptions,
): Promise<NodeProcess> {
  const port = await freePort()
  const config = join(folder, `paidonce-${port}.json`)
  await writeFile(
    config,
    JSON.stringify({
      port,
      database: url,
      outbox: true,
      ...(pooler ? { pooler } : {}),
      networks: Object.fromEntries(
        ['sharklio', ...networks].map((name) => [name, { profile: 'sharklio', secret: SECRET }]),
      ),
    }),
  )
  const profiling = profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]
  return startNodeProcess({
    args: [...profiling, MAIN, 'start', '--config', config],
    env: { PAIDONCE_ADMIN_TOKEN: ADMIN_TOKEN },
    port,
    ready: { path: '/readyz', ok: true },
    log: join(folder, `paidonce-${port}.log`),
    cleanup,
  })
}

async function startTextbook(
  url: string,
  pool: number,
  { database, folder, cleanup }: StartOptions,
): Promise<NodeProcess> {
  const port = await freePort()
  return startRival(`textbook-${database.store}`, port, folder, cleanup, {
    SHARKLIO_POSTBACK_KEY: SECRET,
    POOL_SIZE: String(pool),
    DATABASE_URL: url,
    DATABASE_FILE: url.replace(/^sqlite:/, ''),
  })
}

/** The empty server, which needs no database. */
export async function startEmpty(folder: string, cleanup: Cleanup): Promise<NodeProcess> {
  return startRival('empty', await freePort(), folder, cleanup, {})
}

async function startRival(
  name: string,
  port: number,
  folder: string,
  cleanup: Cleanup,
  env: Readonly<Record<string, string>>,
): Promise<NodeProcess> {
  return startNodeProcess({
    args: [fileURLToPath(new URL(`./rivals/${name}.mjs`, import.meta.url))],
    env: { PORT: String(port), ...env },
    port,
    ready: { path: '/', ok: false },
    log: join(folder, `${name}-${port}.log`),
    cleanup,
  })
}

async function startPooler({ database, cleanup }: StartOptions): Promise<{
  readonly url: string
  stop(): Promise<void>
}> {
  const { port, pathname } = new URL(database.url)
  const bouncer = await startPgbouncer({
    upstreamPort: Number(port),
    database: pathname.slice(1),
    poolSize: POOLER_SIZE,
  })
  return { url: bouncer.url, stop: cleanup.defer(() => bouncer.stop()) }
}
