/**
 * The publisher's own wallet table on MariaDB: every kind of id, and what is refused.
 *
 * @module
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { selectWallets, type IdKind } from '../../src/stores/mysql/wallet-table.js'
import { mysqlStore, openMysql } from '../../src/stores/mysql/store.js'
import { makeClaim } from '../../src/testing/claims.js'
import { balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { runMysql, startMariadb } from '../servers/mariadb.js'
import { connectTo, USERS } from './mysql-suite.js'

const server = await startMariadb()
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

afterAll(async () => {
  await server.stop()
})

/** Makes the publisher's table, fills it and opens a store on it. */
async function openWith(
  table: string,
  ids: readonly string[] = [],
  options: { amountScale?: number } = {},
): Promise<{ store: LedgerStore; url: string }> {
  const url = await server.newDatabase()
  await runMysql(url, table)
  const app = await connectTo(url)
  for (const id of ids) await app.query('insert into users (id, coins) values (?, 0)', [id])
  app.destroy()
  const store = await openMysql(url, { wallets: USERS, ...options })
  closing.push(() => store.close())
  return { store, url }
}

describe('a user is found byte for byte', () => {
  const cases: readonly [
    title: string,
    column: string,
    present: readonly string[],
    absent: readonly string[],
  ][] = [
    [
      'a case- and accent-blind VARCHAR',
      'varchar(64) character set utf8mb4 collate utf8mb4_general_ci',
      ['josé', 'a', 'Straße', '😀', ' lead'],
      ['JOSÉ', 'jose', 'JOSE', 'A', 'a ', 'STRASSE', 'Strasse', '😁', 'lead'],
    ],
    [
      'a latin1 VARCHAR',
      'varchar(64) character set latin1',
      ['josé', 'a?', '€uro'],
      ['JOSÉ', 'jose', 'a😀', 'a€', '日本', 'josé '],
    ],
    ['a utf8mb3 VARCHAR', 'varchar(64) character set utf8mb3', ['josé', '日本'], ['日本😀', '😀']],
    [
      'a utf8mb4_bin VARCHAR, which pads',
      'varchar(64) character set utf8mb4 collate utf8mb4_bin',
      ['a', 'B '],
      ['a ', 'B', 'A'],
    ],
    ['VARBINARY', 'varbinary(64)', ['josé', 'a', 'a ', 'A'], ['jose', 'a  ', 'B']],
    [
      'CHAR',
      'char(8) character set utf8mb4',
      ['abc'],
      ['abc ', 'ABC', 'abc     ', 'a-value-longer-than-eight'],
    ],
    [
      'INT',
      'int',
      ['0', '72', '-5', '2147483647'],
      ['072', '72abc', '72.0', ' 72', '72 ', '+72', '-0', '2147483648', 'abc', '7e1'],
    ],
    ['INT ZEROFILL', 'int(6) zerofill', ['42'], ['000042', '042']],
    [
      'BIGINT UNSIGNED',
      'bigint unsigned',
      ['18446744073709551615', '9007199254740993'],
      ['18446744073709551616', '9007199254740992', '-1', '09007199254740993'],
    ],
    [
      'UUID',
      'uuid',
      ['0190a1b2-0000-7000-8000-00000000abcd'],
      ['0190A1B2-0000-7000-8000-00000000ABCD', '0190a1b20000700080000000 0000abcd', 'x'],
    ],
  ]
  for (const [title, column, present, absent] of cases) {
    test(title, async () => {
      const table = `create table users (id ${column} not null, coins decimal(19, 3) not null, primary key (id))`
      const { store } = await openWith(table, present)
      await store.start()
      for (const user of absent) {
        expect(await store.readWallet(user), `${user} must not be found`).toBeNull()
        expect((await settleOne(store, makeClaim({ transactionId: `no ${user}`, user }))).outcome).toBe(
          'unknown_user',
        )
      }
      for (const user of present) {
        expect((await settleOne(store, makeClaim({ transactionId: user, user }))).outcome, user).toBe(
          'credited',
        )
      }
      for (const user of present) expect(await balanceOf(store, user), user).toBe(1_000n)
      const listed: string[] = []
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<LedgerStore['listWallets']>> = await store.listWallets({
          limit: 2,
          cursor,
        })
        listed.push(...page.items.map(({ user }) => user))
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(listed.sort()).toEqual([...present].sort())
    })
  }
})

