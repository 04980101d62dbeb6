/**
 * One run of one contender: an empty database, a fresh process, a second of warm-up, the measured seconds, the check.
 *
 * @module
 */
import type { ContenderName } from './contenders.js'
import type { CallPlan } from './load/calls.js'
import type { LoadReport } from './load/wrk.js'
import type { Figures, StoreName } from './result-row.js'
import type { Sitting } from './sitting.js'
import { MOST_PER_SECOND, openStage, WALLETS, WARM_UP_SECONDS, type Stage } from './stage.js'
import type { Traffic } from './workloads.js'

/** Of `replay`: booked before, so that every measured call is a copy. */
const REPLAYED = 20_000
/** Far longer than it takes: a load ends with its file. */
const UNTIL_BOOKED_SECONDS = 120

export interface RunOptions {
  readonly store: StoreName
  readonly contender: ContenderName
  readonly traffic: Traffic
  /** Over all processes together. */
  readonly connections: number
}

export async function runOnce(sitting: Sitting, options: RunOptions): Promise<Figures> {
  const stage = await openStage(sitting, options)
  const reports = await loadStage(sitting, stage, options)
  await stage.finish()
  return figuresOf(options.contender, reports)
}

/** Loads every process of a stage at the same time, each with calls of its own. */
export async function loadStage(
  sitting: Sitting,
  stage: Stage,
  { traffic, connections }: Pick<RunOptions, 'traffic' | 'connections'>,
): Promise<readonly LoadReport[]> {
  const { seconds } = sitting.lengths
  const share = Math.floor(connections / stage.processes.length)
  const lines = traffic === 'replay' ? REPLAYED : (seconds + WARM_UP_SECONDS) * MOST_PER_SECOND
  // All files before the first load: writing one takes the time that a load should have.
  const loads = []
  for (const [place, { base }] of stage.processes.entries()) {
    loads.push({ base, connections: share, file: await sitting.urls.fileOf(planOf(traffic, place), lines) })
  }
  return Promise.all(
    loads.map(async (load) => {
      if (traffic === 'replay') {
        await stage.send({ ...load, seconds: UNTIL_BOOKED_SECONDS })
        return stage.send({ ...load, seconds, cycle: true }, { copies: true })
      }
      const { taken } = await stage.send({ ...load, seconds: WARM_UP_SECONDS })
      const report = await stage.send({ ...load, seconds, skip: taken })
      if (report.exhausted) sitting.say(`  the calls were used up after ${report.seconds.toFixed(1)} s`)
      return report
    }),
  )
}

/** Kinds of traffic and processes have seeds of their own, so that no file has a transaction of another one. */
export function planOf(traffic: Traffic, place = 0): CallPlan {
  const kind = { spread: 1, hot: 2, replay: 3, mixed: 4 }[traffic]
  return {
    seed: kind * 100 + place,
    wallets: { first: 1, last: traffic === 'hot' ? 1 : WALLETS },
    mixed: traffic === 'mixed',
  }
}

/** Of several processes the calls add up, and the worse latency counts. */
export function figuresOf(name: string, reports: readonly LoadReport[]): Figures {
  const worst = (pick: (report: LoadReport) => number): number => Math.max(...reports.map(pick))
  return {
    name,
    perSecond: reports.reduce((sum, { requests, seconds }) => sum + requests / seconds, 0),
    p50: worst(({ latency }) => latency.p50),
    p99: worst(({ latency }) => latency.p99),
    max: worst(({ latency }) => latency.max),
  }
}
