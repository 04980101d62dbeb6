/**
 * What the promise rests on in the server and in our tables. Settings: PostgreSQL manual, sections 20.5 "Write Ahead
 * Log" and 27.4 "Hot Standby".
 *
 * @module
 */
import type { StoreFinding } from '../../ledger/store.js'
import type { TableNames } from '../table-names.js'
import type { TextRow } from './driver.js'
import { maybe, need } from './rows.js'
import type { Session } from './session.js'

const OLDEST_VERSION = 140_000

/** Checks the server itself; the schema need not exist yet. */
export async function verifyServer(session: Session): Promise<StoreFinding[]> {
  const [row = {}] = await session.runOnce(
    'read',
    `select current_setting('server_version_num') as version_number, current_setting('server_version') as version,
  pg_is_in_recovery()::text as recovery, current_setting('transaction_read_only') as read_only,
  current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
  current_setting('full_page_writes') as full_page_writes, current_setting('synchronous_commit') as synchronous_commit,
  current_setting('synchronous_standby_names') as standbys, quote_ident(current_database()) as database`,
  )
  return judgeServer(row)
}

/** The verdict on the server's settings. */
export function judgeServer(row: TextRow): StoreFinding[] {
  const version = need(row, 'version')
  const database = need(row, 'database')
  const encoding = need(row, 'encoding')
  const commit = need(row, 'synchronous_commit')
  const hasStandbys = need(row, 'standbys') !== ''
  return [
    Number(need(row, 'version_number')) >= OLDEST_VERSION
      ? fine('version', `PostgreSQL ${version}.`)
      : refuse(
          'version',
          `PostgreSQL ${version} is older than 14.`,
          'Upgrade the server to PostgreSQL 14 or newer.',
        ),
    need(row, 'recovery') === 'true'
      ? refuse(
          'primary',
          'This server is a standby.',
          'Connect to the primary (target_session_attrs=read-write).',
        )
      : need(row, 'read_only') === 'on'
        ? refuse(
            'primary',
            'Transactions are read-only here.',
            `alter database ${database} reset default_transaction_read_only`,
          )
        : fine('primary', 'The server is a primary and can be written to.'),
    encoding === 'UTF8'
      ? fine('encoding', 'The database is encoded in UTF8.')
      : refuse(
          'encoding',
          `The database is encoded in ${encoding}, which cannot hold every id.`,
          "Create the database with: create database … encoding 'UTF8' template template0",
        ),
    mustBeOn(row, 'fsync', 'a power failure can destroy the whole database'),
    mustBeOn(row, 'full_page_writes', 'a power failure can leave torn pages'),
    commit === 'off'
      ? refuse(
          'synchronous_commit',
          'synchronous_commit is off: a crash can lose credits that were answered 200.',
          `alter database ${database} set synchronous_commit = on`,
        )
      : hasStandbys && (commit === 'local' || commit === 'remote_write')
        ? warn(
            'synchronous_commit',
            `synchronous_commit is ${commit}: a failover can lose credits that were answered 200.`,
            `alter database ${database} set synchronous_commit = on`,
          )
        : fine('synchronous_commit', `synchronous_commit is ${commit}.`),
  ]
}

function mustBeOn(row: TextRow, setting: string, danger: string): StoreFinding {
  return need(row, setting) === 'on'
    ? fine(setting, `${setting} is on.`)
    : refuse(
        setting,
        `${setting} is off: ${danger}.`,
        `alter system set ${setting} = on; select pg_reload_conf()`,
      )
}

const KEY_COLUMNS = ['id_space', 'transaction_key', 'entry', 'user_id'] as const

/** Checks our own tables: key columns that compare byte for byte, and a unique key that is valid. */
export async function verifyTables(
  session: Session,
  names: TableNames,
  ownWallets: boolean,
): Promise<StoreFinding[]> {
  const ledger = names.table('ledger')
  const columns = await session.runOnce(
    'read',
    `select c.oid::regclass::text as relation, c.relpersistence::text as persistence, a.attname::text as name, a.attnotnull::text as required, o.collname::text as collation
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = any($3::text[]) and not a.attisdropped
left join pg_collation o on o.oid = a.attcollation
where c.oid = to_regclass($1) or (c.oid = to_regclass($2) and a.attname = 'user_id')`,
    [ledger, ownWallets ? names.table('wallets') : ledger, [...KEY_COLUMNS]],
  )
  if (columns.length < KEY_COLUMNS.length) {
    return [
      refuse('schema', `The table ${ledger} does not exist, or lacks columns.`, 'Run "paidonce migrate".'),
    ]
  }
  const [key] = await session.runOnce(
    'read',
    `select i.indexrelid::regclass::text as name, i.indisvalid::text as valid from pg_index i
where i.indrelid = to_regclass($1) and i.indisunique and i.indimmediate and i.indpred is null and i.indexprs is null
  and i.indnkeyatts = 3 and (
    select array_agg(a.attname::text order by a.attname::text) from pg_attribute a
    where a.attrelid = i.indrelid and a.attnum = any(i.indkey::int2[])
  ) = array['entry', 'id_space', 'transaction_key']
order by i.indisvalid desc limit 1`,
    [ledger],
  )
  return [judgeColumns(columns), judgeLogging(columns), judgeKey(key, ledger)]
}

function judgeColumns(columns: readonly TextRow[]): StoreFinding {
  const bad = columns.find((row) => maybe(row, 'collation') !== 'C' || need(row, 'required') !== 'true')
  if (bad === undefined) return fine('key_collation', 'Key columns compare byte for byte.')
  const column = need(bad, 'name')
  const relation = need(bad, 'relation')
  return refuse(
    'key_collation',
    `Column ${column} of ${relation} has the collation ${String(maybe(bad, 'collation'))} or may be NULL: ids would not compare byte for byte.`,
    `alter table ${relation} alter column ${column} type text collate "C", alter column ${column} set not null`,
  )
}

function judgeLogging(columns: readonly TextRow[]): StoreFinding {
  const bad = columns.find((row) => need(row, 'persistence') !== 'p')
  if (bad === undefined) return fine('logged', 'The tables are logged.')
  const relation = need(bad, 'relation')
  return refuse(
    'logged',
    `${relation} is unlogged: a crash empties it.`,
    `alter table ${relation} set logged`,
  )
}

function judgeKey(key: TextRow | undefined, ledger: string): StoreFinding {
  const create = `alter table ${ledger} add unique (id_space, transaction_key, entry)`
  if (key === undefined) {
    return refuse('unique_key', `${ledger} has no unique key on (id_space, transaction_key, entry).`, create)
  }
  const name = need(key, 'name')
  return need(key, 'valid') === 'true'
    ? fine('unique_key', `The unique key ${name} is valid.`)
    : refuse(
        'unique_key',
        `The unique key ${name} is invalid: it was built and failed, and does not hold.`,
        `drop index ${name}; ${create}`,
      )
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
