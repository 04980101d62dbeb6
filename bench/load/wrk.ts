/**
 * One load by wrk, and what it reports.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../cleanup.js'
import type { UrlFile } from './url-file.js'

const SCRIPT = fileURLToPath(new URL('./urls.lua', import.meta.url))
/** Longer than any answer may take: wrk leaves out of its latencies what took longer than this. */
const TIMEOUT_SECONDS = 10

export interface Load {
  /** The server, `http://host:port`. */
  readonly base: string
  readonly file: UrlFile
  readonly connections: number
  /** At most so long; shorter where the file ends before. */
  readonly seconds: number
  /** Lines that an earlier load has sent. Default: none. */
  readonly skip?: number
  /** Begin again at the end of the file. */
  readonly cycle?: boolean
  /** Count the answers by status. */
  readonly statuses?: boolean
}

export interface LoadReport {
  /** Answers, of whatever status. */
  readonly requests: number
  readonly seconds: number
  /** Lines that were handed to connections: the answered ones and those in flight at the end. */
  readonly taken: number
  /** The file was used up before the time was. */
  readonly exhausted: boolean
  /** Empty unless asked for. */
  readonly statuses: Readonly<Record<string, number>>
  readonly errors: Readonly<Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>>
  /** Milliseconds. `p99Rest` is the p99 without as many of the longest answers as there are connections. */
  readonly latency: Readonly<Record<'p50' | 'p90' | 'p99' | 'p99Rest' | 'max', number>>
}

/** @param cleanup stops wrk where the benchmark is interrupted */
export async function runLoad(program: string, load: Load, cleanup: Cleanup): Promise<LoadReport> {
  const { base, file, connections, seconds, skip = 0, cycle = false, statuses = false } = load
  const settings = ['-t1', `-c${connections}`, `-d${seconds}s`, `--timeout=${TIMEOUT_SECONDS}s`]
  const flags = [skip, cycle ? 1 : 0, statuses ? 1 : 0, connections].map(String)
  const child = spawn(program, [...settings, '-s', SCRIPT, base, '--', file.path, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const stop = cleanup.defer(async () => {
    child.kill('SIGKILL')
  })
  const status = await ended
  await stop()
  if (status !== 0) throw new Error(`wrk ended with ${String(status)}:\n${output}`)
  return parseWrk(output)
}

interface Printed extends Omit<LoadReport, 'seconds'> {
  readonly microseconds: number
}

/** Reads the line of JSON that the script prints below wrk's own text. */
export function parseWrk(output: string): LoadReport {
  const line = output.split('\n').find((each) => each.startsWith('{"requests"'))
  if (line === undefined) throw new Error(`wrk did not report:\n${output}`)
  const { microseconds, ...printed } = JSON.parse(line) as Printed
  const { p50, p90, p99, p99Rest, max } = printed.latency
  return {
    ...printed,
    seconds: microseconds / 1e6,
    latency: { p50: p50 / 1e3, p90: p90 / 1e3, p99: p99 / 1e3, p99Rest: p99Rest / 1e3, max: max / 1e3 },
  }
}
