/**
 * A long inbox and a long ledger in an SQLite file: no look-up and no clean-up reads the whole of them.
 *
 * @module
 */
import { expect, it } from 'vitest'
import { firstIdAt } from '../../src/stores/inbox-bounds.js'
import { openFileStore } from './sqlite-files.js'

const ROWS = 20_001
const FIRST = Date.UTC(2026, 0, 1)

/** Rows that arrived one millisecond after the other, the first of them from an address of its own. */
const POSTBACKS = `with recursive n (n) as (select 0 union all select n + 1 from n where n < ${ROWS - 1})
insert into paidonce_postbacks (id, network, received_at, method, url, headers, body, ip, outcome, verified, test,
  answer_status, answer_body, milliseconds, open)
select substr(t, 1, 8) || '-' || substr(t, 9) || '-7000-8000-000000000000', 'n', ${FIRST} + n, 'GET', x'', '{}', x'',
  iif(n = 0, '192.0.2.1', '192.0.2.2'), 'credited', n % 3 <> 1, 0, 200, 'OK', 1, 0
from (select n, printf('%012x', ${FIRST} + n) as t from n)`

it('reads along its indexes, and addresses of the newest rows only', async () => {
  const { store, raw, close } = await openFileStore()
  const planOf = (sql: string): string =>
    raw
      .prepare(`explain query plan ${sql}`)
      .all()
      .map((row) => String(row['detail']))
      .join('\n')
  try {
    raw.prepare(POSTBACKS).run()
    expect(await store.verifiedAddresses(new Date(0), 10)).toEqual([{ network: 'n', ip: '192.0.2.2' }])
    const count = async (verified: boolean): Promise<number> =>
      store.prunePostbacks({ verified, before: new Date(FIRST + 9), limit: 500 })
    expect([await count(false), await count(true), await count(true)]).toEqual([3, 6, 0])

    const end = firstIdAt(new Date(FIRST))
    expect(
      planOf(`select id from paidonce_postbacks where verified = 0 and id < '${end}' order by id limit 5`),
    ).toMatch(/SEARCH .*paidonce_postbacks_rejected \(id<\?\)/)
    expect(
      planOf(`select id from paidonce_postbacks where verified = 1 and id < '${end}' order by id limit 5`),
    ).toMatch(/SEARCH .*sqlite_autoindex_paidonce_postbacks_1 \(id<\?\)/)
    expect(
      planOf('select id from paidonce_ledger where test = 1 and cleared = 0 order by id limit 5'),
    ).toContain('paidonce_ledger_tests')
    const other = `id_space = 'n' and transaction_id = 't' and transaction_id <> transaction_key`
    expect(
      planOf(`select id from paidonce_ledger indexed by paidonce_ledger_other_id where ${other}`),
    ).toContain('paidonce_ledger_other_id (transaction_id=? AND id_space=?)')
  } finally {
    await close()
  }
})

it('gives every moment the smallest id that a row of it can have', () => {
  expect(firstIdAt(new Date(0x0189_0000_0001))).toBe('01890000-0001-7000-8000-000000000000')
  expect(firstIdAt(new Date(-1))).toBe('00000000-0000-7000-8000-000000000000')
  expect(firstIdAt(new Date(8.64e15))).toBe('ffffffff-ffff-7000-8000-000000000000')
})
