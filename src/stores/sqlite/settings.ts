/**
 * Settings that the database itself keeps.
 *
 * @module
 */
import type { SqliteContext } from './context.js'
import { readText, text } from './rows.js'
import { PATIENT, writeTransaction } from './transaction.js'

/** Resolves to the value that stands, ours or the one from before. */
export function claimSetting(context: SqliteContext, name: string, value: string): Promise<string> {
  const { connection, names } = context
  return writeTransaction(connection, PATIENT, () => {
    connection
      .prepare(
        `insert into ${names.table('settings')} (name, value) values (?, ?) on conflict (name) do nothing`,
      )
      .run(text(name), text(value))
    return readText(connection.prepare(selectSetting(context)).get(name) ?? {}, 'value')
  })
}

export async function readSetting(context: SqliteContext, name: string): Promise<string | null> {
  const [row] = await context.reader.all(selectSetting(context), [text(name)])
  return row === undefined ? null : readText(row, 'value')
}

export function replaceSetting(
  { connection, names }: SqliteContext,
  name: string,
  value: string,
): Promise<void> {
  return writeTransaction(connection, PATIENT, () => {
    connection
      .prepare(
        `insert into ${names.table('settings')} (name, value) values (?, ?)
on conflict (name) do update set value = excluded.value`,
      )
      .run(text(name), text(value))
  })
}

function selectSetting({ names }: SqliteContext): string {
  return `select value from ${names.table('settings')} where name = ?`
}
