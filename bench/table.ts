/**
 * Results as text: comparisons in one table, what else was measured in a second one.
 *
 * @module
 */
import { verdictOf, verdictOfRow, type Figures, type Measure, type ResultRow } from './result-row.js'

export type Cells = readonly string[]

export interface Table {
  readonly head: Cells
  readonly rows: readonly Cells[]
  /** Columns of numbers, by place: they stand to the right. */
  readonly right: readonly number[]
}

export function comparisonTable(rows: readonly ResultRow[]): Table {
  const compared = rows.filter(isComparison)
  return {
    head: [
      'workload',
      'store',
      'conn.',
      'Paidonce/s',
      'rival/s',
      'rival',
      'ratio (min–max)',
      'must',
      'goal',
      'p50 ms',
      'p99 ms',
      'p99 ratio',
      'verdict',
    ],
    rows: compared.map((row) => [
      row.workload,
      row.store,
      String(row.connections),
      count(row.ours.perSecond),
      count(row.rival.perSecond),
      row.rival.name,
      ratioOf(row),
      limit(row.measures[0], 'must'),
      limit(row.measures[0], 'goal'),
      both(row, 'p50'),
      both(row, 'p99'),
      p99Ratio(row),
      verdictText(row),
    ]),
    right: [2, 3, 4, 6, 7, 8, 9, 10, 11],
  }
}

export function measureTable(rows: readonly ResultRow[]): Table {
  const others = rows.filter((row) => !isComparison(row))
  return {
    head: ['workload', 'store', 'conn.', 'measured', 'value', 'must', 'goal', 'verdict'],
    rows: others.flatMap((row) =>
      row.measures.map((measure) => [
        row.workload,
        row.store,
        row.connections === 0 ? '–' : String(row.connections),
        measure.what,
        withRange(measure),
        limit(measure, 'must'),
        limit(measure, 'goal'),
        verdictOf(measure),
      ]),
    ),
    right: [2, 4, 5, 6],
  }
}

type Compared = ResultRow & { readonly ours: Figures; readonly rival: Figures }

export function isComparison(row: ResultRow): row is Compared {
  return row.ours !== undefined && row.rival !== undefined
}

/** `12.3 ×`. */
export function amount(value: number, unit: Measure['unit']): string {
  return unit === '' ? digits(value) : `${digits(value)} ${unit}`
}

/** The digits that mean something. */
function digits(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 1_000) return count(value)
  if (Number.isInteger(value)) return String(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}

/** Whole, with a comma between thousands. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Of calls per second; where the workload is about something else, that is said. */
function ratioOf({ measures: [first] }: ResultRow): string {
  const what = first?.what.split(' ')[0] ?? ''
  return what === 'calls/s' ? withRange(first) : `${what}: ${withRange(first)}`
}

function withRange(measure: Measure | undefined): string {
  if (measure === undefined) return ''
  const { value, unit, low, high } = measure
  const text = amount(value, unit)
  if (low === undefined || high === undefined || low === high) return text
  return `${text} (${digits(low)}–${digits(high)})`
}

function limit(measure: Measure | undefined, which: 'must' | 'goal'): string {
  const bound = measure?.limits?.[which]
  if (measure === undefined || bound === undefined) return ''
  return `${measure.better === 'higher' ? '≥' : '≤'} ${amount(bound, measure.unit)}`
}

function both({ ours, rival }: Compared, what: 'p50' | 'p99'): string {
  return `${digits(ours[what])} / ${digits(rival[what])}`
}

function p99Ratio({ measures }: ResultRow): string {
  const measure = measures.find(({ what }) => what.startsWith('p99'))
  if (measure === undefined) return ''
  const { value, limits } = measure
  return limits === undefined ? digits(value) : `${digits(value)} (≤ ${limits.must})`
}

/** Names what fell short. */
function verdictText(row: ResultRow): string {
  const short = row.measures.filter((measure) => verdictOf(measure) === 'SHORT')
  const names = short.map(({ what }) => what.split(' ')[0] ?? what)
  return short.length > 0 ? `SHORT: ${names.join(', ')}` : verdictOfRow(row)
}

/** What cannot be said in a cell. */
export function explanationsOf(rows: readonly ResultRow[]): string[] {
  const compared = rows.some(isComparison)
    ? [
        'ratio: Paidonce by the rival of the same round: the median, and the least and greatest round',
        'rival: the one of the better median; p50, p99: Paidonce / rival',
      ]
    : []
  const notes = rows.flatMap((row) => (row.notes ?? []).map((note) => `${titleOfRow(row)}: ${note}`))
  return [...compared, ...notes]
}

/** `spread, postgres, 64`. */
export function titleOfRow({ workload, store, connections }: ResultRow): string {
  return [workload, store, ...(connections === 0 ? [] : [connections])].join(', ')
}

/** A table for a terminal. */
export function layOut({ head, rows, right }: Table): string {
  const widths = head.map((title, place) =>
    Math.max(title.length, ...rows.map((row) => row[place]?.length ?? 0)),
  )
  const line = (cells: Cells): string =>
    cells
      .map((cell, place) => {
        const width = widths[place] ?? 0
        return right.includes(place) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}

/** The same for Markdown, laid out as Prettier would. */
export function layOutMarkdown({ head, rows, right }: Table): string {
  const widths = head.map((title, place) =>
    Math.max(3, title.length, ...rows.map((row) => row[place]?.length ?? 0)),
  )
  const pad = (cell: string, place: number): string =>
    right.includes(place) ? cell.padStart(widths[place] ?? 0) : cell.padEnd(widths[place] ?? 0)
  const line = (cells: Cells): string => `| ${cells.map(pad).join(' | ')} |`
  const rule = widths.map((width, place) =>
    right.includes(place) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  )
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n')
}
