/**
 * Applies the schema under a named lock on one connection. DDL commits by itself on MySQL: a run that was cut short is
 * simply run again, because every statement can be.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { PaidonceError } from '../../errors.js'
import {
  checksumOf,
  pendingMigrations,
  schemaBehind,
  type AppliedMigration,
  type Migration,
} from '../migrate.js'
import { tableNames, type TableNames } from '../table-names.js'
import { isDoneBefore } from './errors.js'
import { MYSQL_MIGRATIONS } from './migrations.js'
import { text } from './rows.js'
import type { Session } from './session.js'

const REFERENCE = tableNames('`')
const LOCK_SECONDS = 60

/** Brings the schema up to date, or tells that it is not. */
export async function migrate(
  session: Session,
  names: TableNames,
  scale: number,
  mode: 'auto' | 'check' | 'off',
): Promise<void> {
  if (mode === 'off') return
  if (mode === 'check') {
    const pending = await readPending(session, names)
    if (pending.length > 0) throw schemaBehind(pending)
    return
  }
  const lock = await lockName(session, names)
  const [row] = await session.read({
    sql: `select get_lock('${lock}', ${LOCK_SECONDS}) as got`,
    values: [],
  })
  if (Number(row?.['got']) !== 1) {
    throw new PaidonceError(
      'database_refused',
      `Another process has migrated the schema for ${LOCK_SECONDS} s.`,
      {
        hint: 'Wait until it is done and start again.',
      },
    )
  }
  try {
    await session.write({ sql: createTable(names), values: [] })
    for (const migration of await readPending(session, names)) {
      for (const sql of migration.statements(names, scale)) await apply(session, sql)
      await session.write({ sql: recordOf(names, migration), values: [] })
    }
  } finally {
    if (!session.isDestroyed) await session.read({ sql: `select release_lock('${lock}')`, values: [] })
  }
}

/** A run that was cut short has left some statements done and none recorded. */
async function apply(session: Session, sql: string): Promise<void> {
  try {
    await session.write({ sql, values: [] })
  } catch (error) {
    if (!isDoneBefore(error)) throw error
  }
}

/** The SQL of the schema, for the publisher's own migration tool. */
export async function migrationSql(
  session: Session | null,
  names: TableNames,
  scale: number,
): Promise<string> {
  const migrations = session === null ? MYSQL_MIGRATIONS : await readPending(session, names)
  if (migrations.length === 0) return ''
  const statements = migrations.flatMap((migration) => [
    ...migration.statements(names, scale),
    recordOf(names, migration),
  ])
  return [createTable(names), ...statements].map((sql) => `${sql};\n`).join('\n')
}

/** Migrations that the database lacks. */
export async function readPending(session: Session, names: TableNames): Promise<readonly Migration[]> {
  return pendingMigrations(MYSQL_MIGRATIONS, await readApplied(session, names), REFERENCE)
}

async function readApplied(session: Session, names: TableNames): Promise<AppliedMigration[]> {
  const [found] = await session.read({
    sql: `select count(*) as tables from information_schema.tables
where table_schema = coalesce(${names.schema === undefined ? 'null' : '_utf8mb4 ?'}, database()) and table_name = _utf8mb4 ?`,
    values: [
      ...(names.schema === undefined ? [] : [Buffer.from(names.schema)]),
      Buffer.from(`${names.prefix}migrations`),
    ],
  })
  if (Number(found?.['tables']) === 0) return []
  const rows = await session.read({
    sql: `select number, checksum from ${names.table('migrations')} order by number`,
    values: [],
  })
  return rows.map((row) => ({ number: Number(row['number']), checksum: text(row['checksum']) }))
}

function createTable(names: TableNames): string {
  return `create table if not exists ${names.table('migrations')} (
  number int not null,
  title varchar(255) character set utf8mb4 not null,
  checksum char(64) character set ascii collate ascii_bin not null,
  applied_at datetime(3) not null,
  primary key (number)
) engine = InnoDB row_format = dynamic default character set = utf8mb4`
}

function recordOf(names: TableNames, migration: Migration): string {
  const title = migration.title.replaceAll(`'`, `''`)
  return `insert into ${names.table('migrations')} (number, title, checksum, applied_at)
values (${migration.number}, '${title}', '${checksumOf(migration, REFERENCE)}', utc_timestamp(3))
on duplicate key update number = number`
}

/** Named locks belong to the whole server and hold 64 characters, hence the hash of database and prefix. */
async function lockName(session: Session, names: TableNames): Promise<string> {
  const [row] = await session.read({ sql: 'select database() as name', values: [] })
  const database = names.schema ?? text(row?.['name'] ?? '')
  return `paidonce:${createHash('sha256').update(`${database}\u0000${names.prefix}`).digest('hex').slice(0, 40)}`
}
