/**
 * The packets of a group on MariaDB: what is sent, and that a wrong guess or a failing statement leaves nothing behind.
 *
 * @module
 */
import mysql from 'mysql2/promise'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { createStore } from '../../src/stores/mysql/create-store.js'
import { insertRows, textLiteral, type Column } from '../../src/stores/mysql/literals.js'
import { Odds } from '../../src/stores/odds.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { applyMembers, balanceOf } from '../../src/testing/suite-steps.js'
import { runMysql, startMariadb } from '../servers/mariadb.js'
import { connectTo } from './mysql-suite.js'

const server = await startMariadb()

afterAll(async () => {
  await server.stop()
})

const USERS = ['u1', 'u2', 'u3']

/** The first words of every statement of every packet, as the server's own log tells them. */
async function packetsDuring(work: () => Promise<unknown>): Promise<string[]> {
  await runMysql(server.url, `set global log_output = 'TABLE', global general_log = 1`)
  await runMysql(server.url, 'truncate table mysql.general_log')
  try {
    await work()
  } finally {
    await runMysql(server.url, 'set global general_log = 0')
  }
  const rows = await runMysql(
    server.url,
    `select convert(argument using utf8mb4) as sent from mysql.general_log
where command_type = 'Query' and argument not like '%general_log%' order by event_time`,
  )
  return rows.map(({ sent }) => String(sent).trim().split(/\s+/).slice(0, 3).join(' '))
}

for (const multipleStatements of [true, false]) {
  describe(`a group ${multipleStatements ? 'in packets' : 'one statement at a time'}`, () => {
    let url: string
    let pool: mysql.Pool
    let store: LedgerStore

    beforeEach(async () => {
      url = await server.newDatabase()
      pool = mysql.createPool({ uri: url, charset: 'utf8mb4', multipleStatements })
      store = createStore({ pool, outbox: true }, true)
      await store.start()
      for (const user of USERS) await store.createWallet(user)
    })
    afterEach(async () => {
      await store.close()
    })

    const book = async (claims: readonly ReturnType<typeof makeClaim>[]): Promise<string[]> => {
      const results = await applyMembers(
        store,
        claims.map((claim) => makeMember(claim)),
      )
      return results.map((each) => (each.kind === 'settled' ? each.leader.outcome : each.kind))
    }
    const credits = (name: string, users: readonly string[] = USERS): ReturnType<typeof makeClaim>[] =>
      users.map((user, place) => makeClaim({ transactionId: `${name}-${place}`, user }))
    const countOf = async (table: string): Promise<number> =>
      Number((await runMysql(url, `select count(*) as n from paidonce_${table}`))[0]?.['n'])

    it('does not look for credits that are new', async () => {
      await book(credits('warm'))
      const sent = await packetsDuring(() => book(credits('a')))
      expect(sent.filter((text) => text.startsWith('select id_space'))).toEqual([])
      expect(await balanceOf(store, 'u1')).toBe(2_000n)
    })

    it('looks first where a group holds a reversal', async () => {
      await book([makeClaim({ transactionId: 'a' })])
      expect(await book([makeClaim({ transactionId: 'a', entry: 'reversal' })])).toEqual(['reversed'])
      expect(await balanceOf(store, 'u1')).toBe(0n)
    })

    it('tells the balance after each of several entries of one wallet', async () => {
      await book(credits('a', ['u1', 'u2', 'u1', 'u1']))
      const { items } = await store.listEntries('u1', { limit: 10, cursor: null })
      expect(items.map(({ balanceAfter }) => balanceAfter)).toEqual([3_000n, 2_000n, 1_000n])
    })

    it('leaves nothing of a guess that a copy refutes', async () => {
      await book(credits('a', ['u1']))
      const copy = makeClaim({ transactionId: 'a-0', user: 'u1' })
      expect(await book([copy, ...credits('b', ['u2', 'u3'])])).toEqual(['duplicate', 'credited', 'credited'])
      expect(await balanceOf(store, 'u1')).toBe(1_000n)
      expect(await balanceOf(store, 'u2')).toBe(1_000n)
      expect([await countOf('ledger'), await countOf('outbox'), await countOf('postbacks')]).toEqual([
        3, 3, 4,
      ])
    })

    it('looks first while copies keep coming', async () => {
      for (let round = 0; round < 5; round += 1) await book(credits('a'))
      const sent = await packetsDuring(() => book(credits('a')))
      expect(sent.filter((text) => text.startsWith('select id_space'))).toHaveLength(1)
      expect(sent.filter((text) => text.startsWith('rollback'))).toEqual([])
      expect(await balanceOf(store, 'u1')).toBe(1_000n)
    })

    it('never pays a copy whose wallet has gone, nor calls it unknown', async () => {
      await book(credits('a', ['u1']))
      await runMysql(url, `delete from paidonce_wallets where user_id = 'u1'`)
      expect(await book(credits('a', ['u1']))).toEqual(['duplicate'])
    })

    it('settles a group in which one wallet is missing and one is locked', async () => {
      const holder = await connectTo(url)
      await holder.query('start transaction')
      await holder.query(`select 1 from paidonce_wallets where user_id = 'u2' for update`)
      const started = performance.now()
      expect(await book(credits('a', ['u1', 'u2', 'nobody', 'u3']))).toEqual([
        'credited',
        'busy',
        'unknown_user',
        'credited',
      ])
      expect(performance.now() - started).toBeLessThan(900)
      await holder.query('rollback')
      holder.destroy()
      expect(await countOf('ledger')).toBe(2)
    })

    it('commits nothing where a later statement fails', async () => {
      await runMysql(url, 'alter table paidonce_postbacks add constraint broken check (network <> 0x6e)')
      await expect(book(credits('a'))).rejects.toMatchObject({ failure: 'refused' })
      await runMysql(url, 'alter table paidonce_postbacks drop constraint broken')
      expect([await countOf('ledger'), await countOf('outbox'), await countOf('postbacks')]).toEqual([
        0, 0, 0,
      ])
      expect(await balanceOf(store, 'u1')).toBe(0n)
    })

    it("keeps quotes, backslashes and another statement's text inside of their values", async () => {
      const odd = `t'; drop table paidonce_ledger; -- \\'"?😀`
      expect(await book([makeClaim({ transactionId: odd, user: 'u1', offer: odd })])).toEqual(['credited'])
      const [entry] = await store.readTransaction('n', odd)
      expect([entry?.transactionId, entry?.offer]).toEqual([odd, odd])
    })
  })
}

