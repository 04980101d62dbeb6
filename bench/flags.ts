/**
 * What was asked for on the command line.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import type { Lengths } from './sitting.js'
import { STORES, type StoreName } from './result-row.js'

export interface Flags {
  /** Names of workloads; null for all. */
  readonly only: readonly string[] | null
  readonly stores: readonly StoreName[]
  readonly lengths: Lengths
  readonly quick: boolean
  readonly json: boolean
  /** Write the figures into the README and measure nothing. */
  readonly readme: boolean
  readonly help: boolean
  /** Where results go. */
  readonly results: string
  /** Where each process of Paidonce leaves a CPU profile; null for none. */
  readonly profile: string | null
}

/** Wrong usage: the message says what would be right. */
export class WrongFlags extends Error {}

export function usage(workloads: readonly string[]): string {
  return `npm run bench -- [flags]

  --quick             one round of two seconds of the main workloads, within three minutes
  --only NAME,NAME    these workloads: ${workloads.join(', ')}
  --stores NAME,NAME  on these stores: ${STORES.join(', ')}
  --rounds N          rounds of each comparison (5)
  --seconds N         measured seconds of each run (6)
  --postbacks N       calls of the workload memory (1000000)
  --rows N            rows that the workloads deep and lists find in the ledger (5000000)
  --json              prints JSON instead of the table
  --readme            measures nothing: writes the stored results into bench/README.md
  --results FOLDER    where latest.json and latest.svg go (bench/results)
  --profile FOLDER    every process of Paidonce leaves a CPU profile there
`
}

/** @param workloads every name that there is */
export function readFlags(
  argv: readonly string[],
  workloads: readonly string[],
  defaultResults: string,
): Flags {
  const { values } = parse(argv, workloads)
  const quick = values.quick ?? false
  const only = values.only === undefined ? null : namesIn(values.only, workloads, 'workload')
  return {
    only,
    stores: values.stores === undefined ? STORES : namesIn(values.stores, STORES, 'store'),
    lengths: {
      rounds: countIn('--rounds', values.rounds ?? (quick ? '1' : '5')),
      seconds: countIn('--seconds', values.seconds ?? (quick ? '2' : '6')),
      postbacks: countIn('--postbacks', values.postbacks ?? '1000000'),
      rows: countIn('--rows', values.rows ?? '5000000'),
    },
    quick,
    json: values.json ?? false,
    readme: values.readme ?? false,
    help: values.help ?? false,
    results: values.results ?? defaultResults,
    profile: values.profile ?? null,
  }
}

function parse(argv: readonly string[], workloads: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: false,
      options: {
        only: { type: 'string' },
        stores: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        postbacks: { type: 'string' },
        rows: { type: 'string' },
        results: { type: 'string' },
        profile: { type: 'string' },
        quick: { type: 'boolean' },
        json: { type: 'boolean' },
        readme: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('. To specify')
    throw new WrongFlags(`${reason}\n\n${usage(workloads)}`, { cause: error })
  }
}

function namesIn<T extends string>(text: string, known: readonly T[], what: string): T[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  for (const name of names) {
    if (!known.some((each) => each === name)) {
      throw new WrongFlags(`There is no ${what} "${name}". There are: ${known.join(', ')}.`)
    }
  }
  if (names.length === 0) throw new WrongFlags(`No ${what} was named. There are: ${known.join(', ')}.`)
  return known.filter((name) => names.includes(name))
}

function countIn(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new WrongFlags(`${flag} takes a whole number from 1, and "${text}" is none.`)
  }
  return Number(text)
}
