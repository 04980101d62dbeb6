/**
 * Brings the schema up to date, everything in one transaction.
 *
 * @module
 */
import type { LedgerStore } from '../../ledger/store.js'
import {
  checksumOf,
  pendingMigrations,
  schemaBehind,
  type AppliedMigration,
  type Migration,
} from '../migrate.js'
import { tableNames } from '../table-names.js'
import type { SqliteContext } from './context.js'
import { NOW, SQLITE_MIGRATIONS } from './migrations.js'
import { readInteger, readText } from './rows.js'
import { writeTransaction } from './transaction.js'

/** Two receivers that start together wait for each other. */
const WAITING = { milliseconds: 30_000, whenBusy: 'retry' } as const

const REFERENCE = tableNames('"')

/** @throws PaidonceError `schema_behind`, `schema_changed` */
export async function migrate(context: SqliteContext): Promise<void> {
  if (context.migrate === 'off') return
  const pending = readPending(context)
  if (pending.length === 0) return
  if (context.migrate === 'check') throw schemaBehind(pending)
  await writeTransaction(context.connection, WAITING, () => {
    // Read again under the lock: another process may have migrated meanwhile.
    for (const statement of statementsOf(context, readPending(context))) context.connection.exec(statement)
  })
}

/** @throws PaidonceError `schema_changed` */
export function readPending(context: SqliteContext): readonly Migration[] {
  return pendingMigrations(SQLITE_MIGRATIONS, readApplied(context), REFERENCE)
}

/** The SQL of what is pending, or of everything; it records itself, so that `migrate: "check"` passes after it. */
export function migrationSql(
  context: SqliteContext,
  which: Parameters<LedgerStore['migrationSql']>[0],
): string {
  const migrations = which === 'all' ? SQLITE_MIGRATIONS : readPending(context)
  if (migrations.length === 0) return ''
  return ['begin immediate', ...statementsOf(context, migrations), 'commit', ''].join(';\n')
}

function readApplied({ connection, names }: SqliteContext): AppliedMigration[] {
  const exists = connection
    .prepare("select 1 from sqlite_schema where type = 'table' and name = ? collate nocase")
    .get(`${names.prefix}migrations`)
  if (exists === undefined) return []
  return connection
    .prepare(`select number, checksum from ${names.table('migrations')} order by number`)
    .all()
    .map((row) => ({ number: Number(readInteger(row, 'number')), checksum: readText(row, 'checksum') }))
}

function statementsOf({ names, amountScale }: SqliteContext, migrations: readonly Migration[]): string[] {
  const table = names.table('migrations')
  return [
    `create table if not exists ${table} (
  number integer primary key,
  checksum text not null,
  title text not null,
  applied_at integer not null default ${NOW}
) strict`,
    ...migrations.flatMap((migration) => [
      ...migration.statements(names, amountScale),
      `insert into ${table} (number, checksum, title) values (${migration.number}, ` +
        `'${checksumOf(migration, REFERENCE)}', '${migration.title.replaceAll("'", "''")}')`,
    ]),
  ]
}
