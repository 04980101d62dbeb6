import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyOfRow, type ResultRow } from '../../bench/result-row.js'
import { mergeResults, readResults, writeResults, type Results } from '../../bench/results.js'
import { comparisonRow, MACHINE, scenarioRow } from './sample-rows.js'

const results = (...rows: ResultRow[]): Results => ({ machine: MACHINE, rows })
const ORDER = [comparisonRow(), scenarioRow()].map(keyOfRow)

describe('results of several sittings', () => {
  it('stand together, in the order of the table', () => {
    const merged = mergeResults(results(scenarioRow()), results(comparisonRow()), ORDER)
    expect(merged.rows.map(({ workload }) => workload)).toEqual(['spread', 'memory'])
    expect(merged.notes).toEqual([])
  })

  it('of the same key: the new one replaces the old one', () => {
    const fresh = comparisonRow({ date: '2026-02-02T00:00:00.000Z' })
    expect(mergeResults(results(comparisonRow()), results(fresh), ORDER).rows).toEqual([fresh])
  })

  it('of a shorter run do not replace those of a longer one', () => {
    const short = comparisonRow({ rounds: 1, seconds: 2 })
    const merged = mergeResults(results(comparisonRow()), results(short), ORDER)
    expect(merged.rows).toEqual([comparisonRow()])
    expect(merged.notes).toEqual(['spread postgres 64: the stored row of a longer run stays.'])
  })

  it('of a smaller size do not replace those of a larger one', () => {
    const merged = mergeResults(results(scenarioRow()), results(scenarioRow({ size: 1_000 })), ORDER)
    expect(merged.rows).toEqual([scenarioRow()])
  })

  it('of another machine are dropped', () => {
    const old = { ...results(scenarioRow()), machine: { ...MACHINE, cores: 64 } }
    const merged = mergeResults(old, results(comparisonRow()), ORDER)
    expect(merged.rows).toEqual([comparisonRow()])
    expect(merged.notes).toEqual(['The earlier results are of another machine and are dropped.'])
  })

  it('keep the databases that only the earlier ones used', () => {
    const fresh = { ...results(scenarioRow()), machine: { ...MACHINE, databases: { sqlite: 'SQLite 3.50' } } }
    expect(mergeResults(results(comparisonRow()), fresh, ORDER).machine.databases).toEqual({
      postgres: 'PostgreSQL 16.1',
      sqlite: 'SQLite 3.50',
    })
  })

  it('of a workload that is no longer there come last', () => {
    const gone = comparisonRow({ workload: 'gone' })
    const merged = mergeResults(results(gone), results(comparisonRow()), ORDER)
    expect(merged.rows.map(({ workload }) => workload)).toEqual(['spread', 'gone'])
  })
})

describe('the stored results', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-results-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('are nothing at first, and afterwards what was written, with its plot', async () => {
    const inside = join(folder, 'made')
    expect(await readResults(inside)).toBeNull()
    await writeResults(inside, results(comparisonRow()))
    expect(await readResults(inside)).toEqual(results(comparisonRow()))
    expect(await readFile(join(inside, 'latest.svg'), 'utf8')).toContain('spread, postgres, 64')
  })
})
