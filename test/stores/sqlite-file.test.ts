import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { StoreError } from '../../src/errors.js'
import { borrowConnection, openConnection } from '../../src/stores/sqlite/connection.js'
import { findDriver } from '../../src/stores/sqlite/driver.js'
import { openSqlite, sqliteStore, type SqliteHandle } from '../../src/stores/sqlite/index.js'
import { createReader } from '../../src/stores/sqlite/reader.js'
import { hasWalResetFix } from '../../src/stores/sqlite/verify.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'
import { applyMembers, balanceOf, settleOne } from '../../src/testing/suite-steps.js'
import { openFileStore, startWriter, type FileStore } from './sqlite-files.js'

const PAGE = { limit: 50, cursor: null }

describe('sqlite file', () => {
  it('is made with its folder, for its owner only, under WAL and synchronous FULL', async () => {
    await onFile(async ({ file, store }) => {
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      const findings = new Map((await store.inspect()).map((one) => [one.check, one]))
      expect(findings.get('synchronous')?.message).toBe('synchronous is FULL.')
      expect(findings.get('journal_mode')?.message).toBe('journal_mode is wal.')
      expect([...findings.values()].filter((one) => one.severity === 'refuse')).toEqual([])
    })
  })

  it('is refused with another scale, and with a schema that does not know its own key', async () => {
    await onFile(async ({ file, raw }) => {
      const other = await openSqlite(file, { amountScale: 2 })
      await expect(other.start()).rejects.toMatchObject({
        code: 'ledger_mismatch',
        hint: 'Set amountScale to 3.',
      })
      await other.close()
      raw.exec('create table copy as select * from paidonce_settings; drop table paidonce_settings')
      raw.exec('alter table copy rename to paidonce_settings')
      const lax = await openSqlite(file, { migrate: 'off' })
      await expect(lax.inspect()).resolves.toContainEqual(
        expect.objectContaining({ check: 'tables', severity: 'refuse' }),
      )
      await lax.close()
    })
  })

  it('is migrated by the printed SQL as well, and checked without a change', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'a.db')
      const store = await openSqlite(file, { migrate: 'check' })
      await expect(store.start()).rejects.toMatchObject({ code: 'schema_behind' })
      expect((await store.inspect()).find((one) => one.check === 'schema')?.severity).toBe('refuse')
      const raw = openConnection(file)
      raw.exec(await store.migrationSql('pending'))
      raw.close()
      await store.start()
      expect(await store.migrationSql('pending')).toBe('')
      await store.close()
    })
  })

  it('knows which SQLite versions carry the cure of the WAL-reset bug', () => {
    const cured = ['3.44.6', '3.50.7', '3.51.3', '3.52.0', '4.0.0']
    const sick = ['3.40.1', '3.44.5', '3.45.9', '3.50.6', '3.51.2']
    const judge = (version: string): boolean => hasWalResetFix(version.split('.').map(Number))
    expect(cured.map(judge)).toEqual(cured.map(() => true))
    expect(sick.map(judge)).toEqual(sick.map(() => false))
  })
})

describe('sqlite write lock', () => {
  it('held elsewhere is a retry, or a wait that leaves the event loop alone', async () => {
    await onFile(async ({ store, raw }) => {
      await store.createWallet('u1')
      raw.exec('begin immediate')
      const members = [makeMember(makeClaim({ transactionId: 't' }))]
      await expect(applyMembers(store, members)).rejects.toMatchObject({ failure: 'retry' })
      let ticks = 0
      const ticking = setInterval(() => (ticks += 1), 5)
      await expect(applyMembers(store, members, 200)).rejects.toMatchObject({ failure: 'wallet_busy' })
      clearInterval(ticking)
      expect(ticks).toBeGreaterThan(10)

      const waiting = applyMembers(store, members, 5_000)
      await setTimeout(50)
      raw.exec('rollback')
      expect(await waiting).toMatchObject([{ kind: 'settled', leader: { outcome: 'credited' } }])
      expect(await balanceOf(store, 'u1')).toBe(1_000n)
    })
  })

  it('held elsewhere stops no list, and a list shows nothing uncommitted', async () => {
    await onFile(async ({ store, raw }) => {
      await store.createWallet('u1')
      await settleOne(store, makeClaim({ transactionId: 't' }))
      raw.exec('begin immediate')
      raw.exec('update paidonce_wallets set balance = 5; delete from paidonce_postbacks')
      expect((await store.listPostbacks({}, PAGE)).items).toHaveLength(1)
      expect((await store.listWallets(PAGE)).items).toEqual([{ user: 'u1', balance: 1_000n }])
      raw.exec('rollback')
    })
  })

  it('is free while a long read runs, and the event loop turns', async () => {
    await onFile(async ({ store, raw }) => {
      await store.createWallet('u1')
      const reader = createReader(raw)
      let done = false
      const long = reader
        .all(
          'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000000) select max(i) m from n',
          [],
        )
        .finally(() => (done = true))
      let groups = 0
      while (!done) {
        await settleOne(store, makeClaim({ transactionId: `t${groups}` }))
        groups += 1
        await setTimeout(1)
      }
      expect(await long).toEqual([{ m: 5_000_000n }])
      expect(groups).toBeGreaterThan(5)
      await reader.close()
    })
  })
})

