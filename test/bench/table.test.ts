import { describe, expect, it } from 'vitest'
import { drawPlot } from '../../bench/plot.js'
import { putFigures } from '../../bench/readme-figures.js'
import {
  amount,
  comparisonTable,
  count,
  explanationsOf,
  layOut,
  layOutMarkdown,
  measureTable,
} from '../../bench/table.js'
import { comparisonRow, MACHINE, measure, scenarioRow } from './sample-rows.js'

describe('the table', () => {
  it('shows a comparison with both rates, the ratio with its range and its limits', () => {
    const { head, rows } = comparisonTable([comparisonRow(), scenarioRow()])
    expect(rows).toHaveLength(1)
    expect(Object.fromEntries(head.map((title, place) => [title, rows[0]?.[place]]))).toEqual({
      workload: 'spread',
      store: 'postgres',
      'conn.': '64',
      'Paidonce/s': '8,000',
      'rival/s': '1,000',
      rival: 'textbook 10',
      'ratio (min–max)': '8 × (7.50–8.25)',
      must: '≥ 7 ×',
      goal: '≥ 10 ×',
      'p50 ms': '10 / 10',
      'p99 ms': '20 / 20',
      'p99 ratio': '0.20 (≤ 0.25)',
      verdict: 'must',
    })
  })

  it('names every measure that fell short', () => {
    const row = comparisonRow({
      measures: [
        measure({ value: 2, limits: { must: 7 } }),
        measure({ what: 'p99 of textbook 10', better: 'lower', value: 1, limits: { must: 0.25 } }),
      ],
    })
    expect(comparisonTable([row]).rows[0]?.at(-1)).toBe('SHORT: calls/s, p99')
  })

  it('says so where the ratio is not of calls per second', () => {
    const row = comparisonRow({ measures: [measure({ what: 'p50 of textbook 10', value: 0.5 })] })
    expect(comparisonTable([row]).rows[0]?.[6]).toBe('p50: 0.50 ×')
  })

  it('has a line for each measure of what has no rival', () => {
    expect(measureTable([comparisonRow(), scenarioRow()]).rows).toEqual([
      ['memory', 'sqlite', '64', 'resident set at most', '150 MB', '≤ 220 MB', '', 'goal'],
    ])
  })

  it('is laid out in columns, numbers to the right', () => {
    const table = {
      head: ['name', 'n'],
      rows: [
        ['a', '1'],
        ['long name', '1,000'],
      ],
      right: [1],
    }
    expect(layOut(table).split('\n')).toEqual([
      'name           n',
      '─────────  ─────',
      'a              1',
      'long name  1,000',
    ])
    expect(layOutMarkdown(table).split('\n')).toEqual([
      '| name      |     n |',
      '| --------- | ----: |',
      '| a         |     1 |',
      '| long name | 1,000 |',
    ])
  })

  it('is explained below, with the notes of its rows', () => {
    expect(explanationsOf([scenarioRow()])).toEqual(['memory, sqlite, 64: a note'])
    expect(explanationsOf([comparisonRow()]).join()).toContain('ratio:')
  })

  it.each([
    [1_234_567, '1,234,567'],
    [999.6, '1,000'],
    [0, '0'],
  ])('writes %d as %s', (value, text) => {
    expect(count(value)).toBe(text)
  })

  it('shows the digits that mean something', () => {
    expect([0.1234, 1.234, 12.34, 123.4, 1234, Number.NaN].map((value) => amount(value, 'ms'))).toEqual([
      '0.12 ms',
      '1.23 ms',
      '12.3 ms',
      '123 ms',
      '1,234 ms',
      '– ms',
    ])
  })
})

describe('the plot', () => {
  const rows = [
    comparisonRow(),
    comparisonRow({ workload: 'a <b>', measures: [measure({ value: 2, limits: { must: 7, goal: 10 } })] }),
    scenarioRow(),
    scenarioRow({
      workload: 'none lost',
      measures: [measure({ what: 'lost calls', value: 0, limits: { must: 0 } })],
    }),
  ]
  const svg = drawPlot(rows)

  it('has a bar for everything that has a limit, coloured by its verdict', () => {
    expect(svg.match(/<rect class="must-bar"/g)).toHaveLength(2)
    expect(svg.match(/<rect class="goal-bar"/g)).toHaveLength(3)
    expect(svg.match(/<rect class="short-bar"/g)).toHaveLength(2)
    // One of each colour is in the legend.
    expect(svg).toContain('8 × (8,000 calls/s)')
    expect(svg).toContain('memory, sqlite, 64: resident set at most')
  })

  it('leaves out what may not happen and has not happened', () => {
    expect(svg).not.toContain('none lost')
  })

  it('escapes its texts and has no number that is none', () => {
    expect(svg).toContain('a &lt;b&gt;')
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  })

  it('draws no line from the least to the greatest where there was one round', () => {
    const once = comparisonRow({ measures: [measure({ low: 8, high: 8, limits: { must: 7 } })] })
    const ranges = (text: string): number => (text.match(/<line class="range"/g) ?? []).length
    // One is in the legend.
    expect([ranges(drawPlot([once])), ranges(drawPlot([comparisonRow()]))]).toEqual([1, 2])
  })
})

describe('the README', () => {
  it('gets the figures between its markers and keeps the rest', () => {
    const text = 'Before\n\n<!-- figures -->\n\nold\n\n<!-- /figures -->\n\nAfter\n'
    const written = putFigures(text, { machine: MACHINE, rows: [comparisonRow(), scenarioRow()] })
    expect(written).toMatch(
      /^Before\n\n<!-- figures -->\n\n!\[[^\]]+\]\(results\/latest\.svg\)\n\n- Measured from 2026-01-02 to 2026-01-03/,
    )
    expect(written).toContain('Some CPU, 2 cores, 8 GiB of memory')
    expect(written).toContain('PostgreSQL 16.1')
    expect(written).toContain('| spread')
    expect(written).not.toContain('old')
    expect(written).toMatch(/<!-- \/figures -->\n\nAfter\n$/)
    expect(putFigures(written, { machine: MACHINE, rows: [comparisonRow(), scenarioRow()] })).toBe(written)
  })

  it('without markers is an error', () => {
    expect(() => putFigures('nothing', { machine: MACHINE, rows: [] })).toThrow('markers')
  })
})
