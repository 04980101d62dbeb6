/**
 * The figures in the README: between two markers, from the stored results.
 *
 * @module
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describeInLines } from './machine.js'
import { readResults, type Results } from './results.js'
import { comparisonTable, explanationsOf, isComparison, layOutMarkdown, measureTable } from './table.js'

const README = fileURLToPath(new URL('./README.md', import.meta.url))
const START = '<!-- figures -->'
const PLOT = '![Paidonce against the textbook handler](results/latest.svg)'
const END = '<!-- /figures -->'

/** Resolves to the exit status. */
export async function writeReadme(folder: string): Promise<number> {
  const results = await readResults(folder)
  if (results === null) {
    process.stderr.write('Nothing was measured yet: run npm run bench first.\n')
    return 1
  }
  await writeFile(README, putFigures(await readFile(README, 'utf8'), results))
  return 0
}

/** The text with today's figures in the place of those between the markers. */
export function putFigures(text: string, results: Results): string {
  const from = text.indexOf(START)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error(`The README needs the markers ${START} and ${END}.`)
  return `${text.slice(0, from + START.length)}\n\n${figuresText(results)}\n\n${text.slice(to)}`
}

function figuresText({ machine, rows }: Results): string {
  const days = [...new Set(rows.map(({ date }) => date.slice(0, 10)))].sort()
  const lengths = [
    ...new Set(rows.filter(isComparison).map(({ rounds, seconds }) => `${rounds} × ${seconds} s`)),
  ]
  const ceilings = new Map(
    rows.flatMap(({ connections, ceiling }) =>
      ceiling === undefined ? [] : [[connections, Math.round(ceiling)] as const],
    ),
  )
  const facts = [
    `Measured ${days.length > 1 ? `from ${days[0] ?? ''} to ${days.at(-1) ?? ''}` : `on ${days[0] ?? ''}`}${lengths.length === 0 ? '' : `; rounds of ${lengths.join(', ')}`}`,
    ...describeInLines(machine),
    ...[...ceilings].map(
      ([connections, rate]) => `an empty server answers ${rate} calls/s at ${connections} connections`,
    ),
  ]
  const tables = [comparisonTable(rows), measureTable(rows)].filter((table) => table.rows.length > 0)
  const explanations = explanationsOf(rows)
  return [
    PLOT,
    listed(facts),
    ...tables.map(layOutMarkdown),
    ...(explanations.length > 0 ? [listed(explanations)] : []),
  ].join('\n\n')
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}
