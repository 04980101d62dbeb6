/**
 * What every loader is told.
 *
 * @module
 */

export interface LoadOptions {
  /** Rows of the ledger, and of the inbox where there is one. */
  readonly rows: number
  /** Without the inbox, for workloads that only write; default true. */
  readonly inbox?: boolean
  /** When the newest call arrived, in milliseconds; default now. */
  readonly newest?: number
}
