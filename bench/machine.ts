/**
 * What the figures were measured on.
 *
 * @module
 */
import { mkdtemp, open, rm, statfs } from 'node:fs/promises'
import { availableParallelism, cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './statistics.js'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  readonly node: string
  /** Name and version of each database that was measured, by store. */
  readonly databases: Readonly<Record<string, string>>
  /** Milliseconds that 4 KiB take until the disk has them: what each COMMIT waits for at least. */
  readonly syncMs: number
}

export async function describeMachine(databases: Readonly<Record<string, string>>): Promise<Machine> {
  return {
    cpu: (cpus()[0]?.model ?? 'unknown').replace(/\s+/g, ' ').trim(),
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    databases,
    syncMs: await measureSync(),
  }
}

/** Rows of two machines are not comparable; another version of a program is the same machine. */
export function isSameMachine(one: Machine, other: Machine): boolean {
  return one.cpu === other.cpu && one.cores === other.cores && one.memoryGib === other.memoryGib
}

export function describeInLines({
  cpu,
  cores,
  memoryGib,
  kernel,
  node,
  databases,
  syncMs,
}: Machine): string[] {
  return [
    `${cpu}, ${cores} cores, ${memoryGib} GiB of memory, Linux ${kernel}`,
    `Node.js ${node}${Object.values(databases)
      .map((name) => `, ${name}`)
      .join('')}`,
    `4 KiB are on the disk after ${syncMs.toFixed(2)} ms (median)`,
  ]
}

/** Linux' number for a file system in memory. */
const TMPFS = 0x01021994

/** In memory a durable COMMIT costs nothing, and the comparison would be another one. */
export async function isInMemory(folder = tmpdir()): Promise<boolean> {
  return (await statfs(folder)).type === TMPFS
}

const SYNCS = 100

async function measureSync(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-bench-sync-'))
  const file = await open(join(folder, 'file'), 'w')
  const block = Buffer.alloc(4_096, 1)
  const times: number[] = []
  for (let place = 0; place < SYNCS; place += 1) {
    await file.write(block, 0, block.length, place * block.length)
    const before = performance.now()
    await file.datasync()
    times.push(performance.now() - before)
  }
  await file.close()
  await rm(folder, { recursive: true })
  return median(times)
}
