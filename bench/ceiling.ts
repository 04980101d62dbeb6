/**
 * How many calls an empty server answers at as many connections: the distance to what this machine can do at all.
 *
 * @module
 */
import { startEmpty } from './contenders.js'
import { planOf } from './one-run.js'
import type { Sitting } from './sitting.js'

const SECONDS = 2
const LINES = 20_000

const measured = new WeakMap<object, Map<number, number>>()

/** Measured once in a sitting for each number of connections. */
export async function measureCeiling(sitting: Sitting, connections: number): Promise<number> {
  const known = measured.get(sitting.urls) ?? new Map<number, number>()
  measured.set(sitting.urls, known)
  const found = known.get(connections)
  if (found !== undefined) return found
  const server = await startEmpty(sitting.folder, sitting.cleanup)
  const file = await sitting.urls.fileOf({ ...planOf('spread'), seed: 9_000 }, LINES)
  const { requests, seconds } = await sitting.load({
    base: server.base,
    file,
    connections,
    seconds: SECONDS,
    cycle: true,
  })
  await server.stop()
  const rate = requests / seconds
  known.set(connections, rate)
  sitting.say(`  an empty server: ${Math.round(rate)} calls/s`)
  return rate
}
