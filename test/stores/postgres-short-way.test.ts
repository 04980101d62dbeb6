/**
 * The short way of a group on PostgreSQL: what it sends, and that a wrong guess leaves nothing behind.
 *
 * @module
 */
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { Batch } from '../../src/stores/postgres/batch.js'
import type { PgClient } from '../../src/stores/postgres/driver.js'
import { postgresStore } from '../../src/stores/postgres/index.js'
import type { Claim } from '../../src/ledger/types.js'
import { Odds } from '../../src/stores/odds.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { balanceOf } from '../../src/testing/suite-steps.js'
import { runSql, startPostgres } from '../servers/postgres.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

type Asked = Batch | { readonly text: string }

const USERS = ['u1', 'u2', 'u3']

describe('the short way', () => {
  let url: string
  let pool: pg.Pool
  let store: LedgerStore
  let sent: string[]

  beforeEach(async () => {
    url = await server.newDatabase()
    pool = new pg.Pool({ connectionString: url })
    sent = []
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (asked: Asked) => unknown
      Object.assign(client, {
        query(asked: Asked) {
          if (asked instanceof Batch) sent.push(asked.constructor.name)
          else sent.push(asked.text.trim().split(/\s+/).slice(0, 2).join(' '))
          return query(asked)
        },
      })
    })
    store = postgresStore({ pool, outbox: true })
    await store.start()
    for (const user of USERS) await store.createWallet(user)
    sent.length = 0
  })
  afterEach(async () => {
    await pool.end()
  })

  const book = async (claims: readonly Claim[], by = store): Promise<string[]> => {
    const result = await by.applyGroup(
      claims.map((claim) => makeMember(claim)),
      { waitMs: null, owns: () => true },
    )
    if (result.kind !== 'applied') return [result.kind]
    return result.results.map((each) => (each.kind === 'settled' ? each.leader.outcome : each.kind))
  }
  const credits = (name: string, users: readonly string[] = USERS): Claim[] =>
    users.map((user, place) => makeClaim({ transactionId: `${name}-${place}`, user }))
  /** A store on the same database that remembers nothing of what the first one booked. */
  const anotherStore = async (): Promise<LedgerStore> => {
    const another = postgresStore({ pool, outbox: true })
    await another.start()
    sent.length = 0
    return another
  }
  const countOf = async (table: string): Promise<number> =>
    Number((await runSql(url, `select count(*) as n from paidonce_${table}`))[0]?.['n'])

  it('sends a group of credits at once', async () => {
    expect(await book(credits('a'))).toEqual(['credited', 'credited', 'credited'])
    expect(sent).toEqual(['Preparation', 'Batch'])
    expect(await book(credits('b'))).toEqual(['credited', 'credited', 'credited'])
    expect(sent).toEqual(['Preparation', 'Batch', 'Batch'])
  })

  it('does the same step by step on a pool that does not show its connections', async () => {
    const texts: string[] = []
    const hidden = postgresStore({
      pool: {
        async connect() {
          const client = await pool.connect()
          return {
            query: ((asked: { readonly text: string }) => {
              texts.push(asked.text.split(/\s+/)[0] ?? '')
              return client.query(asked)
            }) as unknown as PgClient['query'],
            release: (destroy?: Error | boolean) => {
              client.release(destroy)
            },
            on: client.on.bind(client),
            removeListener: client.removeListener.bind(client),
          }
        },
      },
    })
    await hidden.start()
    texts.length = 0
    const result = await hidden.applyGroup(
      credits('a').map((claim) => makeMember(claim)),
      { waitMs: null, owns: () => true },
    )
    expect(result.kind).toBe('applied')
    expect(texts).toEqual(['begin', 'select', 'with', 'commit'])
    expect(await countOf('ledger')).toBe(3)
  })

  it('looks into the ledger first where a group holds a reversal of a credit that it does not remember', async () => {
    await book([makeClaim({ transactionId: 'a' })])
    const another = await anotherStore()
    const reversal = makeClaim({ transactionId: 'a', entry: 'reversal' })
    expect(await book([reversal, ...credits('b', ['u2'])], another)).toEqual(['reversed', 'credited'])
    expect(sent).toEqual(['select k.id_space,', 'Preparation', 'Batch'])
    expect(await balanceOf(store, 'u1')).toBe(0n)
  })

  it('tells the balance after each of several entries of one wallet', async () => {
    await book(credits('a', ['u1', 'u2', 'u1', 'u1']))
    const { items } = await store.listEntries('u1', { limit: 10, cursor: null })
    expect(items.map(({ balanceAfter }) => balanceAfter)).toEqual([3_000n, 2_000n, 1_000n])
  })

  it('leaves nothing of a guess that a copy refutes', async () => {
    const [first] = credits('a')
    await book([first as Claim])
    const copy = makeClaim({ transactionId: 'a-0', user: 'u1' })
    const group = [copy, ...credits('b', ['u2', 'u3'])]
    expect(await book(group, await anotherStore())).toEqual(['duplicate', 'credited', 'credited'])
    expect(sent).toContain('rollback')
    expect(await balanceOf(store, 'u1')).toBe(1_000n)
    expect(await countOf('ledger')).toBe(3)
    expect(await countOf('outbox')).toBe(3)
    expect(await countOf('postbacks')).toBe(4)
  })

  it('looks first while copies of what it does not remember keep coming', async () => {
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await book(credits(name))
    const another = await anotherStore()
    for (const name of names.slice(0, 3)) await book(credits(name), another)
    sent.length = 0
    expect(await book(credits('d'), another)).toEqual(['duplicate', 'duplicate', 'duplicate'])
    expect(sent).toEqual(['select k.id_space,', 'Batch'])
  })

  it('settles a group in which one wallet is missing', async () => {
    const claims = credits('a', ['u1', 'nobody', 'u2'])
    expect(await book(claims)).toEqual(['credited', 'unknown_user', 'credited'])
    expect(await countOf('ledger')).toBe(2)
    expect(await countOf('postbacks')).toBe(3)
  })

  it('waits for a locked wallet a moment only, and books its neighbours', async () => {
    const holder = new pg.Client(url)
    await holder.connect()
    await holder.query('begin')
    await holder.query(`select 1 from paidonce_wallets where user_id = 'u2' for update`)
    const started = performance.now()
    expect(await book(credits('a'))).toEqual(['credited', 'busy', 'credited'])
    expect(performance.now() - started).toBeLessThan(1_000)
    await holder.query('rollback')
    await holder.end()
    expect(await countOf('ledger')).toBe(2)
  })

  it('goes the long way where a balance comes near its limit', async () => {
    await runSql(url, `update paidonce_wallets set balance = 8999999999999999.999 where user_id = 'u1'`)
    expect(await book(credits('a'))).toEqual(['held', 'credited', 'credited'])
    await runSql(url, `update paidonce_wallets set balance = 8999999999999998.999 where user_id = 'u1'`)
    expect(await book(credits('b'))).toEqual(['credited', 'credited', 'credited'])
    expect(await balanceOf(store, 'u1')).toBe(8_999_999_999_999_999_999n)
  })

  describe('what was booked lately', () => {
    it('is repeated and taken back at once', async () => {
      await book(credits('a'))
      sent.length = 0
      expect(await book(credits('a'))).toEqual(['duplicate', 'duplicate', 'duplicate'])
      const [copy, taken] = credits('a')
      const group = [
        copy as Claim,
        { ...(taken as Claim), entry: 'reversal' as const },
        ...credits('b', ['u3']),
      ]
      expect(await book(group)).toEqual(['duplicate', 'reversed', 'credited'])
      expect(sent).toEqual(['Preparation', 'Batch', 'Preparation', 'Batch'])
      expect(await Promise.all(USERS.map((user) => balanceOf(store, user)))).toEqual([1_000n, 0n, 2_000n])
      expect(await countOf('ledger')).toBe(5)
      expect(await countOf('outbox')).toBe(5)
      expect(await countOf('postbacks')).toBe(9)
    })

    it('is credited again where the database lost it', async () => {
      await book(credits('a'))
      await runSql(url, `delete from paidonce_ledger where user_id = 'u2'`)
      await runSql(url, `update paidonce_wallets set balance = 0 where user_id = 'u2'`)
      expect(await book(credits('a'))).toEqual(['duplicate', 'credited', 'duplicate'])
      expect(await balanceOf(store, 'u2')).toBe(1_000n)
      expect(await countOf('ledger')).toBe(3)
      expect(await countOf('postbacks')).toBe(6)
    })
  })
})

describe('the odds of a guess', () => {
  it('are bad after two wrong ones in a row, and good again after a while', () => {
    const odds = new Odds()
    expect(odds.areGood).toBe(true)
    odds.note(true)
    expect(odds.areGood).toBe(true)
    odds.note(true)
    expect(odds.areGood).toBe(false)
    for (let group = 0; group < 4; group += 1) odds.note(false)
    expect(odds.areGood).toBe(true)
  })
})
