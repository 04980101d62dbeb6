/**
 * SQLite: embedded, fully durable, no server.
 *
 * @module
 */
export { openSqlite, sqliteStore, type SqliteStore, type SqliteStoreOptions } from './store.js'
export type { DriverName, SqliteHandle } from './driver.js'
