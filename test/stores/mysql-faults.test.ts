/**
 * What the MySQL store does when the database, the network or another session fails it.
 *
 * @module
 */
import mysql from 'mysql2/promise'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { mysqlStore, openMysql } from '../../src/stores/mysql/store.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { applyMembers, balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { startCutProxy, type CutProxy } from '../servers/cut-proxy.js'
import { runMysql, startMariadb } from '../servers/mariadb.js'
import { connectTo, insertCredit, USERS } from './mysql-suite.js'

const server = await startMariadb({ settings: { sql_mode: '' } })
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

afterAll(async () => {
  await server.stop()
})

async function openOn(url: string): Promise<LedgerStore> {
  const store = await openMysql(url)
  closing.push(() => store.close())
  await store.start()
  return store
}

async function openThroughProxy(): Promise<{ store: LedgerStore; proxy: CutProxy; url: string }> {
  const url = await server.newDatabase()
  const proxy = await startCutProxy({ port: server.port })
  closing.push(() => proxy.stop())
  const store = await openOn(url.replace(`:${server.port}/`, `:${proxy.port}/`))
  await store.createWallet('u1')
  return { store, proxy, url }
}

/** The failure of a group, with how long it took. */
async function failureOf(work: Promise<unknown>): Promise<{ failure: string; milliseconds: number }> {
  const started = performance.now()
  const failure = await work.then(
    () => 'none',
    (error: unknown) => (error as { failure?: string }).failure ?? String(error),
  )
  return { failure, milliseconds: performance.now() - started }
}

test('a COMMIT whose reply is lost is unknown, and the re-run finds what it had booked', async () => {
  const { store, proxy } = await openThroughProxy()
  const member = makeMember(makeClaim({ transactionId: 't' }))
  proxy.set('drop-reply', { times: 1 })
  expect((await failureOf(applyMembers(store, [member]))).failure).toBe('unknown')
  expect(proxy.fired).toBe(1)
  const [again] = await applyMembers(store, [member])
  expect(again).toMatchObject({ kind: 'settled', leader: { outcome: 'credited' } })
  expect(await balanceOf(store, 'u1')).toBe(1_000n)
  expect(await store.readTransaction('n', 't')).toHaveLength(1)
})

test('a COMMIT that never arrived is unknown too, and the re-run books it', async () => {
  const { store, proxy } = await openThroughProxy()
  const member = makeMember(makeClaim({ transactionId: 't' }))
  proxy.set('drop-commit', { times: 1 })
  expect((await failureOf(applyMembers(store, [member]))).failure).toBe('unknown')
  expect(await store.readTransaction('n', 't')).toHaveLength(0)
  await applyMembers(store, [member])
  expect(await balanceOf(store, 'u1')).toBe(1_000n)
})

test('an adjustment survives the loss of its COMMIT reply and is booked once', async () => {
  const { store, proxy } = await openThroughProxy()
  proxy.set('drop-reply', { times: 1 })
  const result = await store.adjust({
    key: 'k',
    user: 'u1',
    amount: 5n,
    reason: 'r',
    actor: 'a',
    overdraw: false,
  })
  expect(result.kind).toBe('booked')
  expect(proxy.fired).toBe(1)
  expect(await balanceOf(store, 'u1')).toBe(5n)
})

test('a server that answers nothing costs seconds, not for ever: unknown at COMMIT, retry before it', async () => {
  const { store, proxy } = await openThroughProxy()
  const member = makeMember(makeClaim({ transactionId: 't' }))
  proxy.set('hang-reply', { times: 1 })
  const hung = await failureOf(applyMembers(store, [member]))
  expect(hung.failure).toBe('unknown')
  expect(hung.milliseconds).toBeLessThan(7_000)
  await settleOne(store, makeClaim({ transactionId: 'warm' }))
  proxy.set('black-hole')
  const swallowed = await failureOf(applyMembers(store, [makeMember(makeClaim({ transactionId: 'other' }))]))
  expect(swallowed.failure).toBe('retry')
  expect(swallowed.milliseconds).toBeLessThan(7_000)
  const fresh = await failureOf(applyMembers(store, [member]))
  expect(fresh.failure).toBe('away')
  expect(fresh.milliseconds).toBeLessThan(3_000)
  proxy.set('pass')
  proxy.cutAll()
  const [again] = await applyMembers(store, [member])
  expect(again).toMatchObject({ kind: 'settled', leader: { outcome: 'credited' } })
}, 30_000)

