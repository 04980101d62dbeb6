/**
 * Migrations: numbered, checksummed, append-only, their SQL inlined so that a bundler cannot lose a file. Each store
 * applies them under its own lock; this file decides what is to be applied.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { PaidonceError } from '../errors.js'
import type { TableNames } from './table-names.js'

/** One step of the schema. Its text is history: it is never edited once released. */
export interface Migration {
  readonly number: number
  readonly title: string
  readonly statements: (names: TableNames, amountScale: number) => readonly string[]
}

export interface AppliedMigration {
  readonly number: number
  readonly checksum: string
}

/** A fingerprint of a migration's text under reference names, so that prefix and scale do not change it. */
export function checksumOf(migration: Migration, reference: TableNames): string {
  const text = migration.statements(reference, 3).join(';\n')
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Tells which migrations are to be applied.
 *
 * @throws PaidonceError `schema_changed` where an applied migration's text differs from ours, or where the database
 * was migrated by a newer version.
 */
export function pendingMigrations(
  all: readonly Migration[],
  applied: readonly AppliedMigration[],
  reference: TableNames,
): readonly Migration[] {
  for (const { number, checksum } of applied) {
    const known = all.find((migration) => migration.number === number)
    if (known === undefined) {
      throw new PaidonceError(
        'schema_changed',
        `The database has migration ${number}, which this version of Paidonce does not know.`,
        { hint: 'It was migrated by a newer version: start that version, or a newer one.' },
      )
    }
    if (checksumOf(known, reference) !== checksum) {
      throw new PaidonceError(
        'schema_changed',
        `Migration ${number} ("${known.title}") was applied with another text than this version has.`,
        {
          hint: 'Start the version that created this schema, or compare the schema by hand with "paidonce generate".',
        },
      )
    }
  }
  const done = new Set(applied.map((migration) => migration.number))
  return all.filter((migration) => !done.has(migration.number))
}

/** The refusal of `migrate: "check"` where the schema is not up to date. */
export function schemaBehind(pending: readonly Migration[]): PaidonceError {
  const list = pending.map(({ number, title }) => `${number} (${title})`).join(', ')
  return new PaidonceError('schema_behind', `The schema lacks the migrations ${list}.`, {
    hint: 'Run "paidonce migrate", or apply the output of "paidonce generate" with your own migration tool.',
  })
}
