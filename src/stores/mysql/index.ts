/**
 * The store on MySQL 8 and on MariaDB 10.6 or later.
 *
 * @module
 */
export { mysqlStore, openMysql, type MysqlStoreOptions } from './store.js'
export type { MysqlConnection, MysqlPool } from './driver.js'
