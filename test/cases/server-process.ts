/**
 * One receiver as a process of its own. Its settings come as JSON; `at-commit` makes it die by SIGKILL after it wrote
 * a ledger entry and before the COMMIT, on SQLite, where no proxy can do that from outside.
 *
 * @module
 */
import { createRequire } from 'node:module'
import { startServer } from '../../src/server/server.js'
import { DEFAULT_SETTINGS, type Settings } from '../../src/server/settings.js'

type SqlMethod = (this: SqliteHandle, sql: string) => unknown

interface SqliteHandle {
  prepare: SqlMethod
  exec: SqlMethod
}

const [changes = '{}', crash = ''] = process.argv.slice(2)
if (crash === 'at-commit') dieAtCommit()
const settings = { ...DEFAULT_SETTINGS, ...(JSON.parse(changes) as Partial<Settings>) }
const server = await startServer(settings)
// The test's end of the pipe closes whatever happens to the test, so that no server is left behind.
process.stdin.on('close', () => void server.close({ delaySeconds: 0 }).then(() => process.exit(0)))
process.stdin.resume()
process.stdout.write(`${server.url}\n`)

function dieAtCommit(): void {
  const { prototype } = sqliteClass()
  const { prepare, exec } = prototype
  let wroteEntry = false
  prototype.prepare = function (this: SqliteHandle, sql: string) {
    if (/^\s*insert into \S*paidonce_ledger/i.test(sql)) wroteEntry = true
    return prepare.call(this, sql)
  }
  prototype.exec = function (this: SqliteHandle, sql: string) {
    if (wroteEntry && sql === 'commit') process.kill(process.pid, 'SIGKILL')
    return exec.call(this, sql)
  }
}

/** The driver that the product finds in this process. */
function sqliteClass(): { prototype: SqliteHandle } {
  const builtIn = process.getBuiltinModule('node:sqlite') as
    { readonly DatabaseSync: { prototype: SqliteHandle } } | undefined
  if (builtIn !== undefined) return builtIn.DatabaseSync
  return createRequire(import.meta.url)('better-sqlite3') as { prototype: SqliteHandle }
}
