/**
 * `blip`: the one hot wallet's row is held once for 300 ms. How fast is it again?
 *
 * @module
 */
import { planOf } from '../one-run.js'
import { userName } from '../load/calls.js'
import { ratePerSecond, readAnswered, startSampler } from '../processes/sampler.js'
import type { ResultRow, StoreName } from '../result-row.js'
import type { Sitting } from '../sitting.js'
import { median } from '../statistics.js'
import { MOST_PER_SECOND, openStage, WARM_UP_SECONDS } from '../stage.js'
import { scenarioRow, type Scenario } from './scenario.js'

const CONNECTIONS = 64
const HELD_MS = 300
/** A server that was just started gets faster for a while: what is slower before it would flatter what comes after. */
const SETTLING_MS = 2_000
/** The rate before is taken over this long. */
const BEFORE_MS = 2_000
/** When it has to be fast again, and over how long that is measured. */
const RECOVERY_MS = 2_000
const AFTER_MS = 2_000
const SAMPLE_MS = 100
/** Longer than all of it. */
const SECONDS = 10

export const BLIP: Scenario = {
  name: 'blip',
  stores: ['postgres', 'mariadb'],
  connections: CONNECTIONS,
  needsWrk: true,
  async run(sitting, store): Promise<ResultRow> {
    const shares: number[] = []
    for (let round = 0; round < sitting.lengths.rounds; round += 1) {
      const { before, after } = await runRound(sitting, store)
      sitting.say(`  ${round + 1}. ${Math.round(before)} calls/s before, ${Math.round(after)} after`)
      shares.push((after / before) * 100)
    }
    return scenarioRow(BLIP, sitting, {
      store,
      seconds: SECONDS,
      measures: [
        {
          what: `calls/s from ${RECOVERY_MS / 1_000} s after it, of those before`,
          unit: '%',
          better: 'higher',
          value: median(shares),
          low: Math.min(...shares),
          high: Math.max(...shares),
          limits: { must: 90 },
        },
      ],
    })
  },
}

async function runRound(
  sitting: Sitting,
  store: StoreName,
): Promise<{ readonly before: number; readonly after: number }> {
  const plan = planOf('hot')
  const stage = await openStage(sitting, { store, contender: 'Paidonce' })
  const file = await sitting.urls.fileOf(plan, (SECONDS + WARM_UP_SECONDS) * MOST_PER_SECOND)
  const { taken } = await stage.send({ file, connections: CONNECTIONS, seconds: WARM_UP_SECONDS })
  const load = stage.send({ file, connections: CONNECTIONS, seconds: SECONDS, skip: taken })
  const sampler = startSampler(SAMPLE_MS, () => readAnswered(stage.base))
  await pause(SETTLING_MS)
  const start = performance.now()
  await pause(BEFORE_MS)
  const hold = await stage.database.holdWallet(userName(plan.wallets.first))
  const heldAt = performance.now()
  await pause(HELD_MS)
  await hold.release()
  const fastAt = performance.now() + RECOVERY_MS
  await load
  await sampler.stop()
  await stage.finish()
  return {
    before: ratePerSecond(sampler.samples, start, heldAt),
    after: ratePerSecond(sampler.samples, fastAt, fastAt + AFTER_MS),
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
