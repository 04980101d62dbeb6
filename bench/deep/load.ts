/**
 * Fills the tables that a server has made, on whichever store.
 *
 * @module
 */
import { startContender } from '../contenders.js'
import type { BenchDatabase } from '../databases/database.js'
import type { StoreName } from '../result-row.js'
import type { Sitting } from '../sitting.js'
import { loadMariadb } from './load-mariadb.js'
import { loadPostgres } from './load-postgres.js'
import { loadSqlite } from './load-sqlite.js'
import type { LoadOptions } from './options.js'
import { NETWORK_NAMES, RARE_NETWORK } from './shape.js'

const LOADS: Readonly<Record<StoreName, (url: string, options: LoadOptions) => Promise<void>>> = {
  postgres: loadPostgres,
  mariadb: loadMariadb,
  sqlite: loadSqlite,
}

/** Those that the rows are of, beside `sharklio`: a server refuses to start without them. */
export const DEEP_NETWORKS: readonly string[] = [...NETWORK_NAMES, RARE_NETWORK].filter(
  (name) => name !== 'sharklio',
)

/** A server makes the tables, then the rows are written into them by SQL alone. */
export async function fillDeep(
  sitting: Sitting,
  database: BenchDatabase,
  { inbox }: Pick<LoadOptions, 'inbox'>,
): Promise<void> {
  const { folder, cleanup, lengths } = sitting
  sitting.say(`  writing ${lengths.rows} rows …`)
  const start = { database, wallets: 0, folder, profile: null, cleanup }
  await (await startContender('Paidonce', start)).stop()
  await LOADS[database.store](database.url, { rows: lengths.rows, ...(inbox === undefined ? {} : { inbox }) })
}
