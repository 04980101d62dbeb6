/**
 * `npm run bench`: sets up what is missing, then runs the benchmark from its sources, in this process, so that an
 * interrupt arrives where the servers are stopped.
 */
import { join } from 'node:path'
import { endWithParent } from './end-with-parent.mjs'
import { ROOT, setUp } from './set-up.mjs'

setUp()

endWithParent()

const { createJiti } = await import('jiti')
const { main } = await createJiti(import.meta.url).import(join(ROOT, 'bench', 'run.ts'))
process.exitCode = await main(process.argv.slice(2))
