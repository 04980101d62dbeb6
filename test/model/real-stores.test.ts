import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DIALECTS, type Database, type DialectServer } from '../dialects/index.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import { checkLedger, type Sent } from '../oracle/check-ledger.js'
import { histories } from './history.js'
import { runHistory } from './run-history.js'

const RUNS = Number(process.env['MODEL_RUNS'] ?? 500)

for (const { name, start } of DIALECTS) {
  describe(`${RUNS} random histories between two receivers on ${name}`, () => {
    let server: DialectServer
    let database: Database
    let stores: LedgerStore[]
    beforeAll(async () => {
      server = await start()
      database = await server.newDatabase()
      stores = [await database.open(), await database.open()]
    }, 60_000)
    afterAll(async () => {
      await database.close()
      await server.stop()
    })

    it('leave a ledger that agrees with every answer', async () => {
      const all: Sent[] = []
      let count = 0
      await fc.assert(
        fc.asyncProperty(histories(false), async (history) => {
          count += 1
          const sent = await runHistory(history, {
            stores,
            prefix: `h${count}-`,
            addUser: (user) => database.addWallet(user),
            nextCrash: () => NEVER,
          })
          all.push(...sent)
        }),
        { numRuns: RUNS, endOnFailure: true },
      )
      expect(count).toBe(RUNS)
      expect(checkLedger(await database.raw(), all)).toEqual([])
    }, 600_000)
  })
}

const NEVER = new Promise<void>(() => undefined)
