import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BenchDatabase, BenchServer } from '../../bench/databases/database.js'
import { startBenchSqlite } from '../../bench/databases/sqlite.js'
import {
  addSent,
  checkLedger,
  countLedger,
  countsSince,
  findFaults,
  NOTHING_SENT,
  sentBy,
  type Sent,
} from '../../bench/ledger-check.js'
import { callAt, SECRET, signedPath } from '../../bench/load/calls.js'
import type { LoadReport } from '../../bench/load/wrk.js'
import { planOf } from '../../bench/one-run.js'
import { createReceiver } from '../../src/receiver/create-receiver.js'
import { openSqlite } from '../../src/stores/sqlite/index.js'

const PLAN = { ...planOf('spread'), wallets: { first: 1, last: 3 } }
const SENT: Sent = { ...NOTHING_SENT, credits: { least: 20, most: 20 }, kept: { least: 20, most: 20 } }

let folder: string
let server: BenchServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-check-'))
  server = await startBenchSqlite(folder)
})

afterAll(() => rm(folder, { recursive: true }))

describe("a ledger of Paidonce's", () => {
  let database: BenchDatabase

  beforeEach(async () => {
    database = await server.newDatabase()
    const store = await openSqlite(database.url.replace('sqlite:', ''), { outbox: true })
    const receiver = createReceiver({
      store,
      networks: { sharklio: { profile: 'sharklio', secret: SECRET } },
    })
    await receiver.start()
    await database.fillWallets(3)
    for (let index = 0; index < 20; index += 1) {
      const url = signedPath(callAt(PLAN, index))
      await receiver.handle({
        method: 'GET',
        url,
        headers: {},
        body: new Uint8Array(),
        remoteAddress: '127.0.0.1',
      })
    }
    await receiver.close()
    await store.close()
  })

  const damage = (sql: string): void => {
    const raw = new BetterSqlite(database.url.replace('sqlite:', ''))
    // Somebody who damages a file is not stopped by the store's own triggers and keys either.
    raw.pragma('foreign_keys = off')
    raw.exec(sql)
    raw.close()
  }

  it('that is right has no fault', async () => {
    await checkLedger(database, true, SENT)
  })

  it.each([
    [
      'a balance that was changed',
      `update paidonce_wallets set balance = balance + 1 where user_id = 'user-00001'`,
      'wallets whose balance is not the sum of their entries: 1, expected 0',
    ],
    [
      'an entry that is gone',
      'delete from paidonce_ledger where id = (select max(id) from paidonce_ledger)',
      'credit rows: 19, expected 20',
    ],
    [
      'an entry that is there twice under another key',
      `create temp table copy as select * from paidonce_ledger limit 1;
       update copy set id = 10000, transaction_key = 'another';
       insert into paidonce_ledger select * from copy`,
      'credit rows: 21, expected 20',
    ],
    [
      'an outbox row that is gone',
      'delete from paidonce_outbox where rowid = (select min(rowid) from paidonce_outbox)',
      'outbox rows: 19, expected 20',
    ],
    [
      'an inbox row that is gone',
      'delete from paidonce_postbacks where id = (select min(id) from paidonce_postbacks)',
      'inbox rows answered 200: 19, expected 20',
    ],
    [
      'a balance_after that is wrong',
      'update paidonce_ledger set balance_after = balance_after + 1 where id = (select min(id) from paidonce_ledger)',
      'entries whose balance_after does not follow: ',
    ],
    [
      'a wallet that is gone',
      `delete from paidonce_wallets where user_id = 'user-00001'`,
      'entries of users without a wallet: ',
    ],
  ])('with %s is found out', async (_title, sql, fault) => {
    damage(sql)
    await expect(checkLedger(database, true, SENT)).rejects.toThrow(fault)
  })

  it('that was filled before is held against what came on top', async () => {
    const before = await countLedger(database, true)
    const after = { ...before, credits: before.credits + 3 }
    expect(countsSince(before, after)).toMatchObject({ credits: 3, paidonce: { entries: 0, kept: 0 } })
    await checkLedger(database, true, NOTHING_SENT, before)
    await expect(checkLedger(database, true, SENT, before)).rejects.toThrow('credit rows: 0, expected 20')
  })
})