test('a key that another session holds is key_busy within a second or two and leaves no entry and no coin', async () => {
  const url = await server.newDatabase()
  const store = await openOn(url)
  await store.createWallet('u1')
  const other = await connectTo(url)
  await other.query('start transaction')
  await insertCredit(other, 'n', 'held')
  const busy = await failureOf(
    applyMembers(
      store,
      ['free', 'held'].map((transactionId) => makeMember(makeClaim({ transactionId }))),
    ),
  )
  expect(busy.failure).toBe('key_busy')
  expect(busy.milliseconds).toBeGreaterThan(500)
  expect(busy.milliseconds).toBeLessThan(2_500)
  await other.query('rollback')
  other.destroy()
  expect(await runMysql(url, 'select id from paidonce_ledger')).toEqual([])
  expect(await balanceOf(store, 'u1')).toBe(0n)
})

test('a server that is down is away at once, a killed one loses nothing, and the store comes back by itself', async () => {
  const own = await startMariadb({ settings: {} })
  closing.push(() => own.stop())
  const store = await openMysql(await own.newDatabase())
  closing.push(() => store.close())
  await store.start()
  await store.createWallet('u1')
  await settleOne(store, makeClaim({ transactionId: 'before' }))
  await own.kill9()
  const member = makeMember(makeClaim({ transactionId: 'during' }))
  // Connections of the pool may still have to learn of it.
  await failureOf(applyMembers(store, [member]))
  const down = await failureOf(applyMembers(store, [member]))
  expect(down.failure).toBe('away')
  expect(down.milliseconds).toBeLessThan(1_000)
  await own.restart()
  await applyMembers(store, [member])
  expect(await balanceOf(store, 'u1')).toBe(2_000n)
}, 60_000)

test('a pool with nothing to give is away after two seconds, and its late connection goes back', async () => {
  const url = await server.newDatabase()
  const pool = mysql.createPool({ uri: url, connectionLimit: 1 })
  closing.push(() => pool.end())
  const store = mysqlStore({ pool })
  await store.start()
  const taken = await pool.getConnection()
  const empty = await failureOf(store.readSetting('amount_scale'))
  expect(empty.failure).toBe('away')
  expect(empty.milliseconds).toBeLessThan(3_000)
  taken.release()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await store.readSetting('amount_scale')).toBe('3')
}, 15_000)

test('a read-only server refuses the start and the ping', async () => {
  const own = await startMariadb({ settings: {} })
  closing.push(() => own.stop())
  const url = await own.newDatabase()
  const store = await openMysql(url)
  closing.push(() => store.close())
  await store.start()
  await store.ping()
  await runMysql(own.url, 'set global read_only = 1')
  await expect(store.ping()).rejects.toMatchObject({ failure: 'away' })
  await expect(store.start()).rejects.toMatchObject({
    code: 'database_refused',
    hint: 'Connect to the primary.',
  })
  await runMysql(own.url, 'set global read_only = 0, global innodb_flush_log_at_trx_commit = 2')
  const findings = await store.start()
  expect(findings.filter(({ severity }) => severity !== 'ok').map(({ check }) => check)).toEqual([
    'innodb_flush_log_at_trx_commit',
  ])
}, 60_000)

test('a server without strict mode still refuses an id that is too long, and nothing of its group stays', async () => {
  const url = await server.newDatabase()
  expect((await runMysql(url, 'select @@global.sql_mode as mode'))[0]?.['mode']).toBe('')
  const store = await openOn(url)
  await store.createWallet('u1')
  const long = `${'x'.repeat(300)}1`
  const refused = await failureOf(
    applyMembers(
      store,
      ['fine', long].map((transactionId) => makeMember(makeClaim({ transactionId }))),
    ),
  )
  expect(refused.failure).toBe('refused')
  expect(await runMysql(url, 'select id from paidonce_ledger')).toEqual([])
  expect(await balanceOf(store, 'u1')).toBe(0n)
})

