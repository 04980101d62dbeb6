/**
 * A contender on a database of its own, with an account of everything that is sent to it.
 *
 * @module
 */
import { contenderOf, startContender, type ContenderName } from './contenders.js'
import type { BenchDatabase } from './databases/database.js'
import { addSent, checkLedger, countLedger, NOTHING_SENT, sentBy, type Sent } from './ledger-check.js'
import type { Load, LoadReport } from './load/wrk.js'
import type { NodeProcess } from './processes/node-process.js'
import type { StoreName } from './result-row.js'
import type { Sitting } from './sitting.js'

/** Wallets that exist before a run. */
export const WALLETS = 10_000
export const WARM_UP_SECONDS = 1
/** More calls than any contender answers in a second: a file must not end before its run does. */
export const MOST_PER_SECOND = 30_000

export interface StageOptions {
  readonly store: StoreName
  readonly contender: ContenderName
  /** One that holds entries and wallets already; without it an empty one is made. */
  readonly filled?: BenchDatabase
  /** Networks that the entries of a filled database are of, beside `sharklio`. */
  readonly networks?: readonly string[]
}

export interface SentAs {
  /** All of it was booked before. */
  readonly copies?: boolean
  /** The server may answer 503; the load has to count statuses. */
  readonly mayRefuse?: boolean
}

export interface Stage {
  readonly database: BenchDatabase
  readonly processes: readonly NodeProcess[]
  /** The first process's address. */
  readonly base: string
  readonly pid: number
  /** Loads the first process, or the one that `base` names. */
  send(load: Omit<Load, 'base'> & { readonly base?: string }, as?: SentAs): Promise<LoadReport>
  /** What was sent by other means than `send`. */
  note(sent: Sent): void
  /** Stops the processes, which settles what is in flight, and holds the ledger against what was sent. */
  finish(): Promise<void>
}

export async function openStage(sitting: Sitting, options: StageOptions): Promise<Stage> {
  const { store, contender, filled, networks = [] } = options
  const { folder, profile, cleanup } = sitting
  const database = filled ?? (await (await sitting.serverOf(store)).newDatabase())
  const drop = cleanup.defer(() => database.drop())
  const { isPaidonce } = contenderOf(contender)
  const before = filled === undefined ? undefined : await countLedger(filled, isPaidonce)
  const wallets = filled === undefined ? WALLETS : 0
  const start = { database, wallets, networks, folder, profile, cleanup }
  const running = await startContender(contender, start)
  const [first] = running.processes
  if (first === undefined) throw new Error(`${contender} has no process.`)
  let sent = NOTHING_SENT
  return {
    database,
    processes: running.processes,
    base: first.base,
    pid: first.pid,
    async send(load, as = {}) {
      const report = await sitting.load({ base: first.base, ...load })
      sent = addSent(sent, sentBy({ ...load, ...as, report }))
      return report
    },
    note(more) {
      sent = addSent(sent, more)
    },
    async finish() {
      await running.stop()
      await checkLedger(database, isPaidonce, sent, before)
      await drop()
    },
  }
}
