/**
 * The session settings that the promise rests on, and how a publisher's connection gets its own back.
 *
 * @module
 */
import type { Row, Statement } from './driver.js'

/**
 * What each variable is while we work. Strict mode, because without it InnoDB cuts ids and clamps amounts in silence.
 * The lock waits, because their defaults are 50 seconds and a day. Uniqueness checks, because a session can have turned
 * them off. The rest, because it would change what our statements return or when they commit.
 */
const VALUES: Readonly<Record<string, string>> = {
  sql_mode: `'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
  time_zone: `'+00:00'`,
  character_set_results: 'utf8mb4',
  innodb_lock_wait_timeout: '1',
  lock_wait_timeout: '5',
  autocommit: '1',
  unique_checks: '1',
  foreign_key_checks: '1',
  sql_safe_updates: '0',
  sql_select_limit: '18446744073709551615',
  completion_type: '0',
}

/**
 * What ends a transaction that stands idle, in seconds: a receiver that freezes between its writes and its COMMIT would
 * otherwise hold its wallets' locks for hours. MariaDB ends the transaction; MySQL can only end the session, idle ones of
 * a pool included.
 *
 * One server knows what the other calls an unknown variable, hence the comments that only one of them executes
 * (MariaDB's documentation, "Comment Syntax": MariaDB alone runs what stands in M!, and skips versions 50700 to 99999).
 */
const MARIADB_VALUES: Readonly<Record<string, string>> = {
  idle_transaction_timeout: '10',
  idle_write_transaction_timeout: '10',
}
const MYSQL_VALUES: Readonly<Record<string, string>> = { wait_timeout: '60' }

const NAMES = Object.keys(VALUES)
const SERVERS_OWN = [...Object.keys(MARIADB_VALUES), ...Object.keys(MYSQL_VALUES)]

function forOneServer(part: (name: string, value: string) => string): string {
  const list = (values: Readonly<Record<string, string>>): string =>
    Object.entries(values)
      .map(([name, value]) => `, ${part(name, value)}`)
      .join('')
  return ` /*M!100600${list(MARIADB_VALUES)} */ /*!80000${list(MYSQL_VALUES)} */`
}

const assignmentOf = (name: string, value: string): string => `session ${name} = ${value}`
const readingOf = (name: string): string => `cast(@@session.${name} as char) as ${name}`

/** Sets everything in one statement. */
export const SESSION_SETTINGS =
  `set ${Object.entries(VALUES)
    .map(([name, value]) => assignmentOf(name, value))
    .join(', ')}` + forOneServer(assignmentOf)

/** Reads what a publisher's connection has before we change it. */
export const RESTORED_SETTINGS = `select ${NAMES.map(readingOf).join(', ')}${forOneServer(readingOf)}`

const NUMERIC = /^\d{1,20}$/

/** The statement that puts back what `RESTORED_SETTINGS` read. */
export function restoreSettings(before: Row): Statement {
  const values: (string | null)[] = []
  const parts = [...NAMES, ...SERVERS_OWN.filter((name) => name in before)].map((name) => {
    const value = before[name]
    if (typeof value !== 'string') return `session ${name} = null`
    // A number in quotes is an "incorrect argument type" for most variables.
    if (NUMERIC.test(value)) return `session ${name} = ${value}`
    values.push(value)
    return `session ${name} = ?`
  })
  return { sql: `set ${parts.join(', ')}`, values }
}