describe('sqlite processes', () => {
  it('two processes book the same credits at once, each exactly once', async () => {
    await onFile(async ({ file, store }) => {
      for (const user of ['u0', 'u1', 'u2']) await store.createWallet(user)
      const writers = [startWriter(file, 't', 300), startWriter(file, 't', 300)]
      for (const ended of await Promise.all(writers.map((writer) => writer.ended))) {
        expect(ended).toEqual({ code: 0, stderr: '' })
      }
      const outcomes = writers.flatMap(({ lines }) => lines.map((line) => line.split(' ')[0]))
      expect(outcomes.filter((outcome) => outcome === 'credited')).toHaveLength(300)
      expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(300)
      await expectWhole(store)
      expect(await balanceOf(store, 'u0')).toBe(100_000n)
    })
  }, 60_000)

  it('a process killed in the middle of its load leaves balance and ledger equal, and loses nothing it answered', async () => {
    await onFile(async ({ file, store, raw }) => {
      for (const user of ['u0', 'u1', 'u2']) await store.createWallet(user)
      for (let round = 0; round < 3; round += 1) {
        const writer = startWriter(file, `r${round}-`, 1_000_000)
        while (writer.lines.length < 100) await setTimeout(1)
        await setTimeout(Math.random() * 30)
        writer.process.kill('SIGKILL')
        await writer.ended
        const known = raw.prepare(
          "select 1 from paidonce_ledger where id_space = 'n' and transaction_key = ?",
        )
        const lost = writer.lines
          .map((line) => line.split(' ')[1] ?? '')
          .filter((transaction) => known.get(transaction) === undefined)
        expect(lost).toEqual([])
      }
      await expectWhole(store)
      expect(raw.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
      expect((await settleOne(store, makeClaim({ transactionId: 'after', user: 'u1' }))).outcome).toBe(
        'credited',
      )
    })
  }, 60_000)
})

describe('sqlite without space', () => {
  it('books nothing by halves, is away, and resumes when there is space', async () => {
    await inFolder(async (folder) => {
      const handle = findDriver().open(join(folder, 'app.db'))
      handle.exec('pragma journal_mode = wal')
      const store = sqliteStore({ database: handle })
      await store.start()
      await store.createWallet('u1')
      handle.exec('pragma max_page_count = 60')
      let booked = 0
      let failure: unknown = null
      while (failure === null && booked < 10_000) {
        try {
          await applyMembers(store, membersFrom(booked))
          booked += 20
        } catch (error) {
          failure = error
        }
      }
      expect(failure).toBeInstanceOf(StoreError)
      expect(failure).toMatchObject({ failure: 'away' })
      expect(borrowConnection(handle).inTransaction()).toBe(false)
      expect(await balanceOf(store, 'u1')).toBe(BigInt(booked) * 1_000n)
      await expectWhole(store)
      await expect(applyMembers(store, membersFrom(booked))).rejects.toMatchObject({ failure: 'away' })

      handle.exec('pragma max_page_count = 100000')
      await applyMembers(store, membersFrom(booked))
      expect(await balanceOf(store, 'u1')).toBe(BigInt(booked + 20) * 1_000n)
      await expectWhole(store)
      await store.close()
      handle.close()
    })
  })
})

describe('sqlite handle of the app', () => {
  it('gets synchronous FULL, keeps its time-out, and its own transaction is never joined', async () => {
    await inFolder(async (folder) => {
      const handle = findDriver().open(join(folder, 'app.db'))
      handle.exec('pragma journal_mode = wal; pragma synchronous = off; pragma busy_timeout = 777')
      const store = sqliteStore({ database: handle })
      await store.start()
      await store.createWallet('u1')
      const look = borrowConnection(handle)
      expect(look.prepare('pragma synchronous').get()).toEqual({ synchronous: 2n })
      handle.exec('begin')
      await expect(settleOne(store, makeClaim({ transactionId: 't' }))).rejects.toMatchObject({
        failure: 'retry',
      })
      expect(look.inTransaction()).toBe(true)
      handle.exec('rollback')
      expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('credited')
      expect(look.prepare('pragma busy_timeout').get()).toEqual({ timeout: 777n })
      await store.close()
      handle.exec('select 1')
      handle.close()
    })
  })

  it('may keep its rollback journal, which then syncs the folder too', async () => {
    await inFolder(async (folder) => {
      const handle = findDriver().open(join(folder, 'app.db'))
      const store = sqliteStore({ database: handle })
      const findings = await store.start()
      expect(findings.find((one) => one.check === 'journal_mode')).toMatchObject({ severity: 'warn' })
      expect(findings.find((one) => one.check === 'synchronous')?.message).toBe('synchronous is EXTRA.')
      await store.createWallet('u1')
      expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('credited')
      await store.close()
      handle.close()
    })
  })

  it('works in memory, read on its own connection', async () => {
    const store = await openSqlite(':memory:')
    await store.start()
    await store.createWallet('u1')
    await settleOne(store, makeClaim({ transactionId: 't' }))
    expect((await store.listEntries('u1', PAGE)).items).toHaveLength(1)
    await store.close()
  })
})

describe('sqlite COMMIT that fails', () => {
  it.each([
    ['SQLITE_IOERR_FSYNC', 'unknown'],
    ['SQLITE_BUSY', 'retry'],
    ['SQLITE_FULL', 'away'],
  ])(
    'with %s is "%s", leaves no transaction open, and the same group passes after it',
    async (code, failure) => {
      await inFolder(async (folder) => {
        const handle = findDriver().open(join(folder, 'app.db'))
        let broken = false
        const faulty: SqliteHandle = {
          prepare: (sql) => handle.prepare(sql),
          exec: (sql) => {
            if (broken && sql === 'commit') throw Object.assign(new Error('injected'), { code })
            return handle.exec(sql)
          },
          close: () => undefined,
        }
        const store = sqliteStore({ database: faulty })
        await store.start()
        await store.createWallet('u1')
        const members = [makeMember(makeClaim({ transactionId: 't' }))]
        broken = true
        await expect(applyMembers(store, members)).rejects.toMatchObject({ failure })
        expect(borrowConnection(handle).inTransaction()).toBe(false)
        broken = false
        expect(await applyMembers(store, members)).toMatchObject([{ leader: { outcome: 'credited' } }])
        expect(await balanceOf(store, 'u1')).toBe(1_000n)
        await store.close()
        handle.close()
      })
    },
  )

  it('drops a connection of its own whose state is unknown, and works on with a new one', async () => {
    await onFile(async ({ store, file }) => {
      await store.createWallet('u1')
      const own = openConnection(file)
      own.exec('begin immediate')
      own.renew()
      expect(own.inTransaction()).toBe(false)
      expect(own.prepare('pragma synchronous').get()).toEqual({ synchronous: 2n })
      expect((await settleOne(store, makeClaim({ transactionId: 't' }))).outcome).toBe('credited')
      own.close()
      own.close()
      expect(() => own.prepare('select 1')).toThrow(StoreError)
    })
  })
})

describe('sqlite views', () => {
  it('show amounts with the full scale and times in UTC, by integers alone', async () => {
    await onFile(async ({ store, raw }) => {
      await store.createWallet('u1')
      const claim = makeClaim({ transactionId: 't', amount: 5n, receivedAmount: '0.005' })
      await settleOne(store, claim)
      await settleOne(store, makeClaim({ transactionId: 't', entry: 'reversal' }))
      for (const [key, amount] of [
        ['small', -1_005n],
        ['low', -9n * 10n ** 18n + 1_005n],
      ] as const) {
        await store.adjust({ key, user: 'u1', amount, reason: 'r', actor: 'a', overdraw: true })
      }
      const rows = raw
        .prepare('select amount, balance_after, created_at from paidonce_v_entries order by id')
        .all()
      expect(rows.map((row) => [row['amount'], row['balance_after']])).toEqual([
        ['0.005', '0.005'],
        ['-0.005', '0.000'],
        ['-1.005', '-1.005'],
        ['-8999999999999998.995', '-9000000000000000.000'],
      ])
      const created = String(rows[0]?.['created_at'])
      expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Math.abs(Date.parse(created) - Date.now())).toBeLessThan(60_000)
      expect(
        raw
          .prepare('select received_at, amount, open from paidonce_v_postbacks where id = ?')
          .get(claim.postbackId),
      ).toEqual({ received_at: '2026-01-02T03:04:05.678Z', amount: '0.005', open: 0n })
    })
  })

  it('show whole coins where the scale is 0', async () => {
    await onFile(
      async ({ store, raw }) => {
        await store.createWallet('u1')
        await store.adjust({ key: 'k', user: 'u1', amount: -7n, reason: 'r', actor: 'a', overdraw: true })
        expect(raw.prepare('select amount, balance_after from paidonce_v_entries').get()).toEqual({
          amount: '-7',
          balance_after: '-7',
        })
      },
      { amountScale: 0 },
    )
  })
})

async function onFile(
  body: (file: FileStore) => Promise<void>,
  options: Parameters<typeof openFileStore>[0] = {},
): Promise<void> {
  const opened = await openFileStore(options)
  try {
    await body(opened)
  } finally {
    if (opened.raw.inTransaction()) opened.raw.exec('rollback')
    await opened.close()
  }
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-sqlite-'))
  try {
    await body(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function membersFrom(first: number): ReturnType<typeof makeMember>[] {
  return Array.from({ length: 20 }, (_, n) => makeMember(makeClaim({ transactionId: `t${first + n}` })))
}

/** Every balance is the sum of its ledger, every running balance is unbroken, every entry has its call. */
async function expectWhole(store: FileStore['store']): Promise<void> {
  const wallets = await store.auditWallets(null, 1_000)
  for (const { balance, ledgerTotal } of wallets.items) expect(balance).toBe(ledgerTotal)
  expect((await store.auditChains(null, 1_000)).items).toEqual([])
  expect((await store.auditPairs(null, 1_000)).items).toEqual([])
}
