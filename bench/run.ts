/**
 * `npm run bench`: chooses what to measure, measures it, prints and stores the results.
 *
 * @module
 */
import { fileURLToPath } from 'node:url'
import { MissingServer } from '../test/servers/missing-server.js'
import { findProgram } from '../test/servers/unprivileged.js'
import { readFlags, usage, WrongFlags, type Flags } from './flags.js'
import { LedgerFault } from './ledger-check.js'
import { describeInLines, describeMachine, isInMemory, type Machine } from './machine.js'
import { writeReadme } from './readme-figures.js'
import { keyOfRow, type ResultRow } from './result-row.js'
import { mergeResults, readResults, writeResults } from './results.js'
import { openSitting, type WholeSitting } from './sitting.js'
import { comparisonTable, explanationsOf, layOut, measureTable, type Table } from './table.js'
import { chooseTasks, TASKS, titleOf, WORKLOAD_NAMES, type Task } from './tasks.js'

const RESULTS = fileURLToPath(new URL('./results', import.meta.url))
const INSTALL_WRK = 'wrk is not installed on this machine. Install it with: apt-get install wrk'

/** Resolves to the exit status: 0 fine, 1 something failed or was left out, 2 wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  const flags = flagsOrMessage(argv)
  if (typeof flags === 'string') {
    process.stderr.write(`${flags}\n`)
    return 2
  }
  if (flags.help) {
    process.stdout.write(usage(WORKLOAD_NAMES))
    return 0
  }
  if (flags.readme) return writeReadme(flags.results)
  const wrk = await findProgram('wrk')
  const { lengths, profile } = flags
  const sitting = await openSitting({ lengths, wrk, profile })
  const stopListening = endOnInterrupt(sitting)
  try {
    return await measure(sitting, flags, wrk !== null)
  } finally {
    await sitting.end()
    stopListening()
  }
}

function flagsOrMessage(argv: readonly string[]): Flags | string {
  try {
    return readFlags(argv, WORKLOAD_NAMES, RESULTS)
  } catch (error) {
    if (error instanceof WrongFlags) return error.message
    throw error
  }
}

/** An interrupted benchmark stops what it has started, then ends as an interrupted program does. */
function endOnInterrupt(sitting: WholeSitting): () => void {
  const onSignal = (): void => {
    sitting.say('Interrupted: stopping the servers …')
    void sitting.end().then(() => process.exit(130))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

async function measure(sitting: WholeSitting, flags: Flags, hasWrk: boolean): Promise<number> {
  if (await isInMemory()) {
    sitting.say(
      'The folder for temporary files is in memory, where COMMIT waits for no disk: set TMPDIR to another.',
    )
  }
  const machine = await describeMachine({})
  const tasks = chooseTasks(TASKS, flags)
  if (tasks.length === 0) sitting.say('None of these workloads is made for these stores.')
  const rows: ResultRow[] = []
  /** Titles by the reason. */
  const leftOut = new Map<string, string[]>()
  for (const [place, task] of tasks.entries()) {
    sitting.say(`[${place + 1}/${tasks.length}] ${titleOf(task)}`)
    const result = await attempt(sitting, task, hasWrk)
    // An interrupt stops the servers under a task: what it says then is no news, and there is no next one.
    if (sitting.isOver()) return 130
    if (typeof result === 'string') {
      sitting.say(`  ${result}`)
      const [reason = ''] = result.split('\n')
      leftOut.set(reason, [...(leftOut.get(reason) ?? []), titleOf(task)])
    } else {
      rows.push(result)
      // After each one, so that an interrupt loses nothing that was measured.
      await store(sitting, flags, { ...machine, databases: await sitting.versions() }, rows)
    }
  }
  const measured = { ...machine, databases: await sitting.versions() }
  process.stdout.write(
    flags.json ? `${JSON.stringify({ machine: measured, rows }, null, 2)}\n` : asText(measured, rows),
  )
  for (const [reason, titles] of leftOut) {
    sitting.say(`Left out or failed: ${titles.join('; ')}\n  ${reason}`)
  }
  return leftOut.size > 0 || tasks.length === 0 ? 1 : 0
}

/** The row, or why there is none. */
async function attempt(sitting: WholeSitting, task: Task, hasWrk: boolean): Promise<ResultRow | string> {
  if (task.needsWrk && !hasWrk) return INSTALL_WRK
  try {
    return await sitting.runTask((scope) => task.run(scope))
  } catch (error) {
    if (error instanceof MissingServer || error instanceof LedgerFault) return error.message
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

async function store(
  sitting: WholeSitting,
  flags: Flags,
  machine: Machine,
  rows: ResultRow[],
): Promise<void> {
  const order = TASKS.map(({ name, ...rest }) => keyOfRow({ workload: name, ...rest }))
  const merged = mergeResults(await readResults(flags.results), { machine, rows }, order)
  for (const note of merged.notes) sitting.say(`  ${note}`)
  await writeResults(flags.results, merged)
}

function asText(machine: Machine, rows: readonly ResultRow[]): string {
  const ceilings = new Map(
    rows.flatMap(({ connections, ceiling }) =>
      ceiling === undefined ? [] : [[connections, ceiling] as const],
    ),
  )
  const shown = (table: Table): string => (table.rows.length === 0 ? '' : `\n${layOut(table)}\n`)
  const empty = [...ceilings].map(
    ([connections, rate]) => `${Math.round(rate)} calls/s at ${connections} connections`,
  )
  return [
    `${describeInLines(machine).join('\n')}\n`,
    empty.length === 0 ? '' : `an empty node:http server answers ${empty.join(', ')}\n`,
    shown(comparisonTable(rows)),
    shown(measureTable(rows)),
    ...explanationsOf(rows).map((line, place) => `${place === 0 ? '\n' : ''}${line}\n`),
  ].join('')
}
