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

const NAMES = Object.keys(VALUES)

/** Sets everything in one statement. */
export const SESSION_SETTINGS = `set ${NAMES.map((name) => `session ${name} = ${String(VALUES[name])}`).join(', ')}`

/** Reads what a publisher's connection has before we change it. */
export const RESTORED_SETTINGS = `select ${NAMES.map((name) => `cast(@@session.${name} as char) as ${name}`).join(', ')}`

const NUMERIC = /^\d{1,20}$/

/** The statement that puts back what `RESTORED_SETTINGS` read. */
export function restoreSettings(before: Row): Statement {
  const values: (string | null)[] = []
  const parts = NAMES.map((name) => {
    const value = before[name]
    if (typeof value !== 'string') return `session ${name} = null`
    // A number in quotes is an "incorrect argument type" for most variables.
    if (NUMERIC.test(value)) return `session ${name} = ${value}`
    values.push(value)
    return `session ${name} = ?`
  })
  return { sql: `set ${parts.join(', ')}`, values }
}
