/**
 * The complete list of failures that Paidonce reports by exception. Outcomes of postbacks are values
 * (see `outcome.ts`) and never appear here.
 *
 * @module
 */

/** Stable codes; their meaning never changes, new ones may be added. */
export type ErrorCode =
  | 'config_invalid'
  | 'usage'
  | 'database_refused'
  | 'database_away'
  | 'schema_behind'
  | 'schema_changed'
  | 'wallet_table_refused'
  | 'ledger_mismatch'
  | 'network_missing'
  | 'driver_missing'
  | 'unknown_network'
  | 'unknown_user'
  | 'unknown_postback'
  | 'unknown_transaction'
  | 'foreign_wallets'
  | 'key_conflict'
  | 'insufficient_balance'
  | 'negative_balance'
  | 'balance_limit'
  | 'bad_request'
  | 'unauthorized'
  | 'not_found'
  | 'overloaded'
  | 'port_in_use'
  | 'internal'

/** What an error carries beside its code and sentence. */
export interface ErrorDetails {
  /** What the reader can do about it, as one sentence. */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * A failure with a stable code. The message says what happened and with which value, the hint says what
 * to do; neither ever holds a secret.
 *
 * @example
 * ```ts
 * import { PaidonceError } from 'paidonce'
 *
 * try {
 *   throw new PaidonceError('unknown_user', 'There is no wallet for user "u7".', {
 *     hint: 'Create it with PUT /api/v1/wallets/u7.',
 *   })
 * } catch (error) {
 *   if (error instanceof PaidonceError && error.code === 'unknown_user') console.log(error.hint)
 * }
 * ```
 */
export class PaidonceError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'PaidonceError'
    this.code = code
    this.hint = details.hint
  }
}

/**
 * How a store's failure must be treated; each class calls for another action of the committer.
 *
 * - `retry`: the transaction is known to have rolled back and may pass next time (deadlock, serialization
 *   failure, connection lost before COMMIT was sent).
 * - `key_busy`: waiting for an uncommitted ledger key of somebody else timed out; rolled back.
 * - `wallet_busy`: waiting for a wallet's lock timed out; rolled back.
 * - `unknown`: COMMIT was sent and its reply was lost: the transaction may or may not stand.
 * - `refused`: the database refused the data of at least one claim; rolled back.
 * - `away`: the database cannot be reached, is read-only, full or has no connection to give; nothing was done.
 */
export type StoreFailure = 'retry' | 'key_busy' | 'wallet_busy' | 'unknown' | 'refused' | 'away'

/** A classified failure of a database operation; the driver's own error is the cause. */
export class StoreError extends Error {
  readonly failure: StoreFailure
  /** With `key_busy`: the ids of the leading claims whose keys are held elsewhere, where the store can tell. */
  readonly busyClaims: readonly string[]

  constructor(failure: StoreFailure, message: string, cause?: unknown, busyClaims: readonly string[] = []) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StoreError'
    this.failure = failure
    this.busyClaims = busyClaims
  }
}
