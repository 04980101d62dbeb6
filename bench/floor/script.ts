/**
 * Recorded groups as a script for pgbench and a table of the values that it takes.
 *
 * @module
 */
import type { RecordedGroup } from './recorder.js'

export interface Replay {
  /** Names of the columns that hold a group's values, and the values by group. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly script: string
  /** Of the recorded groups, those that are replayed: they sent the same statements. */
  readonly share: number
}

/** The table that the script reads. */
export const VALUES_TABLE = 'bench_values'

/**
 * Takes the groups that sent the same statements as most did; others met a copy or made a wallet, which is not what is
 * measured.
 */
export function replayOf(groups: readonly RecordedGroup[], clients: number): Replay {
  const byShape = new Map<string, RecordedGroup[]>()
  for (const group of groups) {
    const shape = shapeOf(group)
    byShape.set(shape, [...(byShape.get(shape) ?? []), group])
  }
  const most = [...byShape.values()].reduce<RecordedGroup[]>(
    (best, each) => (each.length > best.length ? each : best),
    [],
  )
  const perClient = Math.floor(most.length / clients)
  const [first] = most
  if (first === undefined || perClient === 0) {
    throw new Error(`Of ${groups.length} recorded groups no ${clients} sent the same statements.`)
  }
  const columns = first.trips.flatMap((trip, at) =>
    trip.flatMap(({ values }, place) =>
      values.flatMap((value, index) => (value === null ? [] : [columnName(at, place, index)])),
    ),
  )
  return {
    columns,
    rows: most
      .slice(0, perClient * clients)
      .map(({ trips }) => trips.flat().flatMap(({ values }) => values.filter((value) => value !== null))),
    script: scriptOf(first, columns, perClient),
    share: most.length / groups.length,
  }
}

/** Same statements in the same trips, and NULL in the same places. */
function shapeOf({ trips }: RecordedGroup): string {
  return JSON.stringify(
    trips.map((trip) => trip.map(({ text, values }) => [text, values.map((value) => value === null)])),
  )
}

function columnName(trip: number, statement: number, index: number): string {
  return `v_${trip}_${statement}_${index + 1}`
}

/** Each client takes the groups of its own, one after the other. */
function scriptOf({ trips }: RecordedGroup, columns: readonly string[], perClient: number): string {
  const lines = [
    '\\set i :i + 1',
    `\\set g :client_id * ${perClient} + :i`,
    `select ${columns.join(', ')} from ${VALUES_TABLE} where g = :g \\gset`,
  ]
  for (const [at, trip] of trips.entries()) {
    const statements = trip.map(({ text, values }, place) => {
      const filled = text.replaceAll(/\$(\d+)/g, (_, digits: string) => {
        const index = Number(digits) - 1
        return values[index] === null ? 'null' : `:${columnName(at, place, index)}`
      })
      return `${filled};`
    })
    // pgbench sends what stands in a pipeline without waiting between.
    lines.push(...(trip.length > 1 ? ['\\startpipeline', ...statements, '\\endpipeline'] : statements))
  }
  return `${lines.join('\n')}\n`
}
