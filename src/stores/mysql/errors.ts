/**
 * The one place where a MySQL or MariaDB failure gets its meaning.
 *
 * @module
 */
import { StoreError, type StoreFailure } from '../../errors.js'

/**
 * Where a statement stands; the same error number means different things in different places.
 *
 * - `read`: nothing was written yet; also BEGIN, ROLLBACK and settings.
 * - `wallets`: waiting for wallets.
 * - `ledger`: the insert into the ledger, which waits for keys.
 * - `write`: another write inside the transaction.
 * - `single`: a write that commits by itself.
 * - `commit`: COMMIT was sent.
 */
export type Step = 'read' | 'wallets' | 'ledger' | 'write' | 'single' | 'commit'

/** The fields of a driver's error that are looked at. */
interface DriverError extends Error {
  readonly errno?: unknown
  readonly code?: unknown
}

const DUPLICATE_ENTRY = 1062
const LOCK_WAIT_TIMEOUT = 1205

/**
 * Rolled back, may pass next time. 1213 deadlock (also a lost Galera certification), 1020 record changed since the
 * snapshot, 1047 and 1180 a Galera node that left its cluster, 1317, 1969 and 3024 a statement that was cut short.
 */
const RETRY = new Set([1213, 1020, 1047, 1180, 1317, 1969, 3024])

/** The connection ended under the statement: killed, shut down, timed out or broken. */
const LOST = new Set([1053, 1152, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 4031])

/**
 * The database takes no work: full (1021, 1030, 1114), out of connections or memory (1037, 1040, 1041, 1203, 1226),
 * read-only (1290, 1792, 1836), or not the schema and rights that start() checked (1044, 1045, 1049, 1054, 1142, 1143,
 * 1146, 1176, 1698).
 */
const AWAY = new Set([
  3, 1021, 1030, 1037, 1040, 1041, 1044, 1045, 1049, 1054, 1114, 1142, 1143, 1146, 1176, 1203, 1226, 1290,
  1698, 1792, 1836,
])

/** The data itself was refused: out of range, too long, a CHECK, a trigger's SIGNAL, a foreign key. */
const REFUSED = new Set([
  1048, 1062, 1153, 1264, 1265, 1292, 1300, 1366, 1406, 1451, 1452, 1644, 1690, 1977, 3819, 3854, 4025,
])

const LOST_CODES = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
])

/** Thrown into a statement whose connection was given up because nothing came back in time. */
export class ConnectionGivenUp extends Error {
  readonly code = 'PROTOCOL_SEQUENCE_TIMEOUT'
}

/**
 * Classifies a statement's failure.
 *
 * Numbers are from the MySQL 8.0 Error Message Reference and the MariaDB Error Codes reference.
 */
export function classifyFailure(error: unknown, step: Step): StoreError {
  const cause = withoutStatement(error)
  const failure = failureOf(cause, step)
  return new StoreError(failure, `MySQL, at step "${step}": ${messageOf(cause)}`, cause)
}

/** Classifies a failure to get a connection: nothing was done yet. */
export function connectionFailure(error: unknown): StoreError {
  const cause = withoutStatement(error)
  return new StoreError('away', `MySQL has no connection to give: ${messageOf(cause)}`, cause)
}

function failureOf(error: unknown, step: Step): StoreFailure {
  const number = errnoOf(error)
  // A lost Galera certification is a definite rollback. Whatever else the server says to COMMIT, only a re-run that
  // looks for its own ids can tell what stands.
  if (step === 'commit') return number === 1213 ? 'retry' : 'unknown'
  if (step === 'single' && isLost(error)) return 'unknown'
  if (number === LOCK_WAIT_TIMEOUT) {
    return step === 'wallets' ? 'wallet_busy' : step === 'ledger' ? 'key_busy' : 'retry'
  }
  if (isLost(error) || RETRY.has(number)) return 'retry'
  if (AWAY.has(number)) return 'away'
  return REFUSED.has(number) ? 'refused' : 'retry'
}

/** Whether the connection is gone, so that not even ROLLBACK can be sent. */
export function isLost(error: unknown): boolean {
  return (
    LOST.has(errnoOf(error)) ||
    LOST_CODES.has(String((error as DriverError | null)?.code)) ||
    isClosedByDriver(error)
  )
}

/** mysql2 has no code for a statement on a connection that has ended; its text is all there is. */
function isClosedByDriver(error: unknown): boolean {
  return error instanceof Error && /closed state|connection is closed|after fatal error/i.test(error.message)
}

/** Whether a classified failure is the duplicate of that unique key and of no other. */
export function isDuplicateOf(error: unknown, keyName: string): boolean {
  if (!(error instanceof StoreError) || errnoOf(error.cause) !== DUPLICATE_ENTRY) return false
  const message = messageOf(error.cause)
  // MySQL 8.0.19 and later name the table too: 'paidonce_ledger.paidonce_ledger_key'.
  return message.includes(`'${keyName}'`) || message.includes(`.${keyName}'`)
}

function errnoOf(error: unknown): number {
  const number = (error as DriverError | null)?.errno
  return typeof number === 'number' ? number : 0
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The driver puts the whole statement on its error, raw calls and their signatures included: no log may get it. */
function withoutStatement(error: unknown): unknown {
  if (error instanceof Error && 'sql' in error) {
    Object.defineProperty(error, 'sql', { value: undefined, enumerable: false, configurable: true })
  }
  return error
}
