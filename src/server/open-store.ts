/**
 * Opens the store that a database URL names. Drivers are imported only when they are needed, because each of them is
 * an optional peer.
 *
 * @module
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PaidonceError } from '../errors.js'
import type { LedgerStore, StoreOptions } from '../ledger/store.js'
import { parseDatabaseUrl, redactDatabaseUrl } from './database-url.js'
import type { Settings } from './settings.js'

/** The settings that a store is opened with. */
export type StoreSettings = Pick<
  Settings,
  | 'database'
  | 'amountScale'
  | 'unknownUser'
  | 'wallets'
  | 'tables'
  | 'migrate'
  | 'outbox'
  | 'pooler'
  | 'isolation'
>

/**
 * Opens a store; nothing is created or checked before its `start()`.
 *
 * @throws PaidonceError `config_invalid` for an unknown URL, `driver_missing` where the driver is not installed
 */
export async function openStore(settings: StoreSettings): Promise<LedgerStore> {
  const target = parseDatabaseUrl(settings.database)
  const { amountScale, unknownUser, wallets, tables, migrate, outbox, pooler, isolation } = settings
  const options: StoreOptions = {
    amountScale,
    unknownUser,
    tables,
    migrate,
    outbox,
    ...(wallets === null ? {} : { wallets }),
  }
  try {
    if (target.kind === 'sqlite') {
      if (!target.path.startsWith(':')) await mkdir(dirname(target.path), { recursive: true })
      const { openSqlite } = await import('../stores/sqlite/index.js')
      return await openSqlite(target.path, options)
    }
    if (target.kind === 'postgres') {
      const { openPostgres } = await import('../stores/postgres/index.js')
      return await openPostgres(target.url, { ...options, pooler, isolation })
    }
    const { openMysql } = await import('../stores/mysql/index.js')
    return await openMysql(target.url, options)
  } catch (cause) {
    throw driverMissing(cause, settings.database) ?? cause
  }
}

function driverMissing(cause: unknown, database: string): PaidonceError | null {
  if (!(cause instanceof Error) || !('code' in cause)) return null
  if (cause.code !== 'ERR_MODULE_NOT_FOUND' && cause.code !== 'MODULE_NOT_FOUND') return null
  const driver = /package '([^']+)'|module '([^'./]+)'/.exec(cause.message)
  const name = driver?.[1] ?? driver?.[2]
  if (name === undefined) return null
  return new PaidonceError(
    'driver_missing',
    `The database ${JSON.stringify(redactDatabaseUrl(database))} needs the package "${name}", which is not installed.`,
    { hint: `Install it: npm install ${name}`, cause },
  )
}
