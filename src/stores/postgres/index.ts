/**
 * Paidonce on PostgreSQL.
 *
 * @module
 */
export { postgresStore, type PostgresStoreOptions } from './store.js'
export { openPostgres, type OpenPostgresOptions } from './open.js'
export type { PgClient, PgPool, PgQuery, PgResult } from './driver.js'
