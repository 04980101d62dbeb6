/** `npm start`: sets up what is missing, then runs the server; as a demo where no configuration is found. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { endWithParent } from './end-with-parent.mjs'
import { ROOT, setUp } from './set-up.mjs'

setUp()

const given = process.argv.slice(2)
const isConfigured =
  given.some((argument) => argument === '--config' || argument.startsWith('--config=')) ||
  ['PAIDONCE_CONFIG', 'PAIDONCE_CONFIG_FILE'].some((name) => process.env[name] !== undefined) ||
  ['ts', 'js', 'mjs', 'json'].some((ending) => existsSync(`paidonce.config.${ending}`))
const demo = isConfigured || given.includes('--demo') ? [] : ['--demo']
if (demo.length > 0) process.stderr.write('No configuration was found: starting as a demo.\n')

endWithParent()

const main = join(ROOT, 'dist', 'cli', 'main.js')
process.argv = [process.execPath, main, 'start', ...demo, ...given]
// In this process, so that signals arrive at the server and not at a parent that would leave it behind.
await import(pathToFileURL(main).href)
