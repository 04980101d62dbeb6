/**
 * `deep`: as `spread`, on a ledger that has five million rows already. Each round stands beside a plain run.
 *
 * @module
 */
import { openStage } from '../stage.js'
import { DEEP_NETWORKS, fillDeep } from '../deep/load.js'
import { figuresOf, loadStage, runOnce } from '../one-run.js'
import { medianOf } from '../comparison.js'
import type { Figures, ResultRow, StoreName } from '../result-row.js'
import type { Sitting } from '../sitting.js'
import { ratioByPairs } from '../statistics.js'
import { count } from '../table.js'
import { scenarioRow, type Scenario } from './scenario.js'

const CONNECTIONS = 64

export const DEEP: Scenario = {
  name: 'deep',
  stores: ['postgres', 'sqlite'],
  connections: CONNECTIONS,
  needsWrk: true,
  async run(sitting, store): Promise<ResultRow> {
    const traffic = { traffic: 'spread', connections: CONNECTIONS } as const
    const plain: Figures[] = []
    const deep: Figures[] = []
    for (let round = 0; round < sitting.lengths.rounds; round += 1) {
      const runs = [
        async () => plain.push(await runOnce(sitting, { store, contender: 'Paidonce', ...traffic })),
        async () => deep.push(await runDeep(sitting, store)),
      ]
      for (const run of round % 2 === 0 ? runs : runs.reverse()) await run()
      const rates = [plain, deep].map((runs) => Math.round(runs.at(-1)?.perSecond ?? 0))
      sitting.say(
        `  ${round + 1}. ${rates[0] ?? 0} calls/s on an empty ledger, ${rates[1] ?? 0} on a deep one`,
      )
    }
    return scenarioRow(DEEP, sitting, {
      store,
      size: sitting.lengths.rows,
      ours: medianOf('Paidonce, deep', deep),
      rival: medianOf('Paidonce, empty', plain),
      measures: [
        {
          what: 'calls/s of spread',
          unit: '×',
          better: 'higher',
          ...ratioByPairs(
            deep.map(({ perSecond }) => perSecond),
            plain.map(({ perSecond }) => perSecond),
          ),
          limits: { must: 0.85, goal: 0.95 },
        },
      ],
      notes: [`${count(sitting.lengths.rows)} rows were in the ledger before`],
    })
  },
}

async function runDeep(sitting: Sitting, store: StoreName): Promise<Figures> {
  const server = await sitting.serverOf(store)
  const filled = await server.newFilledDatabase(`deep-${sitting.lengths.rows}`, (database) =>
    fillDeep(sitting, database, { inbox: false }),
  )
  const stage = await openStage(sitting, { store, contender: 'Paidonce', filled, networks: DEEP_NETWORKS })
  const reports = await loadStage(sitting, stage, { traffic: 'spread', connections: CONNECTIONS })
  await stage.finish()
  return figuresOf('Paidonce', reports)
}
