/**
 * What `locked` and `key` share: calls to all other wallets by wrk while somebody else holds something, and beside them
 * a second client whose calls are about what is held.
 *
 * @module
 */
import type { Hold } from '../databases/database.js'
import { runOnce } from '../one-run.js'
import { callAt, signedPath, type CallPlan } from '../load/calls.js'
import { openSecondClient, type Answer, type SecondClient } from '../load/second-client.js'
import type { Figures, Measure, ResultRow, StoreName } from '../result-row.js'
import type { Sitting } from '../sitting.js'
import { MOST_PER_SECOND, openStage, WALLETS, WARM_UP_SECONDS, type Stage } from '../stage.js'
import { median, ratioByPairs } from '../statistics.js'
import { scenarioRow } from './scenario.js'

export interface HeldScenario {
  readonly name: string
  readonly connections: number
  /** How long it is held. wrk begins a little before and ends a little after. */
  readonly heldMs: number
  hold(stage: Stage): Promise<Hold>
  /** How many different calls the second client has; it sends one after the other and begins again. */
  readonly calls: number
}

/** The wallet that the held row or entry is about; wrk's calls go to all others. */
export const HELD_WALLET = 1
export const HELD_PLAN: CallPlan = {
  seed: 501,
  wallets: { first: HELD_WALLET, last: HELD_WALLET },
  mixed: false,
}
const OTHERS: CallPlan = { seed: 500, wallets: { first: HELD_WALLET + 1, last: WALLETS }, mixed: false }

/** Between two calls of the second client. */
const EVERY_MS = 250
/** Of the load before something is held and after it was let go. */
const MARGIN_MS = 500

/** One round: the plain run that it is held against, and the run with something held. */
interface Round {
  readonly plain: Figures
  readonly others: { readonly p99: number; readonly max: number }
  readonly answers: readonly Answer[]
  /** Calls about what was held that were never booked. */
  readonly lost: number
}

export async function runHeld(
  scenario: HeldScenario,
  sitting: Sitting,
  store: StoreName,
): Promise<ResultRow> {
  const { connections } = scenario
  const rounds: Round[] = []
  for (let round = 0; round < sitting.lengths.rounds; round += 1) {
    const plain = await runOnce(sitting, { store, contender: 'Paidonce', traffic: 'spread', connections })
    rounds.push({ plain, ...(await runWhileHeld(scenario, sitting, store)) })
    const { others } = rounds.at(-1) ?? { others: { p99: 0, max: 0 } }
    sitting.say(
      `  ${round + 1}. p99 ${plain.p99.toFixed(1)} ms; held: ${others.p99.toFixed(1)} ms, longest ${others.max.toFixed(0)} ms`,
    )
  }
  return scenarioRow(scenario, sitting, {
    store,
    seconds: scenario.heldMs / 1_000,
    measures: measuresOf(rounds),
    notes: [
      describeAnswers(rounds.flatMap(({ answers }) => answers)),
      ...(store === 'mariadb'
        ? [`the p99 leaves out ${connections} calls: those that one time-out of InnoDB can hold`]
        : []),
    ],
  })
}

async function runWhileHeld(
  scenario: HeldScenario,
  sitting: Sitting,
  store: StoreName,
): Promise<Omit<Round, 'plain'>> {
  const { connections, heldMs, calls } = scenario
  const seconds = Math.ceil((heldMs + 2 * MARGIN_MS) / 1_000)
  const stage = await openStage(sitting, { store, contender: 'Paidonce' })
  const file = await sitting.urls.fileOf(OTHERS, (seconds + WARM_UP_SECONDS) * MOST_PER_SECOND)
  const { taken } = await stage.send({ file, connections, seconds: WARM_UP_SECONDS })
  const client = openSecondClient(stage.base)
  const paths = Array.from({ length: calls }, (_, index) => signedPath(callAt(HELD_PLAN, index)))
  const load = stage.send({ file, connections, seconds, skip: taken })
  await pause(MARGIN_MS)
  const hold = await scenario.hold(stage)
  await sendFor(heldMs, client, paths)
  await hold.release()
  const { latency } = await load
  const answers = await client.settled()
  const lost = await bookAll(client, paths)
  client.close()
  const accepted = answers.filter(({ status }) => status === 200).length + calls - lost
  stage.note({
    credits: { least: calls - lost, most: calls },
    reversals: { least: 0, most: 0 },
    kept: { least: accepted, most: accepted },
    surprises: answers.filter(({ status }) => status !== 200 && status !== 503).length,
    broken: 0,
  })
  await stage.finish()
  // InnoDB's shortest time-out is one second: the calls that are in flight during one of them are left out of the p99.
  const p99 = store === 'mariadb' ? latency.p99Rest : latency.p99
  return { others: { p99, max: latency.max }, answers, lost }
}

async function sendFor(milliseconds: number, client: SecondClient, paths: readonly string[]): Promise<void> {
  const until = performance.now() + milliseconds
  for (let place = 0; performance.now() + EVERY_MS < until; place += 1) {
    client.send(paths[place % paths.length] ?? '')
    await pause(EVERY_MS)
  }
  await pause(Math.max(0, until - performance.now()))
}

/** Sends every call once more, as its network would: each has to be booked now. */
async function bookAll(client: SecondClient, paths: readonly string[]): Promise<number> {
  let lost = 0
  for (const path of paths) {
    if (!(await client.insist(path))) lost += 1
  }
  return lost
}

function measuresOf(rounds: readonly Round[]): Measure[] {
  const p99s = rounds.map(({ others }) => others.p99)
  const waits = rounds.map(({ others }) => others.max)
  const answers = rounds.flatMap((round) => round.answers)
  return [
    {
      what: 'p99 of the other wallets, of that of spread',
      unit: '×',
      better: 'lower',
      ...ratioByPairs(
        p99s,
        rounds.map(({ plain }) => plain.p99),
      ),
      limits: { must: 2 },
    },
    {
      what: 'longest wait of the other wallets',
      unit: 'ms',
      better: 'lower',
      value: median(waits),
      low: Math.min(...waits),
      high: Math.max(...waits),
      limits: { must: 2_000, goal: 1_000 },
    },
    {
      what: 'held calls answered neither 200 nor 503',
      unit: '',
      better: 'lower',
      value: answers.filter(({ status }) => status !== 200 && status !== 503).length,
      limits: { must: 0 },
    },
    {
      what: 'held calls not booked when sent again',
      unit: '',
      better: 'lower',
      value: rounds.reduce((sum, { lost }) => sum + lost, 0),
      limits: { must: 0 },
    },
  ]
}

function describeAnswers(answers: readonly Answer[]): string {
  const longest = Math.max(...answers.map(({ milliseconds }) => milliseconds))
  const refused = answers.filter(({ status }) => status === 503).length
  return `${answers.length} calls about what was held: ${refused} answered 503, the latest after ${longest.toFixed(0)} ms`
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
