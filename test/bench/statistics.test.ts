import { describe, expect, it } from 'vitest'
import { medianOf, rowOf } from '../../bench/comparison.js'
import { figuresOf } from '../../bench/one-run.js'
import { verdictOf, verdictOfRow } from '../../bench/result-row.js'
import { median, orderOf, ratioByPairs } from '../../bench/statistics.js'
import { COMPARISONS } from '../../bench/workloads.js'
import type { Comparison } from '../../bench/workloads.js'
import { comparisonRow, figures, measure } from './sample-rows.js'

describe('median', () => {
  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[4, 1, 3, 2], 2.5],
    [[10, 9], 9.5],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected)
  })

  it('does not exist of nothing', () => {
    expect(() => median([])).toThrow(RangeError)
  })
})

describe('ratios', () => {
  it('are taken within each round, so that a slow round does not count', () => {
    // The second round was half as fast for both; the ratio of the medians would be 500 / 60.
    expect(ratioByPairs([1_000, 500, 400], [100, 50, 60])).toEqual({ value: 10, low: 400 / 60, high: 10 })
  })

  it('need as many runs on both sides', () => {
    expect(() => ratioByPairs([1], [1, 2])).toThrow(RangeError)
  })

  it('come from rivals in turn, in the opposite order every second round', () => {
    expect([0, 1, 2].map((round) => orderOf(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'cba', 'abc'])
  })
})

describe('the row of a comparison', () => {
  const facts = { date: '2026-01-02T03:04:05.000Z', rounds: 3, seconds: 6, ceiling: 40_000 }
  const comparison = (name: string): Comparison => {
    const found = COMPARISONS.find((each) => each.name === name && each.store === 'postgres')
    if (found === undefined) throw new TypeError(`There is no ${name}.`)
    return found
  }
  const runs = (ours: number[], ten: number[], thirty: number[]) =>
    new Map(
      [['Paidonce', ours] as const, ['textbook 10', ten] as const, ['textbook 30', thirty] as const].map(
        ([name, rates]) => [
          name,
          rates.map((perSecond) => figures(name, { perSecond, p50: 1e4 / perSecond, p99: 1e5 / perSecond })),
        ],
      ),
    )

  it('stands beside the better of the two pools', () => {
    const row = rowOf(comparison('spread'), runs([800, 900, 850], [90, 100, 95], [100, 120, 110]), facts)
    expect(row.rival?.name).toBe('textbook 30')
    expect(row.ours).toMatchObject({ name: 'Paidonce', perSecond: 850 })
    expect(row.measures.map(({ what }) => what)).toEqual([
      'calls/s of textbook 30',
      'p99 of textbook 30',
      'p50 of textbook 30',
    ])
    expect(row.measures[0]).toMatchObject({ low: 7.5, high: 8, limits: { must: 7, goal: 10 } })
    expect(row.measures[0]?.value).toBeCloseTo(850 / 110)
    expect(verdictOfRow(row)).toBe('must')
  })

  it('of a workload about latency is about p50, and the rival of the better p50 counts', () => {
    const row = rowOf(comparison('alone'), runs([200], [100], [90]), facts)
    expect(row.rival?.name).toBe('textbook 10')
    expect(row.measures[0]).toMatchObject({ what: 'p50 of textbook 10', value: 0.5 })
    expect(verdictOfRow(row)).toBe('goal')
  })

  it('adds up what two processes answered and takes the worse latency', () => {
    const report = (requests: number, p50: number) => ({
      requests,
      seconds: 2,
      taken: requests,
      exhausted: false,
      statuses: {},
      errors: { connect: 0, read: 0, write: 0, status: 0, timeout: 0 },
      latency: { p50, p90: p50, p99: p50, p99Rest: p50, max: p50 },
    })
    expect(figuresOf('Paidonce ×2', [report(100, 5), report(300, 9)])).toEqual({
      name: 'Paidonce ×2',
      perSecond: 200,
      p50: 9,
      p99: 9,
      max: 9,
    })
  })

  it('has the medians of each figure by itself', () => {
    const all = [figures('a', { p50: 1, p99: 9 }), figures('a', { p50: 3, p99: 2 }), figures('a', { p50: 2 })]
    expect(medianOf('a', all)).toEqual(figures('a', { p50: 2, p99: 9 }))
  })
})

describe('the verdict', () => {
  it.each([
    [{ value: 10, limits: { must: 7, goal: 10 } }, 'goal'],
    [{ value: 7, limits: { must: 7, goal: 10 } }, 'must'],
    [{ value: 6.99, limits: { must: 7, goal: 10 } }, 'SHORT'],
    [{ value: 0.25, better: 'lower', limits: { must: 0.25 } }, 'goal'],
    [{ value: 0.26, better: 'lower', limits: { must: 0.25 } }, 'SHORT'],
    [{ value: Number.NaN, limits: { must: 1 } }, 'SHORT'],
    [{ value: 1 }, '–'],
  ] as const)('of %j is %s', (part, expected) => {
    expect(verdictOf(measure(part))).toBe(expected)
  })

  it('of a row is the worst of its measures', () => {
    const short = measure({ what: 'p99', better: 'lower', value: 1, limits: { must: 0.25 } })
    expect(verdictOfRow(comparisonRow({ measures: [measure({ limits: { must: 1 } }), short] }))).toBe('SHORT')
    expect(verdictOfRow(comparisonRow({ measures: [measure()] }))).toBe('–')
  })
})
