/**
 * What all runs of one call of the benchmark share: servers that are started when the first run needs them, files of
 * URLs, and the end of everything.
 *
 * @module
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCleanup, type Cleanup } from './cleanup.js'
import type { BenchServer } from './databases/database.js'
import { startBenchMariadb } from './databases/mariadb.js'
import { startBenchPostgres } from './databases/postgres.js'
import { startBenchSqlite } from './databases/sqlite.js'
import { createUrlFiles, type UrlFiles } from './load/url-file.js'
import { runLoad, type Load, type LoadReport } from './load/wrk.js'
import type { StoreName } from './result-row.js'

export interface Lengths {
  readonly rounds: number
  /** Of the measured part of a run. */
  readonly seconds: number
  /** Calls of the workload `memory`. */
  readonly postbacks: number
  /** Rows of the ledger that `deep` and `lists` work on. */
  readonly rows: number
}

export interface Sitting {
  readonly lengths: Lengths
  /** For whatever a run writes; deleted at the end. */
  readonly folder: string
  /** Where processes of Paidonce leave CPU profiles; null for none. */
  readonly profile: string | null
  readonly urls: UrlFiles
  /** Of this task: runs when the task is over. */
  readonly cleanup: Cleanup
  /** The server of a store, started at the first call. Rejects with a MissingServer where it is not installed. */
  serverOf(store: StoreName): Promise<BenchServer>
  load(load: Load): Promise<LoadReport>
  /** A line for whoever watches. */
  say(text: string): void
}

export interface WholeSitting extends Sitting {
  /** Runs a task with a clean-up of its own, which is over when it is. */
  runTask<T>(task: (sitting: Sitting) => Promise<T>): Promise<T>
  /** Versions of the servers that were started, by store. */
  versions(): Promise<Readonly<Record<string, string>>>
  /** Whether `end` was called: what fails from then on fails because of it. */
  isOver(): boolean
  end(): Promise<void>
}

export interface SittingOptions {
  readonly lengths: Lengths
  /** Where wrk is; a load without it is an error, so callers ask before. */
  readonly wrk: string | null
  readonly profile?: string | null
}

export async function openSitting({ lengths, wrk, profile = null }: SittingOptions): Promise<WholeSitting> {
  const cleanup = createCleanup()
  const folder = await makeFolder(cleanup)
  let over = false
  const servers = new Map<StoreName, Promise<BenchServer>>()
  const start = (store: StoreName): Promise<BenchServer> => {
    const starting = startServer(store, folder)
    // Registered before it is there: an interrupt may come while it starts.
    cleanup.defer(async () => {
      const server = await starting.catch(() => null)
      await server?.stop()
    })
    return starting
  }
  const within = (scope: Cleanup): Sitting => ({
    lengths,
    folder,
    profile,
    urls,
    cleanup: scope,
    serverOf(store) {
      const server = servers.get(store) ?? start(store)
      servers.set(store, server)
      return server
    },
    async load(load) {
      if (wrk === null) throw new Error('wrk is not installed.')
      return runLoad(wrk, load, scope)
    },
    say(text) {
      process.stderr.write(`${text}\n`)
    },
  })
  const urls = createUrlFiles(join(folder, 'urls'))
  return {
    ...within(cleanup),
    async runTask(task) {
      const scope = createCleanup()
      const end = cleanup.defer(() => scope.run())
      try {
        return await task(within(scope))
      } finally {
        await end()
        // The next task's calls are others; a million of them are 150 MB.
        await urls.clear()
      }
    },
    async versions() {
      const started = await Promise.allSettled(servers.values())
      return Object.fromEntries(
        started.flatMap((each) =>
          each.status === 'fulfilled' ? [[each.value.store, each.value.version]] : [],
        ),
      )
    },
    isOver: () => over,
    async end() {
      over = true
      await cleanup.run()
    },
  }
}

/** One folder for everything, the database servers' folders included, so that one deletion leaves nothing. */
async function makeFolder(cleanup: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-'))
  // The servers run as somebody else, who has to get through to the folders of his.
  await chmod(folder, 0o711)
  process.env['TMPDIR'] = folder
  // After an interrupt somebody may still be writing into it: what appears meanwhile is deleted with the next try.
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return folder
}

function startServer(store: StoreName, folder: string): Promise<BenchServer> {
  switch (store) {
    case 'postgres':
      return startBenchPostgres()
    case 'mariadb':
      return startBenchMariadb()
    case 'sqlite':
      return startBenchSqlite(folder)
  }
}
