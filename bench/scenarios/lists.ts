/**
 * `lists`: how long the admin API's lists take on five million entries and as many calls, filter by filter.
 *
 * @module
 */
import { ADMIN_TOKEN, startContender } from '../contenders.js'
import { DEEP_NETWORKS, fillDeep } from '../deep/load.js'
import { listQueries, type Known } from '../deep/list-queries.js'
import type { Measure, ResultRow } from '../result-row.js'
import { scenarioRow, type Scenario } from './scenario.js'

/** Calls of one filter, each with other values. */
const CALLS = 40
/** Calls before them, which are not counted: the server compiles, the database reads what the tables' ends are. */
const WARM_UP = 5
const MOST_MS = 50
/** Rows whose ids are asked for, spread over the whole time. */
const KNOWN = 60

export const LISTS: Scenario = {
  name: 'lists',
  stores: ['postgres', 'mariadb', 'sqlite'],
  connections: 1,
  needsWrk: false,
  async run(sitting, store): Promise<ResultRow> {
    const database = await (await sitting.serverOf(store)).newDatabase()
    const drop = sitting.cleanup.defer(() => database.drop())
    await fillDeep(sitting, database, { inbox: true })
    const { folder, cleanup } = sitting
    const start = { database, wallets: 0, networks: DEEP_NETWORKS, folder, profile: null, cleanup }
    const running = await startContender('Paidonce', start)
    const base = running.processes[0]?.base ?? ''
    const figures: Figure[] = []
    for (const { name, pair, path } of listQueries(await readKnown(base))) {
      const times: number[] = []
      for (let call = -WARM_UP; call < CALLS; call += 1) {
        const took = await timeOf(base, path(call + WARM_UP))
        if (call >= 0) times.push(took)
      }
      figures.push({ name, pair, p95: p95Of(times) })
    }
    await running.stop()
    await drop()
    const [single, pairs] = [false, true].map((wanted) =>
      figures.filter(({ pair }) => pair === wanted).sort((a, b) => b.p95 - a.p95),
    )
    return scenarioRow(LISTS, sitting, {
      store,
      // How long it takes is what is measured: of two rows the one of more entries is the better founded.
      rounds: 1,
      seconds: 1,
      size: sitting.lengths.rows,
      measures: [
        { ...worstOf('p95 of the slowest filter', single), limits: { must: MOST_MS } },
        worstOf('of two together', pairs),
      ],
      notes: [
        `${sitting.lengths.rows} entries and as many calls; p95 of ${CALLS} calls each, in milliseconds: ${textOf(single)}; two together: ${textOf(pairs)}`,
      ],
    })
  },
}

interface Figure {
  readonly name: string
  readonly pair: boolean
  readonly p95: number
}

/** `figures` come with the slowest first. */
function worstOf(what: string, figures: readonly Figure[] = []): Measure {
  return { what, unit: 'ms', better: 'lower', value: figures[0]?.p95 ?? Number.NaN }
}

function textOf(figures: readonly Figure[] = []): string {
  return figures.map(({ name, p95 }) => `${name} ${p95.toFixed(1)}`).join(', ')
}

/** Ids and times of calls from the newest to the oldest. */
async function readKnown(base: string): Promise<readonly Known[]> {
  const [newest] = await read<Known>(base, '/postbacks?limit=1')
  const last = Date.parse(newest?.receivedAt ?? '')
  const known: Known[] = []
  for (let place = 0; place < KNOWN; place += 1) {
    const until = new Date(last - (place / KNOWN) * 390 * 86_400_000).toISOString()
    const rows = await read<Known>(base, `/postbacks?limit=20&until=${until}`)
    const row = rows.find(({ transactionId, user }) => transactionId !== null && user !== null)
    if (row !== undefined) known.push(row)
  }
  return known
}

async function read<T>(base: string, path: string): Promise<readonly T[]> {
  const response = await get(base, path)
  return ((await response.json()) as { readonly items: readonly T[] }).items
}

async function timeOf(base: string, path: string): Promise<number> {
  const began = performance.now()
  const response = await get(base, path)
  await response.text()
  return performance.now() - began
}

async function get(base: string, path: string): Promise<Response> {
  const response = await fetch(`${base}/api/v1${path}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  // An id that does not exist is asked for too.
  if (!response.ok && response.status !== 404)
    throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
  return response
}

function p95Of(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN
}
