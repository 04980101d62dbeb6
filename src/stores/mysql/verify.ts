/**
 * What the promise rests on, looked up in the server and in our tables.
 *
 * @module
 */
import { PaidonceError, StoreError } from '../../errors.js'
import type { StoreFinding } from '../../ledger/store.js'
import type { OurTable, TableNames } from '../table-names.js'
import { readPending } from './migrator.js'
import { text } from './rows.js'
import type { Session } from './session.js'

const VARIABLES = [
  'read_only',
  'super_read_only',
  'innodb_read_only',
  'innodb_flush_log_at_trx_commit',
  'innodb_doublewrite',
  'log_bin',
  'sync_binlog',
  'max_allowed_packet',
]

/** Facts of a server, as it tells them. */
export interface ServerFacts {
  readonly version: string
  readonly sqlMode: string
  readonly variables: ReadonlyMap<string, string>
}

export async function readServerFacts(session: Session): Promise<ServerFacts> {
  const [row] = await session.read({
    sql: 'select version() as version, cast(@@session.sql_mode as char) as sql_mode',
    values: [],
  })
  const rows = await session.read({
    sql: `show global variables where variable_name in (${VARIABLES.map((name) => `'${name}'`).join(', ')})`,
    values: [],
  })
  const pairs = rows.map((pair) => Object.values(pair).map(text))
  return {
    version: text(row?.['version'] ?? ''),
    sqlMode: text(row?.['sql_mode'] ?? ''),
    variables: new Map(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value])),
  }
}

/** Whether the server takes no writes: a replica, or one that an operator has closed. */
export function isReadOnly({ variables }: ServerFacts): boolean {
  return ['read_only', 'super_read_only', 'innodb_read_only'].some((name) => {
    const value = variables.get(name)?.toUpperCase() ?? 'OFF'
    return value !== 'OFF' && value !== '0'
  })
}

/** Judges the server; pure. */
export function judgeServer(facts: ServerFacts): StoreFinding[] {
  return [judgeVersion(facts.version), ...judgeWriting(facts), ...judgeDurability(facts.variables)]
}

function judgeVersion(version: string): StoreFinding {
  const check = 'version'
  if (/tidb/i.test(version)) {
    return refuse(
      check,
      `The database is TiDB (${version}), which ignores the row locks that a balance needs.`,
      'Use MySQL 8.0.1 or later, or MariaDB 10.6 or later.',
    )
  }
  const [major = 0, minor = 0, patch = 0] = (
    /(\d+)\.(\d+)\.(\d+)/.exec(version.replace(/^5\.5\.5-/, '')) ?? []
  )
    .slice(1)
    .map(Number)
  const isMaria = /mariadb/i.test(version)
  const [floor, name] = isMaria ? [[10, 6, 0], 'MariaDB 10.6'] : [[8, 0, 1], 'MySQL 8.0.1']
  const number = (major * 1000 + minor) * 1000 + patch
  const least = ((floor[0] ?? 0) * 1000 + (floor[1] ?? 0)) * 1000 + (floor[2] ?? 0)
  return number >= least
    ? fine(check, `${isMaria ? 'MariaDB' : 'MySQL'} ${version}`)
    : refuse(
        check,
        `The server's version is ${version}; SKIP LOCKED needs ${name}.`,
        `Upgrade to ${name} or later.`,
      )
}

function judgeWriting(facts: ServerFacts): StoreFinding[] {
  const strict = /STRICT_ALL_TABLES/.test(facts.sqlMode)
  const packet = Number(facts.variables.get('max_allowed_packet') ?? Infinity)
  return [
    isReadOnly(facts)
      ? refuse('read_only', 'The server is read-only, as a replica is.', 'Connect to the primary.')
      : fine('read_only', 'The server takes writes.'),
    strict
      ? fine('sql_mode', 'Our sessions are strict.')
      : refuse(
          'sql_mode',
          `Our session's sql_mode is "${facts.sqlMode}": ids would be cut in silence.`,
          'Remove what changes sql_mode behind the session, such as a proxy.',
        ),
    packet >= 8 * 1024 * 1024
      ? fine('max_allowed_packet', `A statement may have ${packet} bytes.`)
      : warn(
          'max_allowed_packet',
          `A statement may have ${packet} bytes only, and a full group is larger.`,
          'set global max_allowed_packet = 16777216',
        ),
  ]
}

function judgeDurability(variables: ReadonlyMap<string, string>): StoreFinding[] {
  const flush = variables.get('innodb_flush_log_at_trx_commit') ?? ''
  const doublewrite = variables.get('innodb_doublewrite')?.toUpperCase() ?? 'ON'
  const binlog = variables.get('log_bin')?.toUpperCase() ?? 'OFF'
  const sync = variables.get('sync_binlog') ?? '1'
  const findings = [
    // MariaDB's 3 flushes at every commit too.
    flush === '1' || flush === '3'
      ? fine('innodb_flush_log_at_trx_commit', 'Every commit is flushed to disk.')
      : warn(
          'innodb_flush_log_at_trx_commit',
          `innodb_flush_log_at_trx_commit is ${flush}: a 200 does not survive power loss.`,
          'set global innodb_flush_log_at_trx_commit = 1, and in the configuration file',
        ),
    doublewrite === 'OFF' || doublewrite === '0' || doublewrite === 'DETECT_ONLY'
      ? warn(
          'innodb_doublewrite',
          `innodb_doublewrite is ${doublewrite}: a page torn by power loss cannot be repaired.`,
          'Set innodb_doublewrite = ON in the configuration file and restart the server.',
        )
      : fine('innodb_doublewrite', 'Torn pages are repaired.'),
  ]
  if (binlog === 'ON' || binlog === '1') {
    findings.push(
      sync === '1'
        ? fine('sync_binlog', 'The binary log is flushed at every commit.')
        : warn(
            'sync_binlog',
            `sync_binlog is ${sync}: after power loss a replica can lack what a 200 promised.`,
            'set global sync_binlog = 1, and in the configuration file',
          ),
    )
  }
  return findings
}

