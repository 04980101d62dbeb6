import { describe, expect, it } from 'vitest'
import type { StoreFinding, WalletTable } from '../../src/ledger/store.js'
import { borrowConnection } from '../../src/stores/sqlite/connection.js'
import { findDriver } from '../../src/stores/sqlite/driver.js'
import { sqliteStore, type SqliteHandle, type SqliteStore } from '../../src/stores/sqlite/index.js'
import { makeClaim } from '../../src/testing/claims.js'
import { settleOne } from '../../src/testing/suite-steps.js'

const USERS: WalletTable = { table: 'users', id: 'id', balance: 'coins' }
const PAGE = { limit: 50, cursor: null }

describe("sqlite: the app's own wallet table", () => {
  it.each([
    ['text', 'create table users (id text primary key, coins integer not null)', ['josé', 'a', 'B']],
    ['strict', 'create table users (id text primary key, coins int not null) strict', ['josé', 'a', 'B']],
    [
      'no case',
      'create table users (id varchar collate nocase unique, coins integer not null)',
      ['josé', 'a', 'B'],
    ],
    [
      'trimmed',
      'create table users (id text collate rtrim unique, coins integer not null)',
      ['josé', 'a', 'B'],
    ],
    [
      'no case, byte index',
      'create table users (id text collate nocase, coins integer not null); create unique index u on users (id collate binary)',
      ['josé', 'a', 'B'],
    ],
  ])('finds text ids byte for byte: %s', async (_, create, users) => {
    await onTable(create, users, async (store) => {
      await store.start()
      for (const stranger of ['JOSÉ', 'jose', 'josé ', 'A', 'b', ' a']) {
        expect((await settleOne(store, creditOf(stranger))).outcome).toBe('unknown_user')
      }
      for (const user of users) {
        expect((await settleOne(store, creditOf(user))).outcome).toBe('credited')
        expect(await store.readWallet(user)).toEqual({ user, balance: 7n })
      }
      expect((await store.listWallets(PAGE)).items.map((row) => row.user)).toEqual(['B', 'a', 'josé'])
      expect((await store.listWallets({ ...PAGE, prefix: 'jo' })).items.map((row) => row.user)).toEqual([
        'josé',
      ])
      expect((await store.auditWallets(null, 10)).items.every((row) => row.balance === row.ledgerTotal)).toBe(
        true,
      )
    })
  })

  it.each([
    ['rowid', 'create table users (id integer primary key, coins integer not null)'],
    ['unique', 'create table users (id bigint unique, coins integer not null)'],
  ])('finds integer ids by their one text: %s', async (_, create) => {
    await onTable(create, [72n, 1_234n, -5n], async (store) => {
      await store.start()
      for (const stranger of ['001234', '72abc', '+72', '72.0', ' 72', '7e1', '-0', '99999999999999999999']) {
        expect((await settleOne(store, creditOf(stranger))).outcome).toBe('unknown_user')
      }
      for (const user of ['72', '1234', '-5']) {
        expect((await settleOne(store, creditOf(user))).outcome).toBe('credited')
        expect(await store.readWallet(user)).toEqual({ user, balance: 7n })
      }
      expect((await store.listWallets(PAGE)).items.map((row) => row.user)).toEqual(['-5', '1234', '72'])
      const first = await store.auditWallets(null, 2)
      const rest = await store.auditWallets(first.next, 10)
      expect([...first.items, ...rest.items].every((row) => row.ledgerTotal === (row.balance ?? 0n))).toBe(
        true,
      )
    })
  })

  it('serves each look-up from the index on the id', async () => {
    for (const [create, match] of [
      [
        'create table users (id text collate nocase unique, coins integer not null)',
        /SEARCH users USING INDEX/,
      ],
      ['create table users (id text primary key, coins integer not null)', /SEARCH users USING INDEX/],
      [
        'create table users (id integer primary key, coins integer not null)',
        /SEARCH users USING INTEGER PRIMARY KEY/,
      ],
    ] as const) {
      await onTable(create, [], async (store, handle) => {
        const seen: string[] = []
        const spy: SqliteHandle = {
          prepare: (sql) => {
            if (/^update "users"/.test(sql)) seen.push(sql)
            return handle.prepare(sql)
          },
          exec: (sql) => handle.exec(sql),
          close: () => undefined,
        }
        const watched = sqliteStore({ database: spy, wallets: USERS, amountScale: 0 })
        await watched.start()
        handle.exec("insert into users values ('1', 0)")
        await settleOne(watched, creditOf('1'))
        const values = (seen[0]?.match(/\?/g) ?? []).map(() => null)
        const plan = borrowConnection(handle)
          .prepare(`explain query plan ${String(seen[0])}`)
          .all(...values)
        expect(String(plan[0]?.['detail'])).toMatch(match)
        await store.close()
      })
    }
  })

  it.each([
    ['is missing', 'create table other (id text)', /no table users/],
    ['is a view', 'create view users as select 1 as id, 2 as coins', /is a view/],
    ['lacks the column', 'create table users (id text primary key)', /no writable column coins/],
    ['keeps floats', 'create table users (id text primary key, coins real not null)', /declared as REAL/],
    [
      'keeps decimals',
      'create table users (id text primary key, coins decimal(19,3) not null)',
      /declared as decimal/,
    ],
    ['has ids that are not unique', 'create table users (id text, coins integer not null)', /is not unique/],
    [
      'has a partial unique index only',
      'create table users (id text, coins integer not null); create unique index u on users (id) where coins > 0',
      /is not unique/,
    ],
    [
      'has ids of no known type',
      'create table users (id blob primary key, coins integer not null)',
      /TEXT or INTEGER/,
    ],
    [
      'forbids negative balances',
      'create table users (id text primary key, name text, coins integer not null check (coins >= 0))',
      /CHECK \(coins >= 0\)/,
    ],
    [
      'holds a balance that is no integer',
      "create table users (id text primary key, coins integer); insert into users values ('a', 1.5)",
      /whose balance is real/,
    ],
    [
      'holds a NULL',
      "create table users (id text primary key, coins integer); insert into users values ('a', null)",
      /whose balance is null/,
    ],
  ])('is refused with a cure where it %s', async (_, create, message) => {
    await onTable(create, [], async (store) => {
      const failure: unknown = await store.start().then(
        () => null,
        (error: unknown) => error,
      )
      expect(failure).toMatchObject({ code: 'wallet_table_refused' })
      expect((failure as Error).message).toMatch(message)
      expect((failure as { hint?: string }).hint).toBeTruthy()
    })
  })

  it('whatever a trigger of its owner does to one user, that claim is refused and the next one is booked', async () => {
    const trigger = `create table users (id text primary key, coins integer not null);
create trigger judge before update on users begin
  select case new.id
    when 'aborts' then raise(abort, 'blocked')
    when 'ignores' then raise(ignore)
    when 'bug' then json_extract('{', '$.a')
    when 'overflow' then abs(-9223372036854775807 - 1) end;
end`
    await onTable(trigger, ['aborts', 'ignores', 'bug', 'overflow', 'good'], async (store) => {
      await store.start()
      for (const user of ['aborts', 'ignores', 'bug', 'overflow']) {
        await expect(settleOne(store, creditOf(user)), user).rejects.toMatchObject({ failure: 'refused' })
        expect(await store.readTransaction('n', `t-${user}`)).toEqual([])
      }
      expect((await settleOne(store, creditOf('good'))).outcome).toBe('credited')
    })
  })

  it('is refused with decimals, and only warned about where a balance may be NULL', async () => {
    await onTable('create table users (id text primary key, coins integer)', [], async (store, handle) => {
      const decimals = sqliteStore({
        database: handle,
        wallets: USERS,
        amountScale: 3,
        tables: { prefix: 'three_' },
      })
      await expect(decimals.start()).rejects.toMatchObject({ code: 'wallet_table_refused' })
      const findings: readonly StoreFinding[] = await store.start()
      expect(findings.find((one) => one.check === 'wallet_table')?.severity).toBe('warn')
      handle.exec("insert into users values ('a', null)")
      await expect(settleOne(store, creditOf('a'))).rejects.toMatchObject({ failure: 'refused' })
      await expect(store.createWallet('b')).rejects.toMatchObject({ code: 'foreign_wallets' })
    })
  })
})

async function onTable(
  create: string,
  users: readonly (string | bigint)[],
  body: (store: SqliteStore, handle: SqliteHandle) => Promise<void>,
): Promise<void> {
  const handle = findDriver().open(':memory:')
  try {
    handle.exec(create)
    for (const user of users) {
      borrowConnection(handle).prepare('insert into users (id, coins) values (?, 0)').run(user)
    }
    await body(sqliteStore({ database: handle, wallets: USERS, amountScale: 0 }), handle)
  } finally {
    handle.close()
  }
}

function creditOf(user: string): ReturnType<typeof makeClaim> {
  return makeClaim({ transactionId: `t-${user}`, user, amount: 7n, receivedAmount: '7' })
}
