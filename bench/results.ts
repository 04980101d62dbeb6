/**
 * The stored results: each row as it was last measured, so that the whole table can be made in several sittings.
 *
 * @module
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSameMachine, type Machine } from './machine.js'
import { drawPlot } from './plot.js'
import { keyOfRow, type ResultRow } from './result-row.js'

export interface Results {
  readonly machine: Machine
  readonly rows: readonly ResultRow[]
}

export interface Merged extends Results {
  /** Why something was left as it was or thrown away; for whoever watches. */
  readonly notes: readonly string[]
}

/**
 * Puts new rows in the place of old ones. A short run does not replace a longer one of the same workload, and rows of
 * another machine go, because they could not be compared.
 *
 * @param order keys of all rows, in the order of the table
 */
export function mergeResults(old: Results | null, fresh: Results, order: readonly string[]): Merged {
  const notes: string[] = []
  const known = old !== null && isSameMachine(old.machine, fresh.machine) ? old : null
  if (old !== null && known === null)
    notes.push('The earlier results are of another machine and are dropped.')
  const rows = new Map(known?.rows.map((row) => [keyOfRow(row), row]))
  for (const row of fresh.rows) {
    const earlier = rows.get(keyOfRow(row))
    if (earlier === undefined || weightOf(row) >= weightOf(earlier)) rows.set(keyOfRow(row), row)
    else notes.push(`${keyOfRow(row)}: the stored row of a longer run stays.`)
  }
  const placeOf = (row: ResultRow): number => {
    const place = order.indexOf(keyOfRow(row))
    return place < 0 ? order.length : place
  }
  const databases = { ...known?.machine.databases, ...fresh.machine.databases }
  return {
    machine: { ...fresh.machine, databases },
    rows: [...rows.values()].sort((one, other) => placeOf(one) - placeOf(other)),
    notes,
  }
}

function weightOf({ rounds, seconds, size = 1 }: ResultRow): number {
  return rounds * seconds * size
}

/** null where nothing was stored yet. */
export async function readResults(folder: string): Promise<Results | null> {
  const text = await readFile(join(folder, 'latest.json'), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Results)
}

/** Writes the data and the plot of it. */
export async function writeResults(folder: string, { machine, rows }: Results): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'latest.json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`)
  await writeFile(join(folder, 'latest.svg'), drawPlot(rows))
}