describe('values as SQL text', () => {
  it('is itself where it is plain, and hexadecimal digits where it is not', () => {
    expect(textLiteral('a b?-1')).toBe(`'a b?-1'`)
    expect(textLiteral(`it's`)).toBe(`x'${Buffer.from(`it's`).toString('hex')}'`)
    expect(textLiteral('\\')).toBe(`x'5c'`)
    expect(textLiteral('é')).toBe(`x'c3a9'`)
    expect(textLiteral('')).toBe(`''`)
  })

  it('refuses what is no text', () => {
    expect(() => textLiteral(['a'] as unknown as string)).toThrow(/object/)
  })

  it('leaves columns out that have their default in every row', () => {
    const columns: Column<readonly string[]>[] = [
      { name: 'a', literal: (row) => row[0] ?? 'null' },
      { name: 'b', literal: (row) => row[1] ?? 'null' },
      { name: 'c', literal: (row) => row[2] ?? 'null', unless: '0' },
    ]
    expect(
      insertRows(
        't',
        columns,
        [
          ['1', 'null', '0'],
          ['2', 'null', '0'],
        ],
        0,
      ),
    ).toBe('insert into t (a)\nvalues (1),(2)')
    expect(
      insertRows(
        't',
        columns,
        [
          ['1', '2', '0'],
          ['3', 'null', '1'],
        ],
        0,
      ),
    ).toBe('insert into t (a, b, c)\nvalues (1,2,0),(3,null,1)')
  })
})

describe('the odds of a guess', () => {
  it('are bad after two wrong ones in a row, and good again after a while', () => {
    const odds = new Odds()
    odds.note(true)
    expect(odds.areGood).toBe(true)
    odds.note(true)
    expect(odds.areGood).toBe(false)
    for (let group = 0; group < 4; group += 1) odds.note(false)
    expect(odds.areGood).toBe(true)
  })
})
