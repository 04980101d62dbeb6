/**
 * Runs one comparison: rivals in turn, in every second round in the opposite order.
 *
 * @module
 */
import { runOnce } from './one-run.js'
import type { Figures, Measure, ResultRow } from './result-row.js'
import type { Sitting } from './sitting.js'
import { median, orderOf, ratioByPairs } from './statistics.js'
import type { Comparison } from './workloads.js'

type Runs = ReadonlyMap<string, readonly Figures[]>

export async function runComparison(
  sitting: Sitting,
  comparison: Comparison,
  ceiling: number | undefined,
): Promise<ResultRow> {
  const { store, traffic, connections, ours, rivals } = comparison
  const runs = new Map<string, Figures[]>()
  for (let round = 0; round < sitting.lengths.rounds; round += 1) {
    for (const contender of orderOf([ours, ...rivals], round)) {
      const figures = await runOnce(sitting, { store, contender, traffic, connections })
      runs.set(contender, [...(runs.get(contender) ?? []), figures])
      sitting.say(`  ${round + 1}. ${contender}: ${describe(figures)}`)
    }
  }
  const { rounds, seconds } = sitting.lengths
  return rowOf(comparison, runs, {
    date: new Date().toISOString(),
    rounds,
    seconds,
    ...(ceiling === undefined ? {} : { ceiling }),
  })
}

function describe({ perSecond, p50, p99 }: Figures): string {
  return `${Math.round(perSecond)} calls/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
}

/** The row of a comparison from the figures of all its runs. */
export function rowOf(
  comparison: Comparison,
  runs: Runs,
  facts: Pick<ResultRow, 'date' | 'rounds' | 'seconds' | 'ceiling'>,
): ResultRow {
  const ours = runs.get(comparison.ours) ?? []
  const isBetter = comparison.rate === undefined ? fasterAnswer : moreCalls
  const rival = comparison.rivals
    .map((name) => ({ name, figures: runs.get(name) ?? [] }))
    .reduce((best, each) =>
      isBetter(medianOf(each.name, each.figures), medianOf(best.name, best.figures)) ? each : best,
    )
  const measure = (what: 'perSecond' | 'p50' | 'p99', label: string, better: Measure['better']): Measure => {
    const limits = { perSecond: comparison.rate, p50: comparison.p50, p99: comparison.p99 }[what]
    const ratio = ratioByPairs(
      ours.map((each) => each[what]),
      rival.figures.map((each) => each[what]),
    )
    return { what: label, unit: '×', better, ...ratio, ...(limits === undefined ? {} : { limits }) }
  }
  const rate = measure('perSecond', `calls/s of ${rival.name}`, 'higher')
  const p50 = measure('p50', `p50 of ${rival.name}`, 'lower')
  const p99 = measure('p99', `p99 of ${rival.name}`, 'lower')
  return {
    workload: comparison.name,
    store: comparison.store,
    connections: comparison.connections,
    ...facts,
    ours: medianOf(comparison.ours, ours),
    rival: medianOf(rival.name, rival.figures),
    measures: comparison.rate === undefined ? [p50, rate, p99] : [rate, p99, p50],
  }
}

function moreCalls(one: Figures, other: Figures): boolean {
  return one.perSecond > other.perSecond
}

function fasterAnswer(one: Figures, other: Figures): boolean {
  return one.p50 < other.p50
}

/** The medians of what each run had. */
export function medianOf(name: string, figures: readonly Figures[]): Figures {
  const of = (what: 'perSecond' | 'p50' | 'p99' | 'max'): number => median(figures.map((each) => each[what]))
  return { name, perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), max: of('max') }
}
