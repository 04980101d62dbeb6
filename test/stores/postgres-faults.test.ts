/**
 * PostgreSQL with its connections cut at the worst moments.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { StoreError, type StoreFailure } from '../../src/errors.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import type { Claim } from '../../src/ledger/types.js'
import { openPostgres, postgresStore, type OpenPostgresOptions } from '../../src/stores/postgres/index.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { startCutProxy, type CutProxy } from '../servers/cut-proxy.js'
import { freePort } from '../servers/free-port.js'
import { runSql, startPostgres } from '../servers/postgres.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

/** A started store behind the proxy, with one wallet. */
async function withProxy(
  body: (store: LedgerStore, proxy: CutProxy) => Promise<void>,
  options: OpenPostgresOptions = {},
): Promise<void> {
  const database = new URL(await server.newDatabase())
  const proxy = await startCutProxy({ port: server.port })
  database.port = String(proxy.port)
  const store = await openPostgres(database.href, options)
  try {
    await store.start()
    await store.createWallet('u1')
    await body(store, proxy)
  } finally {
    proxy.set('pass')
    await store.close()
    await proxy.stop()
  }
}

async function failureOf(work: Promise<unknown>): Promise<StoreFailure> {
  const error: unknown = await work.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  )
  if (error instanceof StoreError) return error.failure
  throw error
}

const apply = (store: LedgerStore, claim: Claim): Promise<unknown> =>
  store.applyGroup([makeMember(claim)], { waitMs: null, owns: () => true })