test('what is no text, amount or flag stops at the door', async () => {
  const store = await openOn(await server.newDatabase())
  await store.createWallet('u1')
  for (const part of [
    { user: ['u1', 'u2'] },
    { transactionKey: { a: 1 } },
    { offer: { toSqlString: () => '1' } },
  ]) {
    const claim = makeClaim({ transactionId: 't', ...(part as unknown as { user: string }) })
    expect((await failureOf(applyMembers(store, [makeMember(claim)]))).failure).not.toBe('none')
  }
  expect(await store.readTransaction('n', 't')).toEqual([])
})

test("a publisher's pool gets its session settings back, and its driver settings change nothing", async () => {
  const url = await server.newDatabase()
  const pool = mysql.createPool({
    uri: url,
    connectionLimit: 1,
    charset: 'latin1',
    decimalNumbers: true,
    rowsAsArray: true,
    namedPlaceholders: true,
    timezone: '+05:00',
  })
  closing.push(() => pool.end())
  const settings = `sql_mode, time_zone, innodb_lock_wait_timeout, lock_wait_timeout, autocommit, tx_isolation, unique_checks,
  character_set_client, character_set_results, character_set_connection, sql_select_limit`
  const query = `select ${settings
    .split(/,\s*/)
    .map((name) => `@@session.${name}`)
    .join(', ')}`
  await pool.query(`set session sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', time_zone = '+05:00',
innodb_lock_wait_timeout = 17, autocommit = 0, sql_select_limit = 1, unique_checks = 0`)
  const [before] = await pool.query(query)
  const store = mysqlStore({ pool })
  await store.start()
  await store.createWallet('josé 😀')
  const claim = makeClaim({
    transactionId: `t'\\"😀`,
    user: 'josé 😀',
    offer: 'ünï 😀 \\',
    amount: 1_234n,
    receivedAmount: '1.234',
  })
  expect((await settleOne(store, claim)).outcome).toBe('credited')
  await store.applyGroup([makeMember(makeClaim({ transactionId: 'w', user: 'josé 😀' }))], {
    waitMs: 2_500,
    owns: () => true,
  })
  const { items } = await store.listEntries('josé 😀', { limit: 10, cursor: null })
  expect(items.map(({ offer, balanceAfter }) => [offer, balanceAfter])).toEqual([
    [null, 2_234n],
    ['ünï 😀 \\', 1_234n],
  ])
  expect(Math.abs((items[0]?.createdAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000)
  const [after] = await pool.query(query)
  expect(after).toEqual(before)
}, 15_000)

test("another connection's writes to the same balance, relative or read and written back, stay right to the coin", async () => {
  const url = await server.newDatabase()
  await runMysql(
    url,
    'create table users (id varchar(64) primary key, coins decimal(19, 3) not null default 0)',
  )
  await runMysql(url, `insert into users (id) values ('u1'), ('u2')`)
  const store = await openMysql(url, { wallets: USERS })
  closing.push(() => store.close())
  await store.start()
  let running = true
  const adding = async (): Promise<number> => {
    const app = await connectTo(url)
    let added = 0
    for (; running; added += 1) await app.query(`update users set coins = coins + 1 where id = 'u1'`)
    app.destroy()
    return added
  }
  const rewriting = async (): Promise<number> => {
    const app = await connectTo(url)
    let added = 0
    for (; running; added += 1) {
      await app.query('start transaction')
      const [rows] = await app.query<mysql.RowDataPacket[]>(
        `select coins from users where id = 'u1' for update`,
      )
      await app.query(`update users set coins = ? where id = 'u1'`, [
        (Number(rows[0]?.['coins']) + 2).toFixed(3),
      ])
      await app.query('commit')
    }
    app.destroy()
    return added
  }
  const apps = [adding(), rewriting()]
  let credited = 0
  const until = performance.now() + 2_000
  for (let round = 0; performance.now() < until; round += 1) {
    const members = Array.from({ length: 10 }, (_, n) =>
      makeMember(makeClaim({ transactionId: `r${round}-${n}`, user: n % 2 === 0 ? 'u1' : 'u2' })),
    )
    const results = await applyMembers(store, members, round % 3 === 0 ? 3_000 : null)
    credited += results.filter((result, n) => result.kind === 'settled' && n % 2 === 0).length
  }
  running = false
  const [added = 0, rewritten = 0] = await Promise.all(apps)
  expect(Math.min(added, rewritten, credited)).toBeGreaterThan(10)
  expect(await balanceOf(store, 'u1')).toBe(1_000n * BigInt(added + 2 * rewritten + credited))
}, 30_000)
