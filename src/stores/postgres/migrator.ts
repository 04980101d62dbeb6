/**
 * Brings the schema up to date, in one transaction and under a lock that works through poolers too.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import {
  checksumOf,
  pendingMigrations,
  schemaBehind,
  type AppliedMigration,
  type Migration,
} from '../migrate.js'
import { tableNames, type TableNames } from '../table-names.js'
import { POSTGRES_MIGRATIONS } from './migrations.js'
import { need } from './rows.js'
import type { Session } from './session.js'

/** Building an index on a large table takes its time; another receiver's migration is waited for as long. */
const MIGRATION_WAIT_MS = 30 * 60_000

const REFERENCE = tableNames('"')

/** Applies what is missing (`auto`), or refuses to go on without it (`check`). */
export async function migrate(
  session: Session,
  names: TableNames,
  scale: number,
  mode: 'auto' | 'check' | 'off',
): Promise<void> {
  if (mode === 'off') return
  // A look first: a receiver whose account may not create tables starts on a schema that is up to date.
  const pending = await readPending(session, names)
  if (pending.length === 0) return
  if (mode === 'check') throw schemaBehind(pending)
  await session.begin(`begin; set local lock_timeout = ${MIGRATION_WAIT_MS}`, MIGRATION_WAIT_MS)
  await session.runOnce('write', 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `paidonce migrations ${names.table('migrations')}`,
  ])
  for (const text of bookkeeping(names)) await session.runOnce('write', text)
  // Asked again under the lock: another receiver may have been faster.
  for (const migration of await readPending(session, names)) {
    for (const text of statementsOf(migration, names, scale)) await session.runOnce('write', text)
  }
  await session.commit()
}

/** The migrations that the database lacks. */
export async function readPending(session: Session, names: TableNames): Promise<readonly Migration[]> {
  const [known] = await session.runOnce('read', 'select to_regclass($1)::text as found', [
    names.table('migrations'),
  ])
  const applied = known?.['found'] == null ? [] : await readApplied(session, names)
  return pendingMigrations(POSTGRES_MIGRATIONS, applied, REFERENCE)
}

/** What a host's own migration tool has to run, as one text. */
export function migrationScript(migrations: readonly Migration[], names: TableNames, scale: number): string {
  if (migrations.length === 0) return ''
  const parts = migrations.map((migration) =>
    [
      `-- ${migration.number}: ${migration.title}`,
      ...statementsOf(migration, names, scale).map((text) => `${text};`),
    ].join('\n'),
  )
  return `${[...bookkeeping(names).map((text) => `${text};`), ...parts].join('\n')}\n`
}

async function readApplied(session: Session, names: TableNames): Promise<AppliedMigration[]> {
  const rows = await session.runOnce(
    'read',
    `select m.number::text as number, m.checksum from ${names.table('migrations')} m order by m.number`,
  )
  return rows.map((row) => {
    const number = Number(need(row, 'number'))
    if (!Number.isSafeInteger(number))
      throw new StoreError('refused', 'The table of migrations holds no numbers.')
    return { number, checksum: need(row, 'checksum') }
  })
}

function bookkeeping(names: TableNames): string[] {
  const table = `create table if not exists ${names.table('migrations')} (
  number integer primary key,
  checksum text not null,
  applied_at timestamptz(3) not null default clock_timestamp()
)`
  return names.schema === undefined
    ? [table]
    : [`create schema if not exists ${names.quote(names.schema)}`, table]
}

function statementsOf(migration: Migration, names: TableNames, scale: number): string[] {
  return [
    ...migration.statements(names, scale),
    `insert into ${names.table('migrations')} (number, checksum) values (${migration.number}, '${checksumOf(migration, REFERENCE)}')`,
  ]
}
