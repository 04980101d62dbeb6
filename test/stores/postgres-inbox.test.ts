/**
 * A long inbox and a long ledger on PostgreSQL: no look-up and no clean-up reads the whole of them.
 *
 * @module
 */
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { groupStatements } from '../../src/stores/postgres/group-statements.js'
import { openPostgres, postgresStore } from '../../src/stores/postgres/index.js'
import type { PgQuery } from '../../src/stores/postgres/driver.js'
import { walletSql } from '../../src/stores/postgres/wallet-table.js'
import { tableNames } from '../../src/stores/table-names.js'
import { runSql, startPostgres } from '../servers/postgres.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

it('the named look-up of a group that was planned on an empty ledger serves a long one', async () => {
  const database = await server.newDatabase()
  const store = await openPostgres(database)
  const admin = new pg.Client({ connectionString: database })
  try {
    await store.start()
    await admin.connect()
    const names = tableNames('"')
    const wallets = walletSql(
      {
        table: names.table('wallets'),
        id: 'user_id',
        balance: 'balance',
        idType: 'text',
        castType: 'text',
        bytewise: true,
      },
      3,
    )
    await admin.query('set plan_cache_mode = force_generic_plan')
    await admin.query(`prepare look_up as ${groupStatements(names, wallets, 3, false).read.text}`)
    const { rows } = await admin.query<Record<string, string>>(
      `explain execute look_up (array['n'], array['t'])`,
    )
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      /paidonce_ledger_key[^]*Index Cond: .*id_space = .*transaction_key = /,
    )
  } finally {
    await admin.end()
    await store.close()
  }
})

const ROWS = 20_001
const FIRST = Date.UTC(2026, 0, 1)

/** Rows that arrived one millisecond after the other, the first of them from an address of its own. */
const FILL = `insert into paidonce_postbacks (id, network, received_at, method, url, headers, body, ip, outcome, verified, test,
  answer_status, answer_body, milliseconds, open)
select (lpad(to_hex(${FIRST} + n), 12, '0') || '70008000000000000000')::uuid, 'n', to_timestamp((${FIRST} + n) / 1000.0),
  'GET', '', '{}', '', case n when 0 then '192.0.2.1' else '192.0.2.2' end, 'credited', n % 3 <> 1, false, 200, 'OK', 1, false
from generate_series(0, ${ROWS - 1}) as n;
insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision, test)
select 'n', 't' || n, 'credit', 'n', 't' || n, 'u1', 1, 'booked', n = 7 from generate_series(1, ${ROWS}) as n;
analyze`

it('reads along its indexes, and addresses of the newest rows only', async () => {
  const database = await server.newDatabase()
  const pool = new pg.Pool({ connectionString: database })
  const sent: PgQuery[] = []
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (query: PgQuery) => Promise<unknown>
    Object.assign(client, {
      query: (asked: PgQuery) => {
        sent.push(asked)
        return query(asked)
      },
    })
  })
  const store = postgresStore({ pool })
  await store.start()
  await runSql(database, FILL)
  const admin = new pg.Client({ connectionString: database })
  await admin.connect()
  const planOf = async (work: () => Promise<unknown>): Promise<string> => {
    sent.length = 0
    await work()
    const [{ text, values = [] } = { text: '' }] = sent
    const { rows } = await admin.query<Record<string, string>>(`explain ${text}`, values)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  try {
    const old = { before: new Date(FIRST), limit: 500 }
    const verified = await planOf(() => store.prunePostbacks({ ...old, verified: true }))
    expect(verified).toContain('paidonce_postbacks_pkey')
    expect(verified).toMatch(/Index Cond: \(id < /)
    const rejected = await planOf(() => store.prunePostbacks({ ...old, verified: false }))
    expect(rejected).toMatch(/paidonce_postbacks_rejected|paidonce_postbacks_pkey/)
    expect(rejected).toMatch(/Index Cond: \(id < /)
    const found = await planOf(() => store.readTransaction('n', 't9'))
    expect(found).toContain('paidonce_ledger_other_id')
    expect(found).toContain('paidonce_ledger_key')
    expect(await planOf(() => store.listStandingTests(null, 10))).toContain('paidonce_ledger_tests')
    const marked = await planOf(() => store.markTestsCleared(null))
    expect(marked).toContain('paidonce_ledger_tests')
    for (const plan of [verified, rejected, found, marked]) expect(plan).not.toContain('Seq Scan')

    expect(await store.verifiedAddresses(new Date(0), 10)).toEqual([{ network: 'n', ip: '192.0.2.2' }])
    const count = async (isVerified: boolean): Promise<number> =>
      store.prunePostbacks({ verified: isVerified, before: new Date(FIRST + 9), limit: 500 })
    expect([await count(false), await count(true), await count(true)]).toEqual([3, 6, 0])
  } finally {
    await admin.end()
    await pool.end()
  }
})
