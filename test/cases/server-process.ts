/**
 * One receiver as a process of its own. Its settings come as JSON; `at-commit` makes it die by SIGKILL after it wrote
 * a ledger entry and before the COMMIT, on SQLite, where no proxy can do that from outside.
 *
 * @module
 */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { startServer } from '../../src/server/server.js'
import { DEFAULT_SETTINGS, type Settings } from '../../src/server/settings.js'

/** Blocks of their own keep its names apart from those of the program that follows. */
const TRAP = `{
  const { workerData } = require('node:worker_threads')
  const loaded = require(workerData.module)
  const { prototype } = workerData.module === 'node:sqlite' ? loaded.DatabaseSync : loaded
  const { prepare, exec } = prototype
  let wroteEntry = false
  prototype.prepare = function (sql) {
    if (/^\\s*insert into \\S*paidonce_ledger/i.test(sql)) wroteEntry = true
    return prepare.call(this, sql)
  }
  prototype.exec = function (sql) {
    if (wroteEntry && sql === 'commit') process.kill(process.pid, 'SIGKILL')
    return exec.call(this, sql)
  }
}
`

const [changes = '{}', crash = ''] = process.argv.slice(2)
if (crash === 'at-commit') dieInThread()
const settings = { ...DEFAULT_SETTINGS, ...(JSON.parse(changes) as Partial<Settings>) }
const server = await startServer(settings)
// The test's end of the pipe closes whatever happens to the test, so that no server is left behind.
process.stdin.on('close', () => void server.close({ delaySeconds: 0 }).then(() => process.exit(0)))
process.stdin.resume()
process.stdout.write(`${server.url}\n`)

/** A group is written by a thread, which loads the driver by itself: the trap is put in front of its program. */
function dieInThread(): void {
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof Worker }
  threads.Worker = class extends threads.Worker {
    constructor(source: string | URL, options?: WorkerOptions) {
      super(options?.name === 'paidonce-writer' ? TRAP + String(source) : source, options)
    }
  }
  syncBuiltinESMExports()
}