/** Checks our own tables as they really are: an exit code of a migration proves nothing. */
export async function verifySchema(
  session: Session,
  names: TableNames,
  scale: number,
  mode: 'auto' | 'check' | 'off',
): Promise<StoreFinding[]> {
  const findings = await verifyMigrations(session, names)
  // With "off" somebody else keeps the schema, and only what the tables really are counts.
  if (mode !== 'off' && findings.length > 0) return findings
  for (const name of ['ledger', 'wallets', 'postbacks', 'outbox', 'settings'] as const) {
    const definition = await readDefinition(session, names, name)
    if (definition === null) {
      return [refuse('schema', `There is no table ${names.prefix}${name}.`, 'Run "paidonce migrate".')]
    }
    findings.push(judgeTable(`${names.prefix}${name}`, definition))
    if (name === 'ledger') findings.push(...judgeLedger(names, definition, scale))
  }
  return findings.map((finding) =>
    finding.check === 'migrations' ? { ...finding, severity: 'warn' } : finding,
  )
}

async function verifyMigrations(session: Session, names: TableNames): Promise<StoreFinding[]> {
  try {
    const pending = await readPending(session, names)
    if (pending.length === 0) return []
    const list = pending.map(({ number }) => number).join(', ')
    return [refuse('migrations', `The schema lacks migration ${list}.`, 'Run "paidonce migrate".')]
  } catch (error) {
    if (!(error instanceof PaidonceError)) throw error
    return [refuse('migrations', error.message, error.hint ?? 'Compare the schema with "paidonce generate".')]
  }
}

const NO_SUCH_TABLE = 1146

async function readDefinition(session: Session, names: TableNames, name: OurTable): Promise<string | null> {
  try {
    const [row] = await session.read({ sql: `show create table ${names.table(name)}`, values: [] })
    return text(Object.values(row ?? {})[1] ?? '')
  } catch (error) {
    const cause = error instanceof StoreError ? (error.cause as { errno?: unknown } | undefined) : undefined
    if (cause?.errno === NO_SUCH_TABLE) return null
    throw error
  }
}

/** Judges one table by its SHOW CREATE TABLE; pure. */
export function judgeTable(name: string, definition: string): StoreFinding {
  return /ENGINE=InnoDB\b/i.test(definition)
    ? fine(name, `${name} is InnoDB.`)
    : refuse(
        name,
        `${name} is not InnoDB, so a rollback would not undo what was written.`,
        `alter table \`${name}\` engine = InnoDB`,
      )
}

/** Judges the ledger's key; pure. A key USING HASH has let duplicates in (MDEV-37199). */
export function judgeLedger(names: TableNames, definition: string, scale: number): StoreFinding[] {
  const key = `${names.prefix}ledger_key`
  const columns = ['id_space', 'transaction_key']
  const loose = columns.filter(
    (column) => !new RegExp(`\`${column}\` varbinary\\(\\d+\\) NOT NULL`, 'i').test(definition),
  )
  const line = definition.split('\n').find((text) => text.includes(`UNIQUE KEY \`${key}\``)) ?? ''
  const isWhole = line.includes('(`id_space`,`transaction_key`,`entry`)') && !/HASH/i.test(line)
  return [
    isWhole
      ? fine('ledger_key', 'The idempotency key is a unique index.')
      : refuse(
          'ledger_key',
          `The unique key ${key} is missing, partial or hashed: a reward could be booked twice.`,
          `alter table ${names.table('ledger')} add unique key \`${key}\` (id_space, transaction_key, entry)`,
        ),
    loose.length === 0
      ? fine('ledger_bytes', 'Ids are compared byte for byte.')
      : refuse(
          'ledger_bytes',
          `The ledger's columns ${loose.join(', ')} are not VARBINARY: two ids could count as one.`,
          `alter table ${names.table('ledger')} ${loose.map((column) => `modify ${column} varbinary(${column === 'id_space' ? 255 : 767}) not null`).join(', ')}`,
        ),
    new RegExp(`\`amount\` decimal\\(19,${scale}\\)`, 'i').test(definition)
      ? fine('ledger_scale', `Amounts have ${scale} decimals.`)
      : refuse(
          'ledger_scale',
          `The ledger's amounts do not have ${scale} decimals.`,
          'Set amountScale to what the ledger was made with.',
        ),
  ]
}

export function fine(check: string, message: string): StoreFinding {
  return { check, severity: 'ok', message, cure: null }
}

export function warn(check: string, message: string, cure: string): StoreFinding {
  return { check, severity: 'warn', message, cure }
}

export function refuse(check: string, message: string, cure: string): StoreFinding {
  return { check, severity: 'refuse', message, cure }
}
