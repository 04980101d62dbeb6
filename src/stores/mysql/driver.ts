/**
 * What this store needs of `mysql2/promise`, by structure, so that the app's own pool fits without an import of the
 * driver.
 *
 * @module
 */

/** What a statement can carry. Anything else would be expanded by the driver, so it is stopped here. */
export type SqlValue = string | number | Buffer | null

export interface Statement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

export type Row = Readonly<Record<string, unknown>>

/** The part of a mysql2/promise connection that is used. */
export interface MysqlConnection {
  query(options: { sql: string; values?: unknown }): Promise<unknown>
  release(): void
  destroy(): void
}

/** The part of a mysql2/promise pool that is used. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>
  end?(): Promise<void>
}

/** The driver's settings for our statements, whatever the publisher's pool says. */
export const READ_AS = Object.freeze({
  typeCast: true,
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  supportBigNumbers: true,
  bigNumberStrings: true,
  decimalNumbers: false,
  dateStrings: true,
})
