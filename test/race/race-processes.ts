/**
 * Runs one race in several processes, as several receivers on one database do.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Sent } from '../oracle/check-ledger.js'
import type { RaceReport } from './race.js'

const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
const RACER = fileURLToPath(new URL('./racer.ts', import.meta.url))

export interface RaceInProcesses {
  readonly url: string
  readonly processes: number
  readonly writers: number
  readonly milliseconds: number
  readonly seed: number
}

export async function raceInProcesses(options: RaceInProcesses): Promise<RaceReport> {
  // The processes need a moment to load before the race can start for all of them at once.
  const startAt = Date.now() + 3_000
  const reports = await Promise.all(
    Array.from({ length: options.processes }, (_, index) =>
      runRacer(
        [options.url, options.writers, options.milliseconds, options.seed + index, startAt].map(String),
      ),
    ),
  )
  const total = (name: 'groups' | 'raced' | 'retried' | 'busy'): number =>
    reports.reduce((sum, report) => sum + report[name], 0)
  return {
    sent: reports.flatMap((report) => report.sent),
    groups: total('groups'),
    raced: total('raced'),
    retried: total('retried'),
    busy: total('busy'),
  }
}

async function runRacer(argv: string[]): Promise<RaceReport> {
  const child = spawn(process.execPath, [JITI, RACER, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  if (code !== 0) throw new Error(`A racer ended with ${String(code)}: ${errors}`)
  // Amounts come as text, because JSON has no integers of that size.
  const report = JSON.parse(output) as Omit<RaceReport, 'sent'> & {
    readonly sent: readonly (Omit<Sent, 'amount'> & { readonly amount: string })[]
  }
  return { ...report, sent: report.sent.map((call) => ({ ...call, amount: BigInt(call.amount) })) }
}
