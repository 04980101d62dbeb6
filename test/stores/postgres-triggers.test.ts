/**
 * Triggers of the publisher's that refuse, and receivers that freeze: nobody but the claim at fault pays for it.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { openPostgres } from '../../src/stores/postgres/index.js'
import { beginGroup, IDLE_TIMEOUT_MS } from '../../src/stores/postgres/group-statements.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { runSql, startPostgres } from '../servers/postgres.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

const USERS = ['good', 'raises', 'own_code', 'lacks', 'keeps', 'late', 'late_bug']

const SCHEMA = `create table users (id text primary key, coins numeric(19, 3) not null default 0);
create function judge() returns trigger language plpgsql as $$ begin
  if new.id = 'raises' then raise exception 'this user is blocked'; end if;
  if new.id = 'own_code' then raise exception using errcode = 'ZZ123', message = 'blocked too'; end if;
  if new.id = 'lacks' then perform 1 from a_table_that_was_dropped; end if;
  if new.id = 'keeps' then return null; end if;
  return new;
end $$;
create trigger judge before update on users for each row execute function judge();
create function judge_late() returns trigger language plpgsql as $$ begin
  if new.id = 'late' then raise exception 'this user is blocked'; end if;
  if new.id = 'late_bug' then perform 1 / 0; end if;
  return null;
end $$;
create constraint trigger judge_late after update on users deferrable initially deferred
  for each row execute function judge_late();
insert into users (id) values ${USERS.map((user) => `('${user}')`).join(', ')}`

async function onUsers(body: (store: LedgerStore, database: string) => Promise<void>): Promise<void> {
  const database = await server.newDatabase()
  await runSql(database, SCHEMA)
  const store = await openPostgres(database, { wallets: { table: 'users', id: 'id', balance: 'coins' } })
  try {
    await store.start()
    await body(store, database)
  } finally {
    await store.close()
  }
}

it("whatever a publisher's trigger does to one user, his claim is refused and his neighbours are booked", () =>
  onUsers(async (store) => {
    for (const user of USERS.filter((name) => name !== 'good')) {
      const claims = [user, 'good'].map((name) => makeClaim({ transactionId: `${user} ${name}`, user: name }))
      await expect(
        store.applyGroup(
          claims.map((claim) => makeMember(claim)),
          { waitMs: null, owns: () => true },
        ),
        user,
      ).rejects.toMatchObject({ failure: 'refused' })
      expect(await store.readTransaction('n', `${user} good`)).toEqual([])
      expect(
        (await settleOne(store, makeClaim({ transactionId: `${user} good`, user: 'good' }))).outcome,
      ).toBe('credited')
      expect(await balanceOf(store, user)).toBe(0n)
    }
    expect(await balanceOf(store, 'good')).toBe(6_000n)
  }))

it('an adjustment that a trigger undoes is refused, and not tried again and again', () =>
  onUsers(async (store) => {
    const adjust = (user: string): Promise<unknown> =>
      store.adjust({ key: user, user, amount: 5n, reason: 'r', actor: 'a', overdraw: false })
    for (const user of ['keeps', 'raises', 'late']) {
      await expect(adjust(user), user).rejects.toMatchObject({ failure: 'refused' })
    }
    expect(await store.listEntries('keeps', { limit: 5, cursor: null })).toMatchObject({ items: [] })
    expect(await adjust('good')).toMatchObject({ kind: 'booked' })
  }))

it('a receiver that freezes before its COMMIT lets go of its wallets by itself', () =>
  onUsers(async (store, database) => {
    const frozen = new pg.Client({ connectionString: database })
    frozen.on('error', () => undefined)
    await frozen.connect()
    await frozen.query(beginGroup('read committed', 200))
    await frozen.query("select 1 from users where id = 'good' for no key update")
    const claim = makeClaim({ transactionId: 't', user: 'good' })
    const apply = (): ReturnType<LedgerStore['applyGroup']> =>
      store.applyGroup([makeMember(claim)], { waitMs: null, owns: () => true })
    expect(await apply()).toMatchObject({ results: [{ kind: 'busy' }] })
    await sleep(IDLE_TIMEOUT_MS + 1_000)
    expect(await apply()).toMatchObject({ results: [{ kind: 'settled', leader: { outcome: 'credited' } }] })
    await frozen.end().catch(() => undefined)
  }))
