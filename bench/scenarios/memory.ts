/**
 * `memory`: a million postbacks through one server, and what it keeps in memory on the way.
 *
 * @module
 */
import { planOf } from '../one-run.js'
import { greatest, readResidentMb, startSampler } from '../processes/sampler.js'
import type { Measure } from '../result-row.js'
import { openStage } from '../stage.js'
import { scenarioRow, type Scenario } from './scenario.js'

const CONNECTIONS = 64
const QUARTERS = 4
const SAMPLE_MS = 200
/** Far longer than a quarter takes: a load ends with its file. */
const LONGEST_SECONDS = 1_000
const MOST_MB = 220
/** What the last quarter may have more than the second: a garbage collector's breath, not a leak. */
const LEVEL = 1.1

export const MEMORY: Scenario = {
  name: 'memory',
  stores: ['postgres', 'mariadb', 'sqlite'],
  connections: CONNECTIONS,
  needsWrk: true,
  async run(sitting, store) {
    const stage = await openStage(sitting, { store, contender: 'Paidonce' })
    const started = performance.now()
    const lines = Math.ceil(sitting.lengths.postbacks / QUARTERS)
    const peaks: number[] = []
    for (let quarter = 0; quarter < QUARTERS; quarter += 1) {
      const plan = { ...planOf('spread'), seed: 600 + quarter }
      const file = await sitting.urls.fileOf(plan, lines)
      const sampler = startSampler(SAMPLE_MS, () => readResidentMb(stage.pid))
      const report = await stage.send({ file, connections: CONNECTIONS, seconds: LONGEST_SECONDS })
      await sampler.stop()
      await sitting.urls.clear()
      peaks.push(greatest(sampler.samples))
      const rate = Math.round(report.requests / report.seconds)
      sitting.say(
        `  after ${(quarter + 1) * lines}: at most ${peaks.at(-1)?.toFixed(0) ?? ''} MB, ${rate} calls/s`,
      )
    }
    const seconds = Math.round((performance.now() - started) / 1_000)
    await stage.finish()
    return scenarioRow(MEMORY, sitting, {
      store,
      rounds: 1,
      seconds,
      size: lines * QUARTERS,
      measures: measuresOf(peaks),
      notes: [
        `${lines * QUARTERS} postbacks; at most ${peaks.map((peak) => peak.toFixed(0)).join(', ')} MB in each quarter`,
      ],
    })
  },
}

function measuresOf(peaks: readonly number[]): Measure[] {
  return [
    {
      what: 'resident set at most',
      unit: 'MB',
      better: 'lower',
      value: Math.max(...peaks),
      limits: { must: MOST_MB },
    },
    {
      what: 'the last quarter of the second',
      unit: '×',
      better: 'lower',
      value: (peaks[3] ?? Number.NaN) / (peaks[1] ?? Number.NaN),
      limits: { must: LEVEL },
    },
  ]
}
