/**
 * Reads and prepares rows past the product, through the plain drivers.
 *
 * @module
 */
import BetterSqlite from 'better-sqlite3'
import mysql from 'mysql2/promise'
import pg from 'pg'

export type Row = Readonly<Record<string, string | null>>

export interface Rows {
  /** Every value comes as text. */
  query(sql: string): Promise<Row[]>
  close(): Promise<void>
}

export async function openRows(url: string): Promise<Rows> {
  if (url.startsWith('sqlite:')) return openSqliteRows(url.slice('sqlite:'.length))
  return url.startsWith('postgres') ? openPostgresRows(url) : openMysqlRows(url)
}

function openSqliteRows(file: string): Rows {
  const database = new BetterSqlite(file, { timeout: 5_000 }).defaultSafeIntegers(true)
  return {
    query: async (sql) => {
      const statement = database.prepare(sql)
      if (statement.reader) return inText(statement.all())
      statement.run()
      return []
    },
    close: async () => void database.close(),
  }
}

async function openPostgresRows(url: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return { query: async (sql) => inText((await client.query(sql)).rows), close: () => client.end() }
}

async function openMysqlRows(url: string): Promise<Rows> {
  const connection = await mysql.createConnection({ uri: url, charset: 'utf8mb4' })
  connection.on('error', () => undefined)
  return {
    query: async (sql) => {
      const [rows] = await connection.query(sql)
      return Array.isArray(rows) ? inText(rows) : []
    },
    close: () => connection.end(),
  }
}

function inText(rows: readonly unknown[]): Row[] {
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row as object).map(([name, value]) => [name, textOf(value)])),
  )
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value)) return value.toString('utf8')
  return typeof value === 'string' ? value : (value as number | bigint).toString()
}
