/**
 * Reads something of a running server again and again: its memory, or how much it has answered.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'

export interface Sample {
  /** Milliseconds of `performance.now()`. */
  readonly at: number
  readonly value: number
}

export interface Sampler {
  readonly samples: readonly Sample[]
  stop(): Promise<void>
}

export function startSampler(everyMs: number, read: () => Promise<number>): Sampler {
  const samples: Sample[] = []
  let over = false
  const loop = async (): Promise<void> => {
    while (!over) {
      // The moment before the question: an answer that is late tells the number of about then.
      const at = performance.now()
      const value = await read().catch(() => null)
      if (value !== null) samples.push({ at, value })
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, at + everyMs - performance.now())))
    }
  }
  const ended = loop()
  return {
    samples,
    async stop() {
      over = true
      await ended
    },
  }
}

/** The resident set of a process in MB (of a million bytes). */
export async function readResidentMb(pid: number): Promise<number> {
  const found = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))
  if (found === null) throw new Error(`Process ${pid} has no resident set.`)
  return (Number(found[1]) * 1024) / 1e6
}

/** How many postbacks a server has answered since its start, by its own metrics. */
export async function readAnswered(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text()
  return sumOfCounter(text, 'paidonce_postbacks_total')
}

/** The sum over all labels of a counter in Prometheus' text. */
export function sumOfCounter(text: string, name: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** By how much a counter rose each second between two moments, from the samples that enclose them best. */
export function ratePerSecond(samples: readonly Sample[], from: number, to: number): number {
  const inside = samples.filter(({ at }) => at >= from && at <= to)
  const first = inside[0]
  const last = inside.at(-1)
  if (first === undefined || last === undefined || first === last) return Number.NaN
  return ((last.value - first.value) / (last.at - first.at)) * 1_000
}

/** The greatest value between two moments. */
export function greatest(samples: readonly Sample[], from = -Infinity, to = Infinity): number {
  return Math.max(...samples.filter(({ at }) => at >= from && at <= to).map(({ value }) => value))
}
