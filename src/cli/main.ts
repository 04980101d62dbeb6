#!/usr/bin/env node
/**
 * The executable: hands the process to `runCli` and ends with its status.
 *
 * @module
 */
import { EXIT } from './failure.js'
import { runCli } from './run-cli.js'

let listener: ((signal: string) => void) | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (listener !== null) listener(signal)
    else process.exit(signal === 'SIGINT' ? EXIT.interrupted : 143)
  })
}

// A reader such as `head` that has seen enough closes the pipe, which is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.fine)
  throw error
})

const exitCode = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (given) => {
    listener = given
  },
  exit: (code) => process.exit(code),
})
// Everything is closed by now; what is left, such as an idle connection of a client, need not hold the process. The
// streams are waited for, because a pipe may take what was written only later.
process.stdout.write('', () => {
  process.stderr.write('', () => process.exit(exitCode))
})
