/**
 * The results as a picture: how many times the textbook's calls each workload answers, and below it how far everything
 * else is within its limit.
 *
 * @module
 */
import { verdictOf, type Measure, type ResultRow } from './result-row.js'
import { amount, count, titleOfRow } from './table.js'

const WIDTH = 1_080
const VALUES = 190
/** Where the legend begins. */
const LEGEND = 190
const LINE = 26
const BAR = 14
const TITLE = 46
const FOOT = 26
/** Where a bar of the second panel is cut: twice as good as asked for. */
const MOST_REACH = 2.5

interface Bar {
  readonly label: string
  /** Lengths in the panel's own unit. */
  readonly length: number
  readonly low?: number
  readonly high?: number
  readonly must?: number
  readonly goal?: number
  readonly text: string
  readonly verdict: ReturnType<typeof verdictOf>
}

interface Panel {
  readonly title: string
  readonly bars: readonly Bar[]
  /** The width of the labels. */
  readonly labels: number
  readonly end: number
}

export function drawPlot(rows: readonly ResultRow[]): string {
  const panels = panelsOf(rows).filter(({ bars }) => bars.length > 0)
  let top = 0
  const drawn = panels.map((panel) => {
    const text = drawPanel(panel, top)
    top += heightOf(panel)
    return text
  })
  const height = top + FOOT
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Paidonce against the textbook handler">
<style>
  .back { fill: #ffffff }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 14px }
  .small, .axis { font-size: 11px; fill: #59636e }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .goal-bar { fill: #1a7f37 } .must-bar { fill: #0969da } .short-bar { fill: #bc4c00 } .free-bar { fill: #818b98 }
  .must-tick { stroke: #1f2328; stroke-width: 2 }
  .goal-tick { stroke: #1f2328; stroke-width: 2; stroke-dasharray: 2 2 }
  .range { stroke: #1f2328; stroke-width: 1; opacity: 0.6 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #e6edf3 } .small, .axis { fill: #9198a1 } .grid { stroke: #3d444d }
    .goal-bar { fill: #2ea043 } .must-bar { fill: #4493f8 } .short-bar { fill: #db6d28 }
    .must-tick, .goal-tick, .range { stroke: #e6edf3 }
  }
</style>
<rect class="back" width="${WIDTH}" height="${height}"/>
${drawn.join('\n')}
${drawLegend(height - FOOT / 2 + 4)}
</svg>
`
}

function panelsOf(rows: readonly ResultRow[]): Panel[] {
  const isRate = ({ measures: [first] }: ResultRow): boolean =>
    first?.what.startsWith('calls/s of textbook') ?? false
  const rates = rows
    .filter(isRate)
    .flatMap((row) => row.measures.slice(0, 1).map((first) => rateBar(row, first)))
  const others = rows.flatMap((row) =>
    row.measures
      .filter((measure, place) => hasScale(measure) && !(isRate(row) && place === 0))
      .map((measure) => reachBar(row, measure)),
  )
  const furthest = Math.max(1, ...rates.flatMap(({ length, high, goal }) => [length, high ?? 0, goal ?? 0]))
  return [
    {
      title: 'Calls per second, as a multiple of the textbook handler’s',
      bars: rates,
      labels: 190,
      end: furthest * 1.04,
    },
    { title: 'Other limits: 1 is just reached, more is better', bars: others, labels: 500, end: MOST_REACH },
  ]
}

/** Of what may not happen at all there is no more and less, unless it has happened. */
function hasScale({ limits, value }: Measure): boolean {
  return limits !== undefined && (limits.must !== 0 || value !== 0)
}

function rateBar(row: ResultRow, measure: Measure): Bar {
  const { value, low, high, limits } = measure
  return {
    label: titleOfRow(row),
    length: value,
    ...(low === undefined || high === undefined ? {} : { low, high }),
    ...limits,
    text:
      row.ours === undefined
        ? amount(value, measure.unit)
        : `${amount(value, measure.unit)} (${count(row.ours.perSecond)} calls/s)`,
    verdict: verdictOf(measure),
  }
}

/** The value as a share of what it must be, so that milliseconds, megabytes and ratios stand side by side. */
function reachBar(row: ResultRow, measure: Measure): Bar {
  const { better, value, limits, unit, what } = measure
  const must = limits?.must ?? 1
  const reach = (of: number): number => {
    const share = better === 'higher' ? of / must : must / of
    return Number.isFinite(share) ? Math.min(MOST_REACH, share) : MOST_REACH
  }
  const sign = better === 'higher' ? '≥' : '≤'
  return {
    label: `${titleOfRow(row)}: ${what}`,
    length: reach(value),
    must: 1,
    ...(limits?.goal === undefined ? {} : { goal: reach(limits.goal) }),
    text: `${amount(value, unit)} (${sign} ${amount(must, unit)})`,
    verdict: verdictOf(measure),
  }
}

function heightOf({ bars }: Panel): number {
  return TITLE + bars.length * LINE + 24
}

function drawPanel(panel: Panel, top: number): string {
  const { title, bars, labels, end } = panel
  const width = WIDTH - labels - VALUES
  const x = (value: number): number => labels + (Math.min(value, end) / end) * width
  const bottom = top + TITLE + bars.length * LINE
  const grid = stepsTo(end).map(
    (
      value,
    ) => `<line class="grid" x1="${round(x(value))}" x2="${round(x(value))}" y1="${top + TITLE - 6}" y2="${bottom}"/>
<text class="axis" x="${round(x(value))}" y="${bottom + 14}" text-anchor="middle">${value}</text>`,
  )
  const lines = bars.map((bar, place) => drawBar(bar, top + TITLE + place * LINE, x))
  return `<text class="title" x="12" y="${top + 26}">${escaped(title)}</text>\n${[...grid, ...lines].join('\n')}`
}

function drawBar(bar: Bar, top: number, x: (value: number) => number): string {
  const middle = top + LINE / 2
  const tick = (value: number | undefined, name: string): string =>
    value === undefined
      ? ''
      : `<line class="${name}-tick" x1="${round(x(value))}" x2="${round(x(value))}" y1="${top + 2}" y2="${top + LINE - 2}"/>`
  const range =
    bar.low === undefined || bar.high === undefined || bar.low === bar.high
      ? ''
      : `<line class="range" x1="${round(x(bar.low))}" x2="${round(x(bar.high))}" y1="${middle}" y2="${middle}"/>`
  return [
    `<text x="${round(x(0) - 10)}" y="${middle + 4}" text-anchor="end">${escaped(bar.label)}</text>`,
    `<rect class="${classOf(bar.verdict)}" x="${round(x(0))}" y="${middle - BAR / 2}" width="${round(x(bar.length) - x(0))}" height="${BAR}" rx="2"/>`,
    range,
    tick(bar.must, 'must'),
    tick(bar.goal, 'goal'),
    `<text x="${WIDTH - VALUES + 12}" y="${middle + 4}">${escaped(bar.text)}</text>`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function drawLegend(y: number): string {
  const entries = [
    ['goal-bar', 'goal reached'],
    ['must-bar', 'must reached'],
    ['short-bar', 'short'],
  ] as const
  const boxes = entries.map(
    ([name, text], place) =>
      `<rect class="${name}" x="${LEGEND + place * 120}" y="${y - 10}" width="11" height="11" rx="2"/><text class="small" x="${LEGEND + place * 120 + 16}" y="${y}">${text}</text>`,
  )
  const ticks = [
    ['must-tick', 'must'],
    ['goal-tick', 'goal'],
  ].map(
    ([name = '', text = ''], place) =>
      `<line class="${name}" x1="${LEGEND + 370 + place * 60}" x2="${LEGEND + 370 + place * 60}" y1="${y - 12}" y2="${y + 2}"/><text class="small" x="${LEGEND + 377 + place * 60}" y="${y}">${text}</text>`,
  )
  const range = `<line class="range" x1="${LEGEND + 490}" x2="${LEGEND + 510}" y1="${y - 4}" y2="${y - 4}"/><text class="small" x="${LEGEND + 516}" y="${y}">least to greatest round</text>`
  return [...boxes, ...ticks, range].join('\n')
}

function classOf(verdict: Bar['verdict']): string {
  return { goal: 'goal-bar', must: 'must-bar', SHORT: 'short-bar', '–': 'free-bar' }[verdict]
}

/** Round values from 0 to the end: at most ten of them. */
function stepsTo(end: number): number[] {
  const step = [0.5, 1, 2, 5, 10, 20, 50].find((each) => end / each <= 10) ?? 100
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, place) => place * step)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
