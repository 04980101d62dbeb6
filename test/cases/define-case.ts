/**
 * A case is one test on every dialect, with the same checks at its end.
 *
 * @module
 */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { DIALECTS, type DialectServer } from '../dialects/index.js'
import { Bench } from './bench.js'
import { checkInvariants } from './check-invariants.js'

export type RunCase = (bench: Bench) => Promise<void>
export type DefineCase = (number: string, title: string, run: RunCase) => void

const START_MS = 90_000
const CASE_MS = 45_000

/** Opens one database and one receiver on every dialect for the cases of a file. */
export function openBenches(): DefineCase {
  const benches = new Map<string, Bench>()
  const servers: DialectServer[] = []
  beforeAll(async () => {
    const started = await Promise.allSettled(
      DIALECTS.map(async ({ name, start }) => {
        const server = await start()
        servers.push(server)
        benches.set(name, await Bench.open(server, name))
      }),
    )
    // Only now, so that a server that came up after another's failure is stopped as well.
    for (const result of started) if (result.status === 'rejected') throw result.reason
  }, START_MS)
  afterAll(async () => {
    await Promise.all([...benches.values()].map((bench) => bench.close()))
    await Promise.all(servers.map((server) => server.stop()))
  }, START_MS)

  return (number, title, run) => {
    describe(`${number} ${title}`, () => {
      // The dialects share nothing, so the slow cases wait on all of them at once.
      for (const { name } of DIALECTS) {
        test.concurrent(
          name,
          async () => {
            const bench = benches.get(name)
            if (bench === undefined) throw new Error(`The dialect ${name} did not start.`)
            await run(bench)
            await checkInvariants(bench)
          },
          CASE_MS,
        )
      }
    })
  }
}
