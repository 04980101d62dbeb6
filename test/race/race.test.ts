import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import pg from 'pg'
import { DIALECTS, type Database, type DialectServer } from '../dialects/index.js'
import { checkLedger } from '../oracle/check-ledger.js'
import { singleStatementWriter } from './single-statement.js'
import { race, seeded, type RaceReport } from './race.js'
import { raceInProcesses } from './race-processes.js'

const SECONDS = Number(process.env['RACE_SECONDS'] ?? 10)
const PROCESSES = 3
const WRITERS_EACH = 2
const WRITERS = PROCESSES * WRITERS_EACH
const SEED = Number(process.env['RACE_SEED'] ?? Date.now() % 2 ** 31)

for (const { name, start } of DIALECTS) {
  describe(`race on ${name}, seed ${SEED}`, () => {
    let server: DialectServer
    let database: Database
    beforeAll(async () => {
      server = await start()
      database = await server.newDatabase()
    }, 60_000)
    afterAll(async () => {
      await database.close()
      await server.stop()
    })

    it(
      `${WRITERS} connections for ${SECONDS} s: no entry contradicts the rule, running balances are unbroken`,
      async () => {
        await database.open()
        for (const user of ['u0', 'u1', 'u2']) await database.addWallet(user)
        const report = await raceInProcesses({
          url: database.url,
          processes: PROCESSES,
          writers: WRITERS_EACH,
          milliseconds: SECONDS * 1_000,
          seed: SEED,
        })
        expect(checkLedger(await database.raw(), report.sent)).toEqual([])
        expectReached(report, name)
      },
      (SECONDS + 60) * 1_000,
    )

    if (name === 'postgres') {
      it('the canary: one statement that reads and writes breaks the ledger within seconds', async () => {
        const own = await server.newDatabase()
        await own.open()
        for (const user of ['u0', 'u1', 'u2']) await own.addWallet(user)
        const pool = new pg.Pool({ connectionString: own.url, max: WRITERS })
        const faults: string[] = []
        for (let round = 0; round < 5 && faults.length === 0; round += 1) {
          const report = await race(
            Array.from({ length: WRITERS }, () => singleStatementWriter(pool)),
            2_000,
            seeded(SEED + round),
          )
          faults.push(...checkLedger(await own.raw(), report.sent))
        }
        await pool.end()
        await own.close()
        expect(faults.length).toBeGreaterThan(0)
      }, 60_000)
    }
  })
}

/** The race proves something only where the rare paths were taken. */
function expectReached(report: RaceReport, name: string): void {
  expect(report.groups).toBeGreaterThan(100)
  const outcomes = new Set(report.sent.map((call) => call.outcome))
  for (const outcome of ['credited', 'duplicate', 'conflict', 'reversed', 'already_reversed', 'tombstoned']) {
    expect(outcomes, `${outcome} on ${name}`).toContain(outcome)
  }
  // SQLite has one writer, so nothing can be raced or locked inside a transaction there; it can only be busy.
  if (name === 'sqlite') expect(report.retried, 'busy').toBeGreaterThan(0)
  else {
    expect(report.raced, 'raced').toBeGreaterThan(0)
    expect(report.busy, 'busy').toBeGreaterThan(0)
  }
}
