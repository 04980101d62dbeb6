/**
 * Fills a migrated Paidonce database on SQLite.
 *
 * @module
 */
import BetterSqlite from 'better-sqlite3'
import type { LoadOptions } from './options.js'
import { selectInbox, selectLedger, selectWallets, WALLETS, type Shape, type Words } from './shape.js'

/** What the server's default scale makes of a coin. */
const COIN = 1_000

const WORDS: Words = {
  div: (a, b) => `(${a} / ${b})`,
  concat: (...parts) => `(${parts.join(' || ')})`,
  hex: (value, digits) => `printf('%0${digits}x', ${value})`,
  padded: (value, digits) => `printf('%0${digits}d', ${value})`,
  time: (milliseconds) => milliseconds,
  uuid: (digits) => `uuid_text(${digits})`,
  bytes: (text) => `cast(${text} as blob)`,
  flag: (value) => (value ? '1' : '0'),
  coins: (whole) => `(${whole}) * ${COIN}`,
  fence: 'limit -1',
}

/** Nothing is durable meanwhile, and nobody else may look. Indexes are built afterwards, which is several times faster. */
export async function loadSqlite(url: string, options: LoadOptions): Promise<void> {
  const { rows, inbox = true, newest = Date.now() } = options
  const shape: Shape = { words: WORDS, rows, newest }
  const numbers = (to: number, name: string): string =>
    `(with recursive n (n) as (select 1 union all select n + 1 from n where n < ${to}) select n as ${name} from n)`
  const database = new BetterSqlite(url.replace(/^sqlite:/, ''))
  try {
    database.pragma('locking_mode = exclusive')
    database.pragma('journal_mode = off')
    database.pragma('synchronous = off')
    database.pragma('cache_size = -1500000')
    database.pragma('temp_store = memory')
    database.function('uuid_text', { deterministic: true }, (digits) => uuidText(String(digits)))
    fill(database, 'paidonce_wallets', selectWallets(shape, numbers(WALLETS, 'w')))
    fill(database, 'paidonce_ledger', selectLedger(shape, numbers(rows, 'l')))
    if (inbox) fill(database, 'paidonce_postbacks', selectInbox(shape, numbers(rows, 'i')))
    database.pragma('journal_mode = wal')
  } finally {
    database.close()
  }
}

function fill(database: BetterSqlite.Database, table: string, select: string): void {
  const indexes = database
    .prepare('select name, sql from sqlite_schema where type = ? and tbl_name = ? and sql is not null')
    .all('index', table) as { readonly name: string; readonly sql: string }[]
  for (const { name } of indexes) database.exec(`drop index "${name}"`)
  database.exec(`delete from ${table}`)
  const columns = database
    .prepare(`${select} limit 0`)
    .columns()
    .map(({ name }) => name)
  database.exec(`insert into ${table} (${columns.join(', ')}) ${select}`)
  for (const { sql } of indexes) database.exec(sql)
}

function uuidText(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}
