/**
 * Named settings that belong to the ledger itself.
 *
 * @module
 */
import type { TableNames } from '../table-names.js'
import { bytes, text } from './rows.js'
import type { Session } from './session.js'

/** Writes a setting unless it exists; resolves to the one that stands. */
export async function claimSetting(
  session: Session,
  names: TableNames,
  name: string,
  value: string,
): Promise<string> {
  await session.write({
    sql: `insert into ${names.table('settings')} (name, value) values (?, ?) on duplicate key update name = name`,
    values: [bytes(name), bytes(value)],
  })
  return (await readSetting(session, names, name)) ?? value
}

export async function readSetting(session: Session, names: TableNames, name: string): Promise<string | null> {
  const [row] = await session.read({
    sql: `select value from ${names.table('settings')} where name = ?`,
    values: [bytes(name)],
  })
  return row === undefined ? null : text(row['value'])
}

export async function replaceSetting(
  session: Session,
  names: TableNames,
  name: string,
  value: string,
): Promise<void> {
  await session.write({
    sql: `insert into ${names.table('settings')} (name, value) values (?, ?)
on duplicate key update value = values(value)`,
    values: [bytes(name), bytes(value)],
  })
}
