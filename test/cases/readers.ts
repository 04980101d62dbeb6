/**
 * A large ledger, and readers that never rest.
 *
 * @module
 */
import { expect } from 'vitest'
import type { Bench } from './bench.js'

const USERS = 100

/** Writes `count` entries of earlier days, spread over a hundred users whose balances fit. */
export async function seedEntries(bench: Bench, count: number): Promise<void> {
  const now: Readonly<Record<string, string>> = { mysql: 'utc_timestamp(3)', postgres: 'now()', sqlite: '0' }
  const coin = bench.name === 'sqlite' ? '1000' : '1'
  const digits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `select ${digit} as d`).join(' union all ')
  const columns = `id_space, transaction_key, entry, network, transaction_id, user_id, amount, balance_after, decision,
    received_amount, unit, created_at`
  await bench.query(`insert into paidonce_ledger (${columns})
select 'raw', concat('old-', n), 'credit', 'raw', concat('old-', n), concat('old-', n % ${USERS}), ${coin},
  (floor(n / ${USERS}) + 1) * ${coin}, 'booked', '1', 'coins', ${now[bench.name] ?? ''}
from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n
  from (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) e, (${digits}) f, (${digits}) g) numbers
where n < ${count} order by n`)
  await bench.query(`insert into paidonce_wallets (user_id, balance, created_at)
select user_id, sum(amount), ${now[bench.name] ?? ''} from paidonce_ledger group by user_id`)
}

const LISTS = [
  '/postbacks?limit=500',
  '/postbacks?q=zz',
  '/postbacks?outcome=conflict&open=true',
  '/wallets/old-7/entries?limit=500',
  '/wallets?limit=500',
]

export interface Readers {
  /** Resolves to how often each of them read, once the last reading is done. */
  stop(): Promise<{ readonly lists: number; readonly audits: number }>
}

/** Lists and audits without a pause until they are stopped; every reading must succeed and find nothing wrong. */
export function runReaders(bench: Bench): Readers {
  let stopped = false
  const repeat = async (read: () => Promise<void>): Promise<number> => {
    let count = 0
    while (!stopped) {
      await read()
      count += 1
    }
    return count
  }
  const lists = repeat(async () => {
    for (const path of LISTS) {
      expect((await bench.api('GET', path)).status).toBe(200)
    }
  })
  const audits = repeat(async () => {
    expect((await bench.api('POST', '/audit')).status).toBe(202)
    let audit = await bench.api('GET', '/audit')
    while (audit.json.state === 'running') {
      await new Promise((resolve) => setTimeout(resolve, 20))
      audit = await bench.api('GET', '/audit')
    }
    expect(audit.json.findings).toEqual([])
  })
  return {
    stop: async () => {
      stopped = true
      return { lists: await lists, audits: await audits }
    },
  }
}
