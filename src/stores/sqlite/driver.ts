/**
 * The two SQLite drivers behind one small synchronous interface: `node:sqlite` where the running Node has it without a
 * flag (22.13 and newer), else better-sqlite3. Integers are read as bigint, always.
 *
 * @module
 */
import { createRequire } from 'node:module'
import { PaidonceError } from '../../errors.js'

/** What is bound. JavaScript numbers are left out on purpose: better-sqlite3 would bind them as REAL. */
export type SqlValue = string | bigint | Uint8Array | null

/** What is read; a number only where a column that is not ours holds a REAL. */
export type SqlRow = Readonly<Record<string, SqlValue | number>>

export interface SqlStatement {
  /** Resolves to the number of changed rows. */
  run(...values: readonly SqlValue[]): number
  get(...values: readonly SqlValue[]): SqlRow | undefined
  all(...values: readonly SqlValue[]): SqlRow[]
}

export type DriverName = 'node:sqlite' | 'better-sqlite3'

/** A publisher's open handle, taken by structure: better-sqlite3's `Database` or node:sqlite's `DatabaseSync`. */
export interface SqliteHandle {
  prepare(sql: string): object
  exec(sql: string): unknown
  close(): unknown
}

/** A way to open files, and what a worker thread needs to do the same. */
export interface Driver {
  readonly name: DriverName
  /** What a worker thread has to load. */
  readonly module: string
  open(file: string): SqliteHandle
}

/**
 * Finds the driver of this process.
 *
 * @throws PaidonceError `driver_missing` where there is neither.
 */
export function findDriver(): Driver {
  return nodeSqlite() ?? betterSqlite()
}

function nodeSqlite(): Driver | null {
  const module = withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite') as unknown)
  if (module === undefined) return null
  const { DatabaseSync } = module as { DatabaseSync: new (file: string) => SqliteHandle }
  return { name: 'node:sqlite', module: 'node:sqlite', open: (file) => new DatabaseSync(file) }
}

function betterSqlite(): Driver {
  const load = createRequire(import.meta.url)
  try {
    const Database = load('better-sqlite3') as new (file: string, options: object) => SqliteHandle
    // Its native part is loaded by the first open only, and may have been built for another Node.
    new Database(':memory:', {}).close()
    return {
      name: 'better-sqlite3',
      module: load.resolve('better-sqlite3'),
      open: (file) => new Database(file, { timeout: 0 }),
    }
  } catch (cause) {
    throw new PaidonceError(
      'driver_missing',
      `Node ${process.versions.node} has no built-in SQLite and better-sqlite3 cannot be loaded.`,
      {
        hint: 'Run "npm install better-sqlite3@12", or use Node 22.13 or newer, which needs no package.',
        cause,
      },
    )
  }
}

/** Some Node versions announce node:sqlite as experimental on stderr when it is loaded; only that line is dropped. */
function withoutSqliteWarning<T>(load: () => T): T {
  const emitWarning = Reflect.get(process, 'emitWarning')
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes('SQLite is an experimental feature')) return
    Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
