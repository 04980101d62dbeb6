/**
 * Result rows for tests, and a machine that they were measured on.
 *
 * @module
 */
import type { Machine } from '../../bench/machine.js'
import type { Figures, Measure, ResultRow } from '../../bench/result-row.js'

export const MACHINE: Machine = {
  cpu: 'Some CPU',
  cores: 2,
  memoryGib: 8,
  kernel: '6.1.0',
  node: '22.13.0',
  databases: { postgres: 'PostgreSQL 16.1' },
  syncMs: 0.5,
}

export function figures(name: string, part: Partial<Figures> = {}): Figures {
  return { name, perSecond: 1_000, p50: 10, p99: 20, max: 30, ...part }
}

export function measure(part: Partial<Measure> = {}): Measure {
  return { what: 'calls/s of textbook 10', unit: '×', better: 'higher', value: 8, ...part }
}

/** A comparison that reached `must`. */
export function comparisonRow(part: Partial<ResultRow> = {}): ResultRow {
  return {
    workload: 'spread',
    store: 'postgres',
    connections: 64,
    date: '2026-01-02T03:04:05.000Z',
    rounds: 5,
    seconds: 6,
    ceiling: 40_000,
    ours: figures('Paidonce', { perSecond: 8_000 }),
    rival: figures('textbook 10'),
    measures: [
      measure({ low: 7.5, high: 8.25, limits: { must: 7, goal: 10 } }),
      measure({ what: 'p99 of textbook 10', better: 'lower', value: 0.2, limits: { must: 0.25 } }),
    ],
    ...part,
  }
}

/** A scenario without a rival. */
export function scenarioRow(part: Partial<ResultRow> = {}): ResultRow {
  return {
    workload: 'memory',
    store: 'sqlite',
    connections: 64,
    date: '2026-01-03T03:04:05.000Z',
    rounds: 1,
    seconds: 60,
    size: 1_000_000,
    measures: [
      measure({
        what: 'resident set at most',
        unit: 'MB',
        better: 'lower',
        value: 150,
        limits: { must: 220 },
      }),
    ],
    notes: ['a note'],
    ...part,
  }
}