describe('PostgreSQL under faults', () => {
  it('a lost reply to COMMIT is "unknown", and the re-run is no copy', () =>
    withProxy(async (store, proxy) => {
      const claim = makeClaim({ transactionId: 't' })
      proxy.set('drop-reply', { times: 1 })
      expect(await failureOf(apply(store, claim))).toBe('unknown')
      expect(proxy.fired).toBe(1)
      expect(await balanceOf(store, 'u1')).toBe(1_000n)
      expect((await settleOne(store, claim)).outcome).toBe('credited')
      expect(await balanceOf(store, 'u1')).toBe(1_000n)
      expect((await store.readPostback(claim.postbackId))?.outcome).toBe('credited')
    }))

  it('a COMMIT that never arrived is "unknown" too, and the re-run books it', () =>
    withProxy(async (store, proxy) => {
      const claim = makeClaim({ transactionId: 't' })
      proxy.set('drop-commit', { times: 1 })
      expect(await failureOf(apply(store, claim))).toBe('unknown')
      expect(proxy.fired).toBe(1)
      expect((await settleOne(store, claim)).outcome).toBe('credited')
      expect(await balanceOf(store, 'u1')).toBe(1_000n)
    }))

  it('a COMMIT that nobody answers is given up as "unknown"', () =>
    withProxy(
      async (store, proxy) => {
        const claim = makeClaim({ transactionId: 't' })
        proxy.set('hang-reply', { times: 1 })
        expect(await failureOf(apply(store, claim))).toBe('unknown')
        expect(proxy.fired).toBe(1)
        expect((await settleOne(store, claim)).outcome).toBe('credited')
        expect(await balanceOf(store, 'u1')).toBe(1_000n)
      },
      { hangMs: 400 },
    ))

  it('a network that swallows everything fails in bounded time, and heals', () =>
    withProxy(
      async (store, proxy) => {
        proxy.set('black-hole')
        const started = performance.now()
        const failures = await Promise.all(
          Array.from({ length: 8 }, (_, n) => failureOf(apply(store, makeClaim({ transactionId: `t${n}` })))),
        )
        // These connections have not committed anything yet: the statements are prepared first.
        expect(failures.every((failure) => failure === 'retry' || failure === 'away')).toBe(true)
        expect(performance.now() - started).toBeLessThan(3_000)
        expect(proxy.fired).toBeGreaterThan(0)
        proxy.set('pass')
        expect((await settleOne(store, makeClaim({ transactionId: 't0' }))).outcome).toBe('credited')
        expect(await balanceOf(store, 'u1')).toBe(1_000n)
      },
      { hangMs: 400, connectMs: 600 },
    ))

  it('an adjustment whose reply was lost is run again and booked once', () =>
    withProxy(async (store, proxy) => {
      proxy.set('drop-reply', { times: 1 })
      const adjustment = {
        key: 'k',
        user: 'u1',
        amount: 5n,
        reason: 'goodwill',
        actor: 'ada',
        overdraw: false,
      }
      expect((await store.adjust(adjustment)).kind).toBe('booked')
      expect(proxy.fired).toBe(1)
      expect((await store.adjust(adjustment)).kind).toBe('repeated')
      expect(await balanceOf(store, 'u1')).toBe(5n)
    }))

  it('a server that is not there is "away" at once', async () => {
    const store = await openPostgres(`postgres://postgres@127.0.0.1:${await freePort()}/none`)
    const started = performance.now()
    expect(await failureOf(apply(store, makeClaim({ transactionId: 't' })))).toBe('away')
    expect(await failureOf(store.start())).toBe('away')
    expect(performance.now() - started).toBeLessThan(1_500)
    await store.close()
  })

  it('a pool of the app\'s that has no connection to give is "away" after connectMs', async () => {
    const pool = new pg.Pool({ connectionString: await server.newDatabase(), max: 1 })
    const store = postgresStore({ pool, connectMs: 200 })
    await store.start()
    const taken = await pool.connect()
    expect(await failureOf(store.ping())).toBe('away')
    taken.release()
    await store.ping()
    await pool.end()
  })

  it("the app's own type parsers do not reach the ledger", async () => {
    const pool = new pg.Pool({ connectionString: await server.newDatabase() })
    const numeric = pg.types.builtins.NUMERIC
    const parser = pg.types.getTypeParser(numeric, 'text') as (text: string) => unknown
    pg.types.setTypeParser(numeric, parseFloat)
    try {
      const store = postgresStore({ pool })
      await store.start()
      await store.createWallet('u1')
      await store.adjust({
        key: 'k',
        user: 'u1',
        amount: 9_007_199_254_740_993n,
        reason: 'large',
        actor: 'ada',
        overdraw: false,
      })
      expect(await balanceOf(store, 'u1')).toBe(9_007_199_254_740_993n)
    } finally {
      pg.types.setTypeParser(numeric, parser)
      await pool.end()
    }
  })

  it.runIf(server.ours)(
    'a COMMIT cut short before the standby confirmed it is "unknown"',
    async () => {
      const store = await openPostgres(await server.newDatabase())
      await store.start()
      await store.createWallet('u1')
      let claim = makeClaim({ transactionId: 'none' })
      let outcome = 'committed'
      await runSql(server.url, "alter system set synchronous_standby_names = 'nobody'")
      await runSql(server.url, 'select pg_reload_conf()')
      try {
        // Commits wait once the checkpointer has noticed the setting; the first one that waits is cancelled.
        for (let n = 0; outcome === 'committed' && n < 200; n += 1) {
          claim = makeClaim({ transactionId: `t${n}` })
          let open = true
          const run = apply(store, claim).then(
            () => 'committed',
            (error: unknown) => (error instanceof StoreError ? error.failure : String(error)),
          )
          const ended = run.then(() => (open = false))
          while (await Promise.race([ended, sleep(50).then(() => open)])) {
            await runSql(
              server.url,
              "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
            )
          }
          outcome = await run
        }
        expect(outcome).toBe('unknown')
      } finally {
        await runSql(server.url, 'alter system reset synchronous_standby_names')
        await runSql(server.url, 'select pg_reload_conf()')
      }
      expect((await settleOne(store, claim)).outcome).toBe('credited')
      const booked = await store.readTransaction('n', claim.transactionKey)
      expect(booked.map((entry) => entry.entry)).toEqual(['credit'])
      await store.close()
    },
    30_000,
  )

  it.runIf(server.ours)(
    'a killed server keeps what was answered, and the store finds it again',
    async () => {
      const store = await openPostgres(await server.newDatabase())
      await store.start()
      await store.createWallet('u1')
      expect((await settleOne(store, makeClaim({ transactionId: 'a' }))).outcome).toBe('credited')
      const crowd = Array.from({ length: 4 }, (_, n) =>
        failureOf(apply(store, makeClaim({ transactionId: `c${n}` }))).catch(String),
      )
      await server.kill9()
      await Promise.all(crowd)
      expect(['away', 'retry']).toContain(await failureOf(store.ping()))
      await server.restart()
      for (let n = 0; n < 4; n += 1) await settleOne(store, makeClaim({ transactionId: `c${n}` }))
      expect((await settleOne(store, makeClaim({ transactionId: 'a' }))).outcome).toBe('duplicate')
      expect(await balanceOf(store, 'u1')).toBe(5_000n)
      expect((await store.auditChains(null, 10)).items).toEqual([])
      await store.close()
    },
    30_000,
  )
})
