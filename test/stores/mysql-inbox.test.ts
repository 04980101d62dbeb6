/**
 * A long inbox and a long ledger on MariaDB: no look-up and no clean-up reads the whole of them.
 *
 * @module
 */
import mysql from 'mysql2/promise'
import { afterAll, expect, test } from 'vitest'
import type { MysqlConnection } from '../../src/stores/mysql/driver.js'
import { mysqlStore } from '../../src/stores/mysql/store.js'
import { runMysql, startMariadb } from '../servers/mariadb.js'

const server = await startMariadb()

afterAll(async () => {
  await server.stop()
})

const ROWS = 20_001
const FIRST = Date.UTC(2026, 0, 1)

/** Rows that arrived one millisecond after the other, the first of them from an address of its own. */
const POSTBACKS = `insert into paidonce_postbacks (id, network, received_at, method, url, headers, body, ip, outcome,
  verified, test, answer_status, answer_body, milliseconds, open)
select unhex(concat(lpad(hex(${FIRST} + seq), 12, '0'), '70008000000000000000')), 'n',
  timestampadd(microsecond, seq * 1000, '2026-01-01 00:00:00'), 'GET', '', '{}', '',
  if(seq = 0, '192.0.2.1', '192.0.2.2'), if(seq = 9, 'conflict', 'credited'), seq % 3 <> 1, 0, 200, 'OK', 1, seq = 9
from seq_0_to_${ROWS - 1}`

const LEDGER = `insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision,
  test, created_at)
select 'n', concat('t', seq), 'credit', 'n', concat('t', seq), 'u1', 1, 'booked', seq = 7, utc_timestamp(3)
from seq_1_to_${ROWS}`

test('reads along its indexes, and addresses of the newest rows only', async () => {
  const url = await server.newDatabase()
  const pool = mysql.createPool({ uri: url, connectionLimit: 1 })
  const sent: { sql: string; values?: unknown }[] = []
  const store = mysqlStore({
    pool: {
      getConnection: async (): Promise<MysqlConnection> => {
        const connection = await pool.getConnection()
        return {
          query: (options) => {
            sent.push(options)
            return connection.query(options as mysql.QueryOptions)
          },
          release: () => {
            connection.release()
          },
          destroy: () => {
            connection.destroy()
          },
        }
      },
    },
  })
  await store.start()
  await runMysql(url, POSTBACKS)
  await runMysql(url, LEDGER)
  await runMysql(url, 'analyze table paidonce_postbacks, paidonce_ledger')
  /** Which index serves each table of the first statement that reads rows of ours, and how many rows are looked at. */
  const planOf = async (work: () => Promise<unknown>): Promise<{ key: string; rows: number }[]> => {
    sent.length = 0
    await work()
    const asked = sent.find(({ sql }) => /^select[^]*from [^]*`paidonce_/.test(sql)) ?? { sql: '' }
    const [rows] = await pool.query<mysql.RowDataPacket[]>(`explain ${asked.sql}`, asked.values as string[])
    return rows.map((row) => ({ key: String(row['key']), rows: Number(row['rows']) }))
  }
  try {
    const old = { before: new Date(FIRST), limit: 500 }
    for (const verified of [true, false]) {
      const [plan] = await planOf(() => store.prunePostbacks({ ...old, verified }))
      expect(plan?.key).toBe('paidonce_postbacks_verified')
      expect(plan?.rows).toBeLessThan(10)
    }
    const page = { limit: 50, cursor: null }
    const [open] = await planOf(() => store.listPostbacks({ open: true }, page))
    expect(open?.key).toBe('paidonce_postbacks_class')
    expect((await store.listPostbacks({ open: true }, page)).items).toHaveLength(1)
    const found = await planOf(() => store.readTransaction('n', 't9'))
    expect(found.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['paidonce_ledger_other_id', 'paidonce_ledger_key']),
    )
    for (const work of [() => store.listStandingTests(null, 10), () => store.markTestsCleared(null)]) {
      const [plan] = await planOf(work)
      expect(plan?.key).toBe('paidonce_ledger_tests')
      expect(plan?.rows).toBeLessThan(10)
    }

    expect(await store.verifiedAddresses(new Date(0), 10)).toEqual([{ network: 'n', ip: '192.0.2.2' }])
    const count = async (verified: boolean): Promise<number> =>
      store.prunePostbacks({ verified, before: new Date(FIRST + 9), limit: 500 })
    expect([await count(false), await count(true), await count(true)]).toEqual([3, 6, 0])
  } finally {
    await pool.end()
  }
})
