/**
 * A store with a pool of its own.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { LedgerStore } from '../../ledger/store.js'
import type { PgPool } from './driver.js'
import { ASIDES, DEFAULT_LANES, postgresStore, type PostgresStoreOptions } from './store.js'

/** Connections for reads and corrections, beside those of the groups. */
const SPARE_CONNECTIONS = 4

/** What a URL's store is told; the pool is made from the URL. */
export type OpenPostgresOptions = Omit<PostgresStoreOptions, 'pool'>

/**
 * Opens a database by URL; `close()` closes the pool.
 *
 * @throws PaidonceError `driver_missing` where `pg` is not installed, `config_invalid` where the URL cannot be read
 */
export async function openPostgres(url: string, options: OpenPostgresOptions = {}): Promise<LedgerStore> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new PaidonceError('driver_missing', 'The package "pg" is not installed.', {
      hint: 'npm install pg',
      cause,
    })
  })
  if (!URL.canParse(url)) {
    // The text is not repeated: it holds the password.
    throw new PaidonceError('config_invalid', 'The database URL cannot be read.', {
      hint: 'Write it as postgres://user:password@host:5432/database, with special characters percent-encoded.',
    })
  }
  const lanes = options.lanes ?? DEFAULT_LANES
  const pool = new pg.Pool({
    connectionString: url,
    max: lanes + ASIDES + SPARE_CONNECTIONS,
    connectionTimeoutMillis: 2_000,
    keepAlive: true,
    application_name: 'paidonce',
  })
  // An idle connection that breaks is replaced by the pool; without a listener its error would end the process.
  pool.on('error', () => undefined)
  const store = postgresStore({ ...options, lanes, pool: pool satisfies PgPool })
  let closing: Promise<void> | undefined
  return { ...store, close: () => (closing ??= pool.end()) }
}
