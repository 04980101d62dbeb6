/**
 * Fills a migrated Paidonce database on MariaDB.
 *
 * @module
 */
import mysql from 'mysql2/promise'
import type { LoadOptions } from './options.js'
import { selectInbox, selectLedger, selectWallets, WALLETS, type Shape, type Words } from './shape.js'

const WORDS: Words = {
  div: (a, b) => `(${a} div ${b})`,
  concat: (...parts) => `concat(${parts.join(', ')})`,
  hex: (value, digits) => `lpad(lower(hex(${value})), ${digits}, '0')`,
  padded: (value, digits) => `lpad(${value}, ${digits}, '0')`,
  time: (milliseconds) => `date_add('1970-01-01', interval ${milliseconds} * 1000 microsecond)`,
  uuid: (digits) => `unhex(${digits})`,
  bytes: (text) => text,
  flag: (value) => (value ? '1' : '0'),
  coins: (whole) => `(${whole})`,
  fence: 'limit 18446744073709551615',
}

/** Rows of one INSERT: its parts are temporary tables, which have to stay in memory. */
const CHUNK = 100_000

/** Both tables at once, each on a connection of its own; indexes are built afterwards, which is several times faster. */
export async function loadMariadb(url: string, options: LoadOptions): Promise<void> {
  const { rows, inbox = true, newest = Date.now() } = options
  const shape: Shape = { words: WORDS, rows, newest }
  await withConnection(url, async (connection) => {
    await connection.query('delete from paidonce_wallets')
    await connection.query(
      `insert into paidonce_wallets (user_id, balance, created_at)
select f.*, utc_timestamp(3) from (${selectWallets(shape, numbers(1, WALLETS, 'w'))}) f`,
    )
  })
  await Promise.all([
    fill(url, 'paidonce_ledger', rows, (source) => selectLedger(shape, source('l'))),
    ...(inbox ? [fill(url, 'paidonce_postbacks', rows, (source) => selectInbox(shape, source('i')))] : []),
  ])
}

function numbers(from: number, to: number, name: string): string {
  return `(select cast(seq as signed) as ${name} from seq_${from}_to_${to})`
}

async function fill(
  url: string,
  table: string,
  rows: number,
  selectOf: (source: (name: string) => string) => string,
): Promise<void> {
  await withConnection(url, async (connection) => {
    await connection.query(`truncate table ${table}`)
    const keys = await keysOf(connection, table)
    await connection.query(`alter table ${table} ${keys.map(({ name }) => `drop key ${name}`).join(', ')}`)
    for (let from = 1; from <= rows; from += CHUNK) {
      const select = selectOf((name) => numbers(from, Math.min(rows, from + CHUNK - 1), name))
      const [, fields] = await connection.query(`${select} limit 0`)
      const columns = fields.map(({ name }) => name).join(', ')
      await connection.query(`insert into ${table} (${columns}) ${select}`)
    }
    await connection.query(`alter table ${table} ${keys.map(({ sql }) => `add ${sql}`).join(', ')}`)
  })
}

/** The secondary keys of a table, as SHOW CREATE TABLE writes them. */
async function keysOf(
  connection: mysql.Connection,
  table: string,
): Promise<readonly { readonly name: string; readonly sql: string }[]> {
  const [rows] = await connection.query<mysql.RowDataPacket[]>(`show create table ${table}`)
  const text = String(rows[0]?.['Create Table'])
  return Array.from(text.matchAll(/^ *((?:UNIQUE )?KEY (`[^`]+`) .*?),?$/gm), ([, sql = '', name = '']) => ({
    name,
    sql,
  }))
}

async function withConnection(
  url: string,
  work: (connection: mysql.Connection) => Promise<void>,
): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, charset: 'utf8mb4' })
  connection.on('error', () => undefined)
  try {
    await connection.query(
      'set sql_log_bin = 0, unique_checks = 0, tmp_table_size = 536870912, max_heap_table_size = 536870912',
    )
    await work(connection)
  } finally {
    await connection.end()
  }
}