describe("a ledger of the textbook handler's", () => {
  it.each([
    ["insert into transactions values ('t', 'credit', 'user-00001', 5, '')", 'wallets whose balance'],
    [
      "insert into transactions values ('t', 'credit', 'nobody', 5, '')",
      'entries of users without a wallet: 1',
    ],
    ["update users set balance = 1 where id = 'user-00002'", 'wallets whose balance'],
  ])('is checked as well: %s', async (sql, fault) => {
    const database = await server.newDatabase()
    await database.makeTextbookTables(3)
    await checkLedger(database, false, NOTHING_SENT)
    const raw = new BetterSqlite(database.url.replace('sqlite:', ''))
    raw.exec(sql)
    raw.close()
    await expect(checkLedger(database, false, NOTHING_SENT)).rejects.toThrow(fault)
  })
})

describe('what was sent', () => {
  const file = { path: '', plan: PLAN, lines: 1_000 }
  const report = (part: Partial<LoadReport> = {}): LoadReport => ({
    requests: 100,
    seconds: 1,
    taken: 100,
    exhausted: false,
    statuses: {},
    errors: { connect: 0, read: 0, write: 0, status: 0, timeout: 0 },
    latency: { p50: 1, p90: 1, p99: 1, p99Rest: 1, max: 1 },
    ...part,
  })
  const errors = (part: Partial<LoadReport['errors']>): LoadReport =>
    report({ errors: { ...report().errors, ...part } })
  const counts = { credits: 100, reversals: 0, wrongBalances: 0, strays: 0 }

  it('is all booked, or was in flight at the end', () => {
    expect(sentBy({ file, report: report() }).credits).toEqual({ least: 100, most: 100 })
    const open = sentBy({ file, report: report({ taken: 110 }) })
    expect([open.credits, open.kept]).toEqual([
      { least: 100, most: 110 },
      { least: 100, most: 110 },
    ])
  })

  it('books nothing where all of it was a copy', () => {
    const copies = sentBy({ file, report: report(), copies: true })
    expect([copies.credits, copies.kept]).toEqual([
      { least: 0, most: 0 },
      { least: 100, most: 100 },
    ])
  })

  it('may be refused where that is allowed, and only with 503', () => {
    const refused = { ...errors({ status: 10 }), statuses: { '200': 90, '503': 10 } }
    expect(
      findFaults(sentBy({ file, report: refused, mayRefuse: true }), { ...counts, credits: 90 }),
    ).toEqual([])
    expect(findFaults(sentBy({ file, report: refused }), counts)).toContain(
      'answers of an unexpected status: 10, expected 0',
    )
  })

  it('has as many answers of 403 as forged calls', () => {
    const mixed = { ...file, plan: { ...PLAN, mixed: true } }
    expect(sentBy({ file: mixed, report: errors({ status: 5 }) }).surprises).toBe(0)
    expect(sentBy({ file: mixed, report: errors({ status: 6 }) }).surprises).toBe(1)
    expect(sentBy({ file: mixed, report: errors({ status: 4 }) }).surprises).toBe(1)
  })

  it('is a fault where a connection failed', () => {
    const sent = sentBy({ file, report: errors({ read: 1, timeout: 2 }) })
    expect(findFaults(sent, counts)).toEqual(['connections that failed: 3, expected 0'])
  })

  it('adds up', () => {
    const sum = addSent(sentBy({ file, report: report() }), sentBy({ file, report: report({ taken: 110 }) }))
    expect(sum.credits).toEqual({ least: 200, most: 210 })
  })
})
