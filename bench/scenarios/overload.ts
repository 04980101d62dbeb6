/**
 * `overload`: two thousand connections for eight seconds, and whether the server is as before right after them.
 *
 * @module
 */
import { planOf } from '../one-run.js'
import {
  greatest,
  ratePerSecond,
  readAnswered,
  readResidentMb,
  startSampler,
  type Sample,
} from '../processes/sampler.js'
import type { LoadReport } from '../load/wrk.js'
import type { Measure } from '../result-row.js'
import { MOST_PER_SECOND, openStage, WARM_UP_SECONDS } from '../stage.js'
import { scenarioRow, type Scenario } from './scenario.js'

const MANY = 2_000
const USUAL = 64
const OVERLOAD_SECONDS = 8
const BEFORE_SECONDS = 4
const AFTER_SECONDS = 6
const RECOVERY_MS = 2_000
const SAMPLE_MS = 100
const LATEST_MS = 6_000
const LEVEL = 1.15

export const OVERLOAD: Scenario = {
  name: 'overload',
  stores: ['postgres', 'mariadb', 'sqlite'],
  connections: MANY,
  needsWrk: true,
  async run(sitting, store) {
    const seconds = WARM_UP_SECONDS + BEFORE_SECONDS + OVERLOAD_SECONDS + AFTER_SECONDS
    const file = await sitting.urls.fileOf(planOf('spread'), seconds * MOST_PER_SECOND)
    const stage = await openStage(sitting, { store, contender: 'Paidonce' })
    const usual = { file, connections: USUAL }
    let skip = (await stage.send({ ...usual, seconds: WARM_UP_SECONDS })).taken
    const before = await stage.send({ ...usual, seconds: BEFORE_SECONDS, skip })
    skip += before.taken

    const memory = startSampler(SAMPLE_MS, () => readResidentMb(stage.pid))
    const overload = await stage.send(
      { file, connections: MANY, seconds: OVERLOAD_SECONDS, skip, statuses: true },
      { mayRefuse: true },
    )
    const over = performance.now()
    await memory.stop()
    skip += overload.taken

    const answered = startSampler(SAMPLE_MS, () => readAnswered(stage.base))
    const after = await stage.send(
      { ...usual, seconds: AFTER_SECONDS, skip, statuses: true },
      { mayRefuse: true },
    )
    await answered.stop()
    await stage.finish()

    const rateBefore = before.requests / before.seconds
    const rateAfter = ratePerSecond(answered.samples, over + RECOVERY_MS, over + AFTER_SECONDS * 1_000)
    sitting.say(
      `  ${Math.round(rateBefore)} calls/s before, ${Math.round(overload.requests / overload.seconds)} meanwhile, ${Math.round(rateAfter)} after`,
    )
    return scenarioRow(OVERLOAD, sitting, {
      store,
      rounds: 1,
      seconds: OVERLOAD_SECONDS,
      measures: measuresOf(overload, memory.samples, over, (rateAfter / rateBefore) * 100),
      notes: [
        `answers by status: ${JSON.stringify(overload.statuses)}; ${Math.round(after.requests / after.seconds)} calls/s in the seconds after`,
      ],
    })
  },
}

function measuresOf(
  { statuses, latency, errors }: LoadReport,
  memory: readonly Sample[],
  over: number,
  recovered: number,
): Measure[] {
  const start = over - OVERLOAD_SECONDS * 1_000
  const second = greatest(memory, start + 2_000, start + 4_000)
  const last = greatest(memory, start + 6_000, over)
  const others = Object.entries(statuses).filter(([status]) => status !== '200' && status !== '503')
  return [
    {
      what: 'answers neither 200 nor 503',
      unit: '',
      better: 'lower',
      value: others.reduce((sum, [, count]) => sum + count, 0),
      limits: { must: 0 },
    },
    {
      what: 'connections refused, cut or left without an answer',
      unit: '',
      better: 'lower',
      value: errors.connect + errors.read + errors.write + errors.timeout,
      limits: { must: 0 },
    },
    {
      what: 'latest answer',
      unit: 'ms',
      better: 'lower',
      value: latency.max,
      limits: { must: LATEST_MS },
    },
    {
      what: 'calls/s from 2 s after it, of those before',
      unit: '%',
      better: 'higher',
      value: recovered,
      limits: { must: 90 },
    },
    {
      what: 'resident set of the last quarter, of the second',
      unit: '×',
      better: 'lower',
      value: last / second,
      limits: { must: LEVEL },
    },
    { what: 'resident set at most', unit: 'MB', better: 'lower', value: greatest(memory) },
  ]
}
