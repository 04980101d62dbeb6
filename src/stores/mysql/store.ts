/**
 * The store on MySQL and MariaDB: on the app's own pool, or on one that is opened from a URL.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { LedgerStore } from '../../ledger/store.js'
import type { MysqlPool } from './driver.js'
import { createStore, type MysqlStoreOptions } from './create-store.js'

export type { MysqlStoreOptions } from './create-store.js'

/**
 * Makes a store on the app's own pool. Its pool stays open when the store is closed.
 *
 * @throws PaidonceError `config_invalid` where the options contradict each other
 * @example
 * ```ts
 * import mysql from 'mysql2/promise'
 * import { mysqlStore } from 'paidonce/mysql'
 *
 * const pool = mysql.createPool(process.env.DATABASE_URL ?? '')
 * const store = mysqlStore({ pool, wallets: { table: 'users', id: 'id', balance: 'coins' } })
 * await store.start()
 * ```
 */
export function mysqlStore(options: MysqlStoreOptions): LedgerStore {
  return createStore(options, false)
}

/** Where a URL leads. */
export interface MysqlAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  readonly ssl: boolean
}

/** Groups, asides and reads together. */
const CONNECTIONS = 10

/** Below the `wait_timeout` of our sessions. */
const IDLE_CONNECTION_MS = 30_000

/**
 * Opens a store with its own pool.
 *
 * @param url `mysql://user:password@host:3306/database` or `mariadb://…`; `?ssl=true` encrypts the connection
 * @throws PaidonceError `config_invalid` for another URL, `driver_missing` without mysql2
 */
export async function openMysql(
  url: string,
  options: Omit<MysqlStoreOptions, 'pool'> = {},
): Promise<LedgerStore> {
  const { ssl, ...address } = parseMysqlUrl(url)
  const { createPool } = await loadDriver()
  const connections = Math.max(CONNECTIONS, (options.lanes ?? 0) + 6)
  const pool: MysqlPool = createPool({
    ...address,
    ...(ssl ? { ssl: {} } : {}),
    charset: 'utf8mb4',
    supportBigNumbers: true,
    bigNumberStrings: true,
    timezone: 'Z',
    // A group's statements go together. Every value in them is plain ASCII or hexadecimal, so none can add another one.
    multipleStatements: true,
    connectTimeout: 2_000,
    connectionLimit: connections,
    enableKeepAlive: true,
    // Sooner than the server ends an idle session, so that hardly ever a connection is lent that is just being closed.
    // The driver looks for idle ones only where `maxIdle` is below the limit.
    maxIdle: connections - 1,
    idleTimeout: IDLE_CONNECTION_MS,
    // A reset would take the settings of the session away.
    resetOnRelease: false,
  })
  return createStore({ ...options, pool }, true)
}

/** Reads the URL; the message of a refusal never repeats it, because it holds a password. */
export function parseMysqlUrl(url: string): MysqlAddress {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['mysql:', 'mariadb:'].includes(parsed.protocol)) {
    throw new PaidonceError('config_invalid', 'The database URL is no mysql:// or mariadb:// URL.', {
      hint: 'Write mysql://user:password@host:3306/database, with special characters percent-encoded.',
    })
  }
  const database = decodeURIComponent(parsed.pathname.slice(1))
  if (database === '') {
    throw new PaidonceError('config_invalid', 'The database URL names no database.', {
      hint: 'Add it after the host: mysql://user:password@host:3306/database.',
    })
  }
  for (const [name, value] of parsed.searchParams) {
    if (name === 'ssl' && (value === 'true' || value === 'false')) continue
    throw new PaidonceError(
      'config_invalid',
      `The database URL has the parameter "${name}" with a value it cannot have.`,
      {
        hint: 'Only ssl=true and ssl=false are understood.',
      },
    )
  }
  return {
    // An IPv6 host stands in brackets in a URL and without them everywhere else.
    host: parsed.hostname === '' ? 'localhost' : parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? 3306 : Number(parsed.port),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database,
    ssl: parsed.searchParams.get('ssl') === 'true',
  }
}

async function loadDriver(): Promise<typeof import('mysql2/promise')> {
  try {
    return await import('mysql2/promise')
  } catch (error) {
    throw new PaidonceError('driver_missing', 'The package mysql2 is not installed.', {
      hint: 'Run "npm install mysql2".',
      cause: error,
    })
  }
}
