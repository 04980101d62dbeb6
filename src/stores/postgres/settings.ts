/**
 * What the database remembers about this ledger as a whole.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { TableNames } from '../table-names.js'
import type { Session } from './session.js'

/** Writes a setting unless it exists; resolves to the one that stands. */
export async function claimSetting(
  session: Session,
  names: TableNames,
  name: string,
  value: string,
): Promise<string> {
  await session.runOnce(
    'single',
    `insert into ${names.table('settings')} (name, value) values ($1, $2) on conflict (name) do nothing`,
    [name, value],
  )
  const standing = await readSetting(session, names, name)
  if (standing === null) throw new StoreError('retry', `The setting ${name} was deleted meanwhile.`)
  return standing
}

export async function readSetting(session: Session, names: TableNames, name: string): Promise<string | null> {
  const [row] = await session.runOnce(
    'read',
    `select s.value from ${names.table('settings')} s where s.name = $1`,
    [name],
  )
  return row?.['value'] ?? null
}

export async function replaceSetting(
  session: Session,
  names: TableNames,
  name: string,
  value: string,
): Promise<void> {
  await session.runOnce(
    'single',
    `insert into ${names.table('settings')} (name, value) values ($1, $2)
on conflict (name) do update set value = excluded.value`,
    [name, value],
  )
}