test('the index on the id serves the look-up, in every kind of column', async () => {
  const kinds: readonly [string, IdKind, string][] = [
    [
      'varchar(64) character set utf8mb4 collate utf8mb4_general_ci',
      { kind: 'text', charset: 'utf8mb4', collation: 'utf8mb4_general_ci' },
      'u',
    ],
    [
      'varchar(64) character set latin1',
      { kind: 'text', charset: 'latin1', collation: 'latin1_swedish_ci' },
      'u',
    ],
    ['varbinary(64)', { kind: 'bytes' }, 'u'],
    ['bigint', { kind: 'integer', min: -(2n ** 63n), max: 2n ** 63n - 1n }, ''],
  ]
  for (const [column, idKind, prefix] of kinds) {
    const url = await server.newDatabase()
    await runMysql(
      url,
      `create table users (pk bigint auto_increment primary key, id ${column} not null, coins decimal(19, 3)
not null default 0, unique key by_id (id))`,
    )
    await runMysql(url, `insert into users (id) select concat('${prefix}', seq) from seq_1_to_5000`)
    const columns = {
      foreign: true,
      table: '`users`',
      id: '`id`',
      balance: '`coins`',
      index: '`by_id`',
      idKind,
      scale: 3,
    }
    const statement = selectWallets(columns, [`${prefix}7`, `${prefix}4000`, `${prefix}70000`], 'skip')
    const app = await connectTo(url)
    const [plan] = await app.query(`explain ${statement?.sql ?? ''}`, [...(statement?.values ?? [])])
    app.destroy()
    expect(plan, column).toMatchObject([{ type: 'range', key: 'by_id' }])
    expect(Number((plan as { rows: unknown }[])[0]?.rows)).toBeLessThan(10)
  }
})

