/**
 * `npm run bench`: sets up what is missing, then runs the benchmark from its sources, in this process, so that an
 * interrupt arrives where the servers are stopped.
 */
import { join } from 'node:path'
import { ROOT, setUp } from './set-up.mjs'

setUp()

// npm hands a signal to the shell between it and this process, and that shell dies without passing it on: servers would
// be left behind. Its parent's end is this process's own signal to stop.
if (process.env.npm_lifecycle_event !== undefined && process.platform !== 'win32') {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}

const { createJiti } = await import('jiti')
const { main } = await createJiti(import.meta.url).import(join(ROOT, 'bench', 'run.ts'))
process.exitCode = await main(process.argv.slice(2))
