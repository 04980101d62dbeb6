/**
 * PostgreSQL behind pgbouncer in transaction pooling, where every transaction may run on another connection.
 *
 * @module
 */
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { StoreError } from '../../src/errors.js'
import { openPostgres, type OpenPostgresOptions } from '../../src/stores/postgres/index.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { groupSuite } from '../../src/testing/store-suite-group.js'
import { lockSuite } from '../../src/testing/store-suite-locks.js'
import { applyMembers, balanceOf } from '../../src/testing/suite-steps.js'
import { startPgbouncer } from '../servers/pgbouncer.js'
import { startPostgres } from '../servers/postgres.js'
import { openSuiteOn } from './postgres-suite.js'

const server = await startPostgres()
const stops: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const stop of stops) await stop()
  await server.stop()
})

async function throughPooler(database: string, poolSize: number): Promise<string> {
  const name = new URL(database).pathname.slice(1)
  const bouncer = await startPgbouncer({ upstreamPort: server.port, database: name, poolSize })
  stops.push(() => bouncer.stop())
  return bouncer.url
}

describe('PostgreSQL behind a pooler', () => {
  const open = openSuiteOn(server, { pooler: true, route: (database) => throughPooler(database, 4) })
  groupSuite({ describe, it }, open)
  lockSuite({ describe, it }, open)

  it('four clients share two connections: nothing fails and no setting leaks', async () => {
    const address = await throughPooler(await server.newDatabase(), 2)
    await withStores(address, { pooler: true }, async (stores) => {
      await stores[0]?.createWallet('u1')
      const before = await settingsOf(address)
      await Promise.all(
        stores.map(async (store, client) => {
          for (let n = 0; n < 25; n += 1) {
            await applyMembers(store, [makeMember(makeClaim({ transactionId: `${client}-${n}` }))], 5_000)
          }
        }),
      )
      const [store] = stores
      expect(store && (await balanceOf(store, 'u1'))).toBe(100_000n)
      expect(await settingsOf(address)).toEqual(before)
    })
  }, 30_000)

  it('named statements fail there, and the message names the setting', async () => {
    const address = await throughPooler(await server.newDatabase(), 2)
    await withStores(address, { pooler: true }, async ([store]) => {
      await store?.createWallet('u1')
    })
    await withStores(address, { pooler: false }, async (stores) => {
      const runs = await Promise.allSettled(
        stores.flatMap((store, client) =>
          Array.from({ length: 10 }, (_, n) =>
            store.applyGroup([makeMember(makeClaim({ transactionId: `${client}-${n}` }))], {
              waitMs: 5_000,
              owns: () => true,
            }),
          ),
        ),
      )
      const failures = runs.flatMap((run) => (run.status === 'rejected' ? [run.reason as unknown] : []))
      const named = failures.filter(
        (error) => error instanceof StoreError && error.message.includes('Set pooler: true'),
      )
      expect(named.length).toBeGreaterThan(0)
    })
  }, 30_000)
})

async function withStores(
  address: string,
  options: OpenPostgresOptions,
  body: (stores: Awaited<ReturnType<typeof openPostgres>>[]) => Promise<void>,
): Promise<void> {
  const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgres(address, options)))
  try {
    await stores[0]?.start()
    await body(stores)
  } finally {
    for (const store of stores) await store.close()
  }
}

/** What every connection behind the pooler has set: asked often enough, by clients at once, to meet them all. */
async function settingsOf(address: string): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: address, max: 4 })
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      pool.query<{ settings: string }>(
        `select concat_ws(' ', current_setting('lock_timeout'), current_setting('enable_seqscan'),
  current_setting('enable_hashjoin'), current_setting('enable_mergejoin'), current_setting('transaction_isolation'))
  as settings, pg_sleep(0.01)`,
      ),
    ),
  )
  await pool.end()
  return [...new Set(answers.map(({ rows }) => rows[0]?.settings ?? ''))]
}
