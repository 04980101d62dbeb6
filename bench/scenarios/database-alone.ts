/**
 * `database-alone`: the statements of recorded groups, replayed by pgbench. Whatever Paidonce does in Node.js can only
 * come near that, as long as it sends these statements.
 *
 * @module
 */
import { medianOf } from '../comparison.js'
import { startContender } from '../contenders.js'
import { findPgbench, loadValues, runPgbench } from '../floor/pgbench.js'
import { startRecorder } from '../floor/recorder.js'
import { replayOf, type Replay } from '../floor/script.js'
import { countLedger, LedgerFault } from '../ledger-check.js'
import { planOf, runOnce } from '../one-run.js'
import type { Figures, ResultRow } from '../result-row.js'
import type { Sitting } from '../sitting.js'
import { MOST_PER_SECOND, WALLETS } from '../stage.js'
import { ratioByPairs } from '../statistics.js'
import { scenarioRow, type Scenario } from './scenario.js'

const CONNECTIONS = 64
/** A connection that carried less than this share of the groups was not one of those that take turns. */
const LEAST_SHARE = 0.05

/** Recorded groups, and how many connections of the store they came over. */
interface Recording {
  readonly replay: Replay
  readonly clients: number
}

export const DATABASE_ALONE: Scenario = {
  name: 'database-alone',
  stores: ['postgres'],
  connections: CONNECTIONS,
  needsWrk: true,
  async run(sitting, store): Promise<ResultRow> {
    const program = await findPgbench()
    const recording = await record(sitting)
    const ours: Figures[] = []
    const alone: Figures[] = []
    let size = 0
    for (let round = 0; round < sitting.lengths.rounds; round += 1) {
      const runs = [
        async () => {
          const run = { store, contender: 'Paidonce', traffic: 'spread', connections: CONNECTIONS } as const
          ours.push(await runOnce(sitting, run))
        },
        async () => {
          const result = await replay(sitting, program, recording)
          size = result.size
          alone.push(result.figures)
        },
      ]
      for (const run of round % 2 === 0 ? runs : runs.reverse()) await run()
      const [rate = 0, floor = 0] = [ours, alone].map((each) => Math.round(each.at(-1)?.perSecond ?? 0))
      sitting.say(`  ${round + 1}. ${rate} calls/s of Paidonce, ${floor} of pgbench`)
    }
    const { clients } = recording
    return scenarioRow(DATABASE_ALONE, sitting, {
      store,
      ours: medianOf('Paidonce', ours),
      rival: medianOf('pgbench', alone),
      measures: [
        {
          what: 'calls/s of pgbench',
          unit: '×',
          better: 'higher',
          ...ratioByPairs(
            ours.map(({ perSecond }) => perSecond),
            alone.map(({ perSecond }) => perSecond),
          ),
        },
      ],
      notes: [
        `pgbench replays recorded groups of ${size.toFixed(1)} calls on the average over ${clients} connections`,
      ],
    })
  },
}

/** Runs a server as in `spread` behind a recorder, for twice as long: the replay is faster. */
async function record(sitting: Sitting): Promise<Recording> {
  const { folder, cleanup, lengths } = sitting
  const database = await (await sitting.serverOf('postgres')).newDatabase()
  const drop = cleanup.defer(() => database.drop())
  const recorder = await startRecorder(database.url, cleanup)
  const behind = { ...database, url: recorder.url }
  const running = await startContender('Paidonce', {
    database: behind,
    wallets: WALLETS,
    folder,
    profile: null,
    cleanup,
  })
  const base = running.processes[0]?.base ?? ''
  const seconds = lengths.seconds * 2
  const file = await sitting.urls.fileOf(planOf('spread'), seconds * MOST_PER_SECOND)
  await sitting.load({ base, file, connections: CONNECTIONS, seconds })
  await running.stop()
  await recorder.stop()
  await drop()
  const all = [...recorder.groups.values()]
  const groups = all.flat()
  const clients = all.filter((each) => each.length >= groups.length * LEAST_SHARE).length
  return { replay: replayOf(groups, Math.max(1, clients)), clients }
}

async function replay(
  sitting: Sitting,
  program: string,
  { replay, clients }: Recording,
): Promise<{ readonly figures: Figures; readonly size: number }> {
  const { folder, cleanup } = sitting
  const database = await (await sitting.serverOf('postgres')).newDatabase()
  const drop = cleanup.defer(() => database.drop())
  // A server makes the tables.
  const start = { database, wallets: WALLETS, folder, profile: null, cleanup }
  await (await startContender('Paidonce', start)).stop()
  await loadValues(database.url, replay)
  await database.settle()
  const groupsPerSecond = await runPgbench(replay, { program, url: database.url, clients, folder })
  const { credits, wrongBalances, strays } = await countLedger(database, true)
  if (wrongBalances > 0 || strays > 0) throw new LedgerFault(['pgbench left balances that are wrong'])
  const size = credits / replay.rows.length
  await drop()
  const unknown = { p50: Number.NaN, p99: Number.NaN, max: Number.NaN }
  return { figures: { name: 'pgbench', perSecond: groupsPerSecond * size, ...unknown }, size }
}
