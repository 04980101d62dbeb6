/**
 * Waits, frozen receivers and triggers on MariaDB: nobody but the claim at fault pays for it.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { afterAll, afterEach, expect, test } from 'vitest'
import { mysqlStore, openMysql } from '../../src/stores/mysql/store.js'
import { SESSION_SETTINGS } from '../../src/stores/mysql/session-settings.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { applyMembers, balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { runMysql, startMariadb } from '../servers/mariadb.js'
import { connectTo, insertCredit, USERS } from './mysql-suite.js'

const server = await startMariadb()
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

afterAll(async () => {
  await server.stop()
})

test("whatever a publisher's trigger says about one user, his claim is refused and his neighbour is booked", async () => {
  const url = await server.newDatabase()
  await runMysql(
    url,
    'create table users (id varchar(64) primary key, coins decimal(19, 3) not null default 0)',
  )
  await runMysql(url, `insert into users (id) values ('good'), ('raises'), ('own_code'), ('bug')`)
  await runMysql(
    url,
    `create trigger judge before update on users for each row begin
  if new.id = 'raises' then signal sqlstate '45000' set message_text = 'blocked'; end if;
  if new.id = 'own_code' then signal sqlstate '45000' set mysql_errno = 31001, message_text = 'blocked too'; end if;
  if new.id = 'bug' then set new.coins = (select 1 union all select 2); end if;
end`,
  )
  const store = await openMysql(url, { wallets: USERS })
  closing.push(() => store.close())
  await store.start()
  for (const user of ['raises', 'own_code', 'bug']) {
    const claims = [user, 'good'].map((name) => makeClaim({ transactionId: `${user} ${name}`, user: name }))
    await expect(
      applyMembers(
        store,
        claims.map((claim) => makeMember(claim)),
      ),
      user,
    ).rejects.toMatchObject({ failure: 'refused' })
    await settleOne(store, makeClaim({ transactionId: `${user} good`, user: 'good' }))
    expect(await balanceOf(store, user)).toBe(0n)
  }
  expect(await balanceOf(store, 'good')).toBe(3_000n)
})

test('while a key is waited for, its neighbours are inserted', async () => {
  const url = await server.newDatabase()
  const store = await openMysql(url)
  closing.push(() => store.close())
  await store.start()
  const holder = await connectTo(url)
  const neighbour = await connectTo(url)
  await insertCredit(neighbour, 'n', 'a')
  await insertCredit(neighbour, 'n', 'z')
  await holder.query('start transaction')
  await insertCredit(holder, 'n', 'm')
  const waiting = store.awaitKey({ idSpace: 'n', transactionKey: 'm' }, 3_000)
  await sleep(300)
  const started = performance.now()
  await insertCredit(neighbour, 'n', 'l')
  await insertCredit(neighbour, 'n', 'm2')
  expect(performance.now() - started).toBeLessThan(500)
  await holder.query('rollback')
  expect(await waiting).toBe(true)
  holder.destroy()
  neighbour.destroy()
})

test('a receiver that freezes before its COMMIT lets go of its wallets by itself', async () => {
  const url = await server.newDatabase()
  const store = await openMysql(url)
  closing.push(() => store.close())
  await store.start()
  await store.createWallet('u1')
  const frozen = await connectTo(url)
  await frozen.query(SESSION_SETTINGS)
  await frozen.query('start transaction')
  await insertCredit(frozen, 'n', 'half')
  await frozen.query(`update paidonce_wallets set balance = balance + 1 where user_id = 'u1'`)
  const apply = (): ReturnType<typeof store.applyGroup> =>
    store.applyGroup([makeMember(makeClaim({ transactionId: 't' }))], { waitMs: null, owns: () => true })
  expect(await apply()).toMatchObject({ results: [{ kind: 'busy' }] })
  await sleep(11_500)
  expect(await apply()).toMatchObject({ results: [{ kind: 'settled', leader: { outcome: 'credited' } }] })
  expect(await balanceOf(store, 'u1')).toBe(1_000n)
  frozen.destroy()
}, 30_000)

test("a publisher's session keeps its own time-outs, and each server sees only the settings that it knows", async () => {
  const pool = mysql.createPool({ uri: await server.newDatabase(), connectionLimit: 1 })
  closing.push(() => pool.end())
  const query = 'select @@session.idle_transaction_timeout as idle, @@session.wait_timeout as wait'
  await pool.query('set session idle_transaction_timeout = 77, wait_timeout = 777')
  const store = mysqlStore({ pool })
  await store.start()
  const [rows] = await pool.query(query)
  expect(rows).toEqual([{ idle: 77, wait: 777 }])
  // What MySQL 8 executes of the statement, by its manual's section "Comments".
  const forMysql = SESSION_SETTINGS.replace(/\/\*M!.*?\*\//, '').replace(/\/\*!80000(.*?)\*\//, '$1')
  expect(forMysql).toMatch(/, session wait_timeout = 60\s*$/)
  expect(forMysql).not.toContain('idle_')
})