describe('what cannot keep the promise is refused, with its cure', () => {
  const id = 'id varchar(64) character set utf8mb4 primary key'
  const cases: readonly [title: string, table: string, cure: RegExp, message: RegExp][] = [
    [
      'MyISAM',
      `create table users (${id}, coins decimal(19, 3) not null) engine = MyISAM`,
      /engine = InnoDB/,
      /MyISAM/,
    ],
    ['FLOAT', `create table users (${id}, coins float not null)`, /modify `coins` decimal\(19, 3\)/, /float/],
    [
      'UNSIGNED',
      `create table users (${id}, coins decimal(19, 3) unsigned not null)`,
      /modify `coins` decimal\(19, 3\) not null/,
      /below zero/,
    ],
    [
      'two decimals',
      `create table users (${id}, coins decimal(19, 2) not null)`,
      /decimal\(19, 3\)/,
      /2 decimals/,
    ],
    [
      'an integer balance',
      `create table users (${id}, coins bigint not null)`,
      /decimal\(19, 3\)/,
      /0 decimals/,
    ],
    [
      'CHECK',
      `create table users (${id}, coins decimal(19, 3) not null check (coins >= 0))`,
      /drop constraint/,
      /CHECK/,
    ],
    [
      'a table CHECK',
      `create table users (${id}, coins decimal(19, 3) not null, constraint positive check (0 <= coins))`,
      /drop constraint/,
      /CHECK/,
    ],
    [
      'no unique id',
      'create table users (id varchar(64) not null, coins decimal(19, 3) not null, key (id))',
      /add unique key/,
      /not unique/,
    ],
    [
      'an id unique only with another column',
      'create table users (id varchar(64), shop int, coins decimal(19, 3) not null, unique key (id, shop))',
      /add unique key/,
      /not unique/,
    ],
    [
      'an id unique by a prefix',
      'create table users (id varchar(64), coins decimal(19, 3) not null, unique key (id(10)))',
      /add unique key/,
      /not unique/,
    ],
    [
      'a TEXT id',
      'create table users (id text, coins decimal(19, 3) not null, unique key (id))',
      /varbinary\(255\)/,
      /byte for byte/,
    ],
    [
      'a DECIMAL id',
      'create table users (id decimal(10, 0) primary key, coins decimal(19, 3) not null)',
      /varbinary\(255\)/,
      /byte for byte/,
    ],
    [
      'no balance column',
      `create table users (${id}, points decimal(19, 3))`,
      /wallets\.balance/,
      /no column `coins`/,
    ],
    ['no table', 'create table people (id int)', /wallets\.table/, /no table/],
    [
      'a generated balance',
      `create table users (${id}, base decimal(19, 3), coins decimal(19, 3) as (base) stored)`,
      /stored column/,
      /generated/,
    ],
  ]
  for (const [title, table, cure, message] of cases) {
    test(title, async () => {
      const { store } = await openWith(table)
      await expect(store.start()).rejects.toMatchObject({
        code: 'wallet_table_refused',
        message: expect.stringMatching(message) as string,
        hint: expect.stringMatching(cure) as string,
      })
      expect((await store.inspect()).filter(({ severity }) => severity === 'refuse')).toHaveLength(1)
    })
  }

  test('a view', async () => {
    const { store, url } = await openWith(`create table people (${id}, coins decimal(19, 3) not null)`)
    await runMysql(url, 'create view users as select * from people')
    await expect(store.start()).rejects.toMatchObject({ code: 'wallet_table_refused' })
  })

  test('rows whose balance is NULL; without such rows NULL is a warning', async () => {
    const { store, url } = await openWith(`create table users (${id}, coins decimal(19, 3))`)
    await runMysql(url, `insert into users values ('u1', null)`)
    await expect(store.start()).rejects.toMatchObject({
      hint: 'update `users` set `coins` = 0 where `coins` is null',
    })
    await runMysql(url, 'update users set coins = 0')
    expect((await store.start()).filter(({ severity }) => severity === 'warn')).toMatchObject([
      { check: 'wallets' },
    ])
  })

  test('the cure cures', async () => {
    const { store, url } = await openWith(
      `create table users (${id}, coins decimal(19, 2) unsigned not null)`,
      ['u1'],
    )
    const refused = (await store.start().catch((error: unknown) => error)) as { hint: string }
    await runMysql(url, refused.hint)
    await store.start()
    expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('credited')
  })

  test('wallets of the app are not made by the store', async () => {
    const { store } = await openWith(`create table users (${id}, coins decimal(19, 3) not null)`)
    await store.start()
    await expect(store.createWallet('u1')).rejects.toMatchObject({ code: 'foreign_wallets' })
    expect(() => mysqlStore({ pool: {} as never, wallets: USERS, unknownUser: 'create' })).toThrow(
      /unknownUser/,
    )
  })
})

test('an integer balance takes whole coins, and a finer balance is read downward', async () => {
  const whole = await openWith('create table users (id int primary key, coins bigint not null)', ['7'], {
    amountScale: 0,
  })
  await whole.store.start()
  await settleOne(
    whole.store,
    makeClaim({ transactionId: 't', user: '7', amount: 12n, receivedAmount: '12' }),
  )
  expect(await balanceOf(whole.store, '7')).toBe(12n)

  const finer = await openWith('create table users (id int primary key, coins decimal(30, 6) not null)', [
    '7',
  ])
  await finer.store.start()
  await runMysql(finer.url, 'update users set coins = -1.000001')
  expect(await balanceOf(finer.store, '7')).toBe(-1_001n)
  await settleOne(finer.store, makeClaim({ transactionId: 't', user: '7' }))
  const [row] = await runMysql(finer.url, 'select cast(coins as char) as coins from users')
  expect(row?.['coins']).toBe('-0.000001')
})
