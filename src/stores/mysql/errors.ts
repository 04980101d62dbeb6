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
 * snapshot, 1412 table definition changed since then, 1637 too many transactions, 3101 lost certification of group
 * replication, 1047 and 1180 a Galera node that left its cluster, 1317, 1969 and 3024 a statement that was cut short.
 */
const RETRY = new Set([1213, 1020, 1047, 1180, 1317, 1412, 1637, 1969, 3024, 3101])

/** The connection ended under the statement: killed, shut down, timed out or broken. */
const LOST = new Set([1053, 1152, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 4031])

/**
 * The database takes no work: full or in trouble with its files (3, 1021, 1026, 1028, 1030, 1034, 1114, 1194, 1195,
 * 1812), out of connections, memory or locks (1037, 1038, 1040, 1041, 1135, 1203, 1206, 1226), locked by a backup (1223),
 * read-only (1290, 1792, 1836), refused by group replication (3100), or not the schema and rights that start() checked
 * (1044, 1045, 1049, 1054, 1064, 1142, 1143, 1146, 1176, 1193, 1227, 1305, 1370, 1449, 1698).
 */
const AWAY = new Set([
  3, 1021, 1026, 1028, 1030, 1034, 1037, 1038, 1040, 1041, 1044, 1045, 1049, 1054, 1064, 1114, 1135, 1142,
  1143, 1146, 1176, 1193, 1194, 1195, 1203, 1206, 1223, 1226, 1227, 1290, 1305, 1370, 1449, 1698, 1792, 1812,
  1836, 3100,
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
  // Whatever else a living server says is about the data: too long, a CHECK, a foreign key, a publisher's trigger with a
  // code of its own. The group is split, and only the claim at fault pays for it. Errors of the driver have no such number.
  return number > 0 ? 'refused' : 'retry'
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

const COLUMN_EXISTS = 1060
const NO_SUCH_INDEX = 1091

/** Whether a statement of a migration was done before. */
export function isDoneBefore(error: unknown): boolean {
  return error instanceof StoreError && [COLUMN_EXISTS, NO_SUCH_INDEX].includes(errnoOf(error.cause))
}
