/**
 * What is known of one workload on one store, and whether that is enough.
 *
 * @module
 */

export type StoreName = 'postgres' | 'mariadb' | 'sqlite'

export const STORES: readonly StoreName[] = ['postgres', 'mariadb', 'sqlite']

export interface Limits {
  readonly must: number
  /** Where there is none, `must` is all that is asked. */
  readonly goal?: number
}

/** One number that is held against its limits, or shown without any. */
export interface Measure {
  readonly what: string
  readonly unit: '×' | 'ms' | 'MB' | '%' | ''
  readonly better: 'higher' | 'lower'
  readonly value: number
  /** The least and greatest of the rounds; absent where there was one. */
  readonly low?: number
  readonly high?: number
  readonly limits?: Limits
}

/** Medians of one contender's runs, in milliseconds. */
export interface Figures {
  readonly name: string
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface ResultRow {
  readonly workload: string
  readonly store: StoreName
  readonly connections: number
  /** When it was measured, RFC 3339. */
  readonly date: string
  readonly rounds: number
  readonly seconds: number
  /** Postbacks or rows, where the workload is of a certain size. */
  readonly size?: number
  readonly ours?: Figures
  readonly rival?: Figures
  /** Calls per second of the empty server at as many connections. */
  readonly ceiling?: number
  /** The first is the one that the plot shows. */
  readonly measures: readonly Measure[]
  readonly notes?: readonly string[]
}

export type Verdict = 'goal' | 'must' | 'SHORT' | '–'

export function verdictOf(measure: Measure): Verdict {
  if (measure.limits === undefined) return '–'
  const { must, goal = must } = measure.limits
  const reaches = (limit: number): boolean =>
    measure.better === 'higher' ? measure.value >= limit : measure.value <= limit
  if (reaches(goal)) return 'goal'
  return reaches(must) ? 'must' : 'SHORT'
}

/** A row is as good as its worst measure. */
export function verdictOfRow({ measures }: ResultRow): Verdict {
  const verdicts = new Set(measures.map(verdictOf))
  return (['SHORT', 'must', 'goal'] as const).find((verdict) => verdicts.has(verdict)) ?? '–'
}

/** Rows of the same key are the same measurement, made at different times. */
export function keyOfRow({
  workload,
  store,
  connections,
}: Pick<ResultRow, 'workload' | 'store' | 'connections'>): string {
  return `${workload} ${store} ${connections}`
}
