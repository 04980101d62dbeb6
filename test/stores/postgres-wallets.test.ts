/**
 * The publisher's own wallet table on PostgreSQL: users are found byte for byte, unfit tables are refused with a cure.
 *
 * @module
 */
import { afterAll, describe, expect, it } from 'vitest'
import { PaidonceError } from '../../src/errors.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import { openPostgres, type OpenPostgresOptions } from '../../src/stores/postgres/index.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { groupSuite } from '../../src/testing/store-suite-group.js'
import { lockSuite } from '../../src/testing/store-suite-locks.js'
import { applyMembers, balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { runSql, startPostgres } from '../servers/postgres.js'
import { openSuiteOn } from './postgres-suite.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

const WALLETS = { table: 'users', id: 'id', balance: 'coins' }

async function withTable(
  sql: string,
  body: (store: LedgerStore, database: string) => Promise<void>,
  options: OpenPostgresOptions = {},
): Promise<void> {
  const database = await server.newDatabase()
  await runSql(database, sql)
  const store = await openPostgres(database, { wallets: WALLETS, ...options })
  try {
    await body(store, database)
  } finally {
    await store.close()
  }
}

describe("PostgreSQL, the publisher's wallets", () => {
  const open = openSuiteOn(server, {
    users: 'create table users (id varchar(255) primary key, coins numeric(19, 3) not null default 0)',
  })
  groupSuite({ describe, it }, open)
  lockSuite({ describe, it }, open)

  const insensitive = `create collation loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);`
  const tables = [
    { type: 'text', before: '', rows: ['josé', '72', 'a'], strangers: ['JOSÉ', 'jose', '072', 'a ', ' a'] },
    {
      type: 'varchar(50) collate loose',
      before: insensitive,
      rows: ['josé', '72', 'a'],
      strangers: ['JOSÉ', 'jose', 'A', 'á'],
    },
    {
      type: 'citext',
      before: 'create extension citext;',
      rows: ['josé', '72', 'a'],
      strangers: ['JOSÉ', 'A', 'a '],
    },
    { type: 'char(10)', before: '', rows: ['josé', '72', 'a'], strangers: ['JOSÉ', 'a ', 'a         '] },
    {
      type: 'bigint',
      before: '',
      rows: ['1234', '-7', '0', '9223372036854775807'],
      strangers: ['001234', '1234 ', '72abc', '+1234', '1e3', '-0', '9223372036854775808', '1234.0', '0x4d2'],
    },
    { type: 'integer', before: '', rows: ['1234'], strangers: ['2147483648', '01234', '4294968530'] },
    { type: 'smallint', before: '', rows: ['12'], strangers: ['32768', '65548'] },
    {
      type: 'uuid',
      before: '',
      rows: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
      strangers: [
        'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
        'a0eebc999c0b4ef8bb6d6bb9bd380a11',
        '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}',
      ],
    },
  ]
  it.each(tables)(
    'a user is found byte for byte where the id is $type',
    async ({ type, before, rows, strangers }) => {
      const insert = rows.map((id) => `('${id}', 5)`).join(', ')
      await withTable(
        `${before} create table users (id ${type} primary key, coins numeric(19, 3) not null); insert into users values ${insert}`,
        async (store) => {
          await store.start()
          const users = [...rows, ...strangers]
          const results = await applyMembers(
            store,
            users.map((user, n) => makeMember(makeClaim({ transactionId: `t${n}`, user }))),
          )
          expect(results.map((result) => result.kind === 'settled' && result.leader.outcome)).toEqual([
            ...rows.map(() => 'credited'),
            ...strangers.map(() => 'unknown_user'),
          ])
          for (const user of rows) expect(await balanceOf(store, user)).toBe(6_000n)
          for (const user of strangers) expect(await store.readWallet(user)).toBeNull()
          const listed = await store.listWallets({ limit: 10, cursor: null })
          expect(listed.items.map((row) => row.user).sort()).toEqual([...rows].sort())
          const audited = (await store.auditWallets(null, 100)).items.filter((row) => row.balance !== null)
          expect(audited.map((row) => [row.balance, row.ledgerTotal])).toEqual(
            rows.map(() => [6_000n, 1_000n]),
          )
          expect((await store.auditChains(null, 100)).items).toEqual([])
          expect((await store.adjust(adjustment(strangers[0] ?? ''))).kind).toBe('unknown_user')
        },
      )
    },
  )

  it('whole coins are kept in an integer column where the scale is 0', () =>
    withTable(
      "create table users (id text primary key, coins integer not null); insert into users values ('u1', 5)",
      async (store) => {
        const findings = await store.start()
        expect(findings.filter(({ severity }) => severity === 'warn').map(({ message }) => message)).toEqual([
          expect.stringContaining('is integer'),
        ])
        expect((await settleOne(store, makeClaim({ transactionId: 't', amount: 7n }))).outcome).toBe(
          'credited',
        )
        expect(await balanceOf(store, 'u1')).toBe(12n)
        await expect(
          store.applyGroup([makeMember(makeClaim({ transactionId: 'big', amount: 10n ** 12n }))], {
            waitMs: null,
            owns: () => true,
          }),
        ).rejects.toMatchObject({ failure: 'refused' })
        expect(await balanceOf(store, 'u1')).toBe(12n)
      },
      { amountScale: 0 },
    ))

  it('a finer balance is read rounded down and added to exactly', () =>
    withTable(
      "create table users (id text primary key, coins numeric not null); insert into users values ('u1', -0.00051), ('u2', 'NaN')",
      async (store, database) => {
        await store.start()
        expect(await balanceOf(store, 'u1')).toBe(-1n)
        await settleOne(store, makeClaim({ transactionId: 't' }))
        expect(await runSql(database, "select coins::text as coins from users where id = 'u1'")).toEqual([
          { coins: '0.99949' },
        ])
        await expect(settleOne(store, makeClaim({ transactionId: 'n', user: 'u2' }))).rejects.toMatchObject({
          failure: 'refused',
        })
      },
    ))

  it('rows of the app that refer to a locked user do not make it busy', () =>
    withTable(
      `create table users (id text primary key, coins numeric(19, 3) not null); insert into users values ('u1', 0);
create table orders (user_id text references users)`,
      async (store, database) => {
        await store.start()
        await runSql(
          database,
          'create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$; create constraint trigger slow after insert on orders for each row execute function slow()',
        )
        const order = runSql(database, "insert into orders values ('u1')")
        await new Promise((resolve) => setTimeout(resolve, 200))
        expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('credited')
        await order
      },
    ))

  const columns = 'id text primary key, coins numeric(19, 3) not null'
  const refusals: {
    name: string
    sql: string
    says: string
    options?: OpenPostgresOptions
    cured: boolean
  }[] = [
    { name: 'a missing table', sql: 'select 1', says: 'There is no table "users"', cured: false },
    {
      name: 'a missing column',
      sql: 'create table users (id text primary key)',
      says: 'has no column "coins"',
      cured: false,
    },
    {
      name: 'a view',
      sql: `create table accounts (${columns}); create view users as select * from accounts`,
      says: 'is a view',
      cured: false,
    },
    {
      name: 'an unlogged table',
      sql: `create unlogged table users (${columns})`,
      says: 'is unlogged',
      cured: true,
    },
    {
      name: 'a float balance',
      sql: 'create table users (id text primary key, coins double precision not null)',
      says: 'double precision, which is not exact',
      cured: true,
    },
    {
      name: 'a balance as text',
      sql: 'create table users (id text primary key, coins text not null)',
      says: 'has the type text',
      cured: true,
    },
    {
      name: 'too few decimals',
      sql: 'create table users (id text primary key, coins numeric(10, 2) not null)',
      says: 'fewer than 3 decimals',
      cured: true,
    },
    {
      name: 'whole coins with a scale of 3',
      sql: 'create table users (id text primary key, coins bigint not null)',
      says: 'cannot hold 3 decimals',
      cured: false,
    },
    {
      name: 'a constraint against negative balances',
      sql: `create table users (${columns} check (coins >= 0))`,
      says: 'forbids a balance below zero',
      cured: true,
    },
    {
      name: 'a NULL balance',
      sql: "create table users (id text primary key, coins numeric(19, 3)); insert into users values ('u1', null)",
      says: 'is NULL in some rows',
      cured: true,
    },
    {
      name: 'an id that is not unique',
      sql: 'create table users (tenant int, id text not null, coins numeric(19, 3) not null, primary key (tenant, id))',
      says: 'has no unique index of its own',
      cured: true,
    },
    {
      name: 'an id of another type',
      sql: 'create table users (id numeric(20) primary key, coins numeric(19, 3) not null)',
      says: 'has the type numeric(20,0), which is not supported',
      cured: true,
    },
    {
      name: 'a generated balance',
      sql: 'create table users (id text primary key, won numeric(19, 3), coins numeric(19, 3) generated always as (won) stored)',
      says: 'is a generated column',
      cured: false,
    },
  ]
  it.each(refusals)('refused with a cure: $name', ({ sql, says, cured }) =>
    withTable(sql, async (store, database) => {
      const error: unknown = await store.start().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(PaidonceError)
      expect(error).toMatchObject({
        code: 'wallet_table_refused',
        message: expect.stringContaining(says) as unknown,
      })
      const inspected = await store.inspect()
      expect(
        inspected.filter(({ check, severity }) => check === 'wallet_table' && severity === 'refuse'),
      ).toHaveLength(1)
      const hint = (error as PaidonceError).hint ?? ''
      expect(hint).not.toBe('')
      if (cured) {
        await runSql(database, hint)
        await store.start()
      }
    }),
  )

  it("no wallet is ever made in the publisher's table", () =>
    withTable(
      `create table users (${columns})`,
      async (store) => {
        await store.start()
        await expect(store.createWallet('u1')).rejects.toMatchObject({ code: 'foreign_wallets' })
        expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('unknown_user')
      },
      { unknownUser: 'create' },
    ))
})

function adjustment(user: string): Parameters<LedgerStore['adjust']>[0] {
  return { key: 'k', user, amount: 1n, reason: 'r', actor: 'a', overdraw: false }
}
