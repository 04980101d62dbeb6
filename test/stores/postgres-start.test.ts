/**
 * What a PostgreSQL store does at start: migrate, verify, refuse.
 *
 * @module
 */
import { afterAll, describe, expect, it } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { judgeServer } from '../../src/stores/postgres/verify.js'
import { openPostgres, type OpenPostgresOptions } from '../../src/stores/postgres/index.js'
import { makeClaim } from '../../src/testing/claims.js'
import { settleOne } from '../../src/testing/suite-steps.js'
import { runSql, startPostgres } from '../servers/postgres.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

async function withDatabase(
  body: (open: (options?: OpenPostgresOptions) => Promise<LedgerStore>, database: string) => Promise<void>,
): Promise<void> {
  const database = await server.newDatabase()
  const stores: LedgerStore[] = []
  try {
    await body(async (options = {}) => {
      const store = await openPostgres(database, options)
      stores.push(store)
      return store
    }, database)
  } finally {
    for (const store of stores) await store.close()
  }
}

const refusedAs = (code: string, says: string): object => ({
  code,
  message: expect.stringContaining(says) as unknown,
  hint: expect.any(String) as unknown,
})

describe('PostgreSQL at start', () => {
  it('several receivers migrate an empty database at once', () =>
    withDatabase(async (open) => {
      const stores = await Promise.all([open(), open(), open(), open()])
      const findings = await Promise.all(stores.map((store) => store.start()))
      expect(findings.flat().filter(({ severity }) => severity !== 'ok')).toEqual([])
      const ids = await Promise.all(stores.map((store) => store.readSetting('ledger_id')))
      expect(new Set(ids).size).toBe(1)
      expect(await stores[0].migrationSql('pending')).toBe('')
    }))

  it('"check" refuses a schema that is behind, and takes one that another tool made', () =>
    withDatabase(async (open, database) => {
      const store = await open({ migrate: 'check' })
      await expect(store.start()).rejects.toMatchObject(refusedAs('schema_behind', 'lacks the migrations 1'))
      const before = await store.inspect()
      expect(before.filter(({ severity }) => severity === 'refuse').map(({ check }) => check)).toEqual([
        'schema',
      ])
      const script = await store.migrationSql('pending')
      expect(script).toBe(await store.migrationSql('all'))
      await runSql(database, script)
      await store.start()
      expect((await store.inspect()).filter(({ severity }) => severity !== 'ok')).toEqual([])
    }))

  it('"off" applies nothing and still verifies', () =>
    withDatabase(async (open) => {
      await expect((await open({ migrate: 'off' })).start()).rejects.toMatchObject({ failure: 'away' })
    }))

  it('a prefix and a schema of their own keep two ledgers apart', () =>
    withDatabase(async (open) => {
      const one = await open({ tables: { prefix: 'a_', schema: 'Rewards' } })
      const two = await open()
      for (const store of [one, two]) {
        await store.start()
        await store.createWallet('u1')
        expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('credited')
      }
    }))

  it('another amount scale is refused', () =>
    withDatabase(async (open) => {
      await (await open()).start()
      const other = await open({ amountScale: 2 })
      await expect(other.start()).rejects.toMatchObject(refusedAs('ledger_mismatch', 'amountScale 3'))
      expect((await other.inspect()).find(({ check }) => check === 'amount_scale')?.severity).toBe('refuse')
    }))

  it('a changed or newer migration is refused', () =>
    withDatabase(async (open, database) => {
      const store = await open()
      await store.start()
      await runSql(database, "update paidonce_migrations set checksum = 'other'")
      await expect(store.start()).rejects.toMatchObject(refusedAs('schema_changed', 'another text'))
      await runSql(database, 'delete from paidonce_migrations where number > 1')
      await runSql(database, 'update paidonce_migrations set number = 99')
      await expect(store.start()).rejects.toMatchObject(refusedAs('schema_changed', 'migration 99'))
    }))

  const breakages = [
    {
      name: 'a read-only primary',
      sql: (name: string) => `alter database ${name} set default_transaction_read_only = on`,
      says: 'read-only',
    },
    {
      name: 'synchronous_commit off',
      sql: (name: string) => `alter database ${name} set synchronous_commit = off`,
      says: 'synchronous_commit is off',
    },
    {
      name: 'a lost unique key',
      sql: () => 'alter table paidonce_ledger drop constraint paidonce_ledger_key',
      says: 'has no unique key',
    },
    {
      name: 'an invalid unique key',
      sql: () => "update pg_index set indisvalid = false where indexrelid = 'paidonce_ledger_key'::regclass",
      says: 'is invalid',
    },
    {
      name: 'a key column that folds case',
      sql: () =>
        "create collation folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false); alter table paidonce_wallets alter column user_id type text collate folding",
      says: 'has the collation folding',
    },
    {
      name: 'an unlogged ledger',
      sql: () => 'alter table paidonce_ledger set unlogged',
      says: 'is unlogged',
    },
  ]
  it.each(breakages)('refused at start: $name', ({ sql, says }) =>
    withDatabase(async (open, database) => {
      await (await open()).start()
      await runSql(database, sql(new URL(database).pathname.slice(1)))
      const store = await open()
      await expect(store.start()).rejects.toMatchObject(refusedAs('database_refused', says))
      expect((await store.inspect()).filter(({ severity }) => severity === 'refuse')).toHaveLength(1)
    }),
  )

  it('a read-only primary does not answer a ping and is "away" for groups', () =>
    withDatabase(async (open, database) => {
      await (await open()).start()
      await runSql(
        database,
        `alter database ${new URL(database).pathname.slice(1)} set default_transaction_read_only = on`,
      )
      const store = await open()
      await expect(store.ping()).rejects.toMatchObject({ failure: 'away' })
      await expect(settleOne(store, makeClaim({ transactionId: 't' }))).rejects.toMatchObject({
        failure: 'away',
      })
    }))

  it('another encoding than UTF8 is refused', () =>
    withDatabase(async (_, database) => {
      await runSql(database, "create database latin encoding 'LATIN1' locale 'C' template template0")
      const address = new URL(database)
      address.pathname = '/latin'
      const store = await openPostgres(address.href)
      await expect(store.start()).rejects.toMatchObject(refusedAs('database_refused', 'LATIN1'))
      await store.close()
      await runSql(database, 'drop database latin')
    }))

  it('settings that a power failure would punish are refused, a weak standby is warned of', () => {
    const good = {
      version_number: '150003',
      version: '15.3',
      recovery: 'false',
      read_only: 'off',
      encoding: 'UTF8',
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      standbys: '',
      database: 'app',
    }
    const verdicts = (part: Partial<typeof good>): string[] =>
      judgeServer({ ...good, ...part })
        .filter(({ severity }) => severity !== 'ok')
        .map(({ check, severity }) => `${check}: ${severity}`)
    expect(verdicts({})).toEqual([])
    expect(verdicts({ fsync: 'off' })).toEqual(['fsync: refuse'])
    expect(verdicts({ full_page_writes: 'off' })).toEqual(['full_page_writes: refuse'])
    expect(verdicts({ recovery: 'true', read_only: 'on' })).toEqual(['primary: refuse'])
    expect(verdicts({ version_number: '130012', version: '13.12' })).toEqual(['version: refuse'])
    expect(verdicts({ synchronous_commit: 'local' })).toEqual([])
    expect(verdicts({ synchronous_commit: 'local', standbys: 's1' })).toEqual(['synchronous_commit: warn'])
  })

  it('an address that cannot be read is refused without repeating it', async () => {
    const error: unknown = await openPostgres('postgres://user:hunter2@[oops').catch(
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'config_invalid' })
    expect(JSON.stringify(error) + String(error)).not.toContain('hunter2')
  })
})
