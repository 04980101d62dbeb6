/** `npm run --silent paidonce -- COMMAND`: sets up what is missing, then runs a command of the built tool. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT, setUp } from './set-up.mjs'

setUp()
const main = join(ROOT, 'dist', 'cli', 'main.js')
process.argv = [process.execPath, main, ...process.argv.slice(2)]
await import(pathToFileURL(main).href)
