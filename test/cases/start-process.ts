/**
 * Starts a receiver in another process.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../src/server/settings.js'

const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
const PROGRAM = fileURLToPath(new URL('./server-process.ts', import.meta.url))

export interface ServerProcess {
  readonly url: string
  /** Resolves to the signal that ended it, or null. */
  readonly ended: Promise<string | null>
  /** Ends it at once, as a crash would. */
  kill9(): void
  stop(): Promise<void>
}

export async function startProcess(
  settings: Partial<Settings>,
  crash: 'at-commit' | '' = '',
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [JITI, PROGRAM, JSON.stringify(settings), crash], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<string | null>((resolve) => {
    child.once('exit', (_code, signal) => {
      resolve(signal)
    })
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.endsWith('\n')) resolve(output.trim())
    })
    void ended.then(() => {
      reject(new Error(`The server process ended before it listened: ${errors}`))
    })
  })
  return {
    url,
    ended,
    kill9: () => {
      child.kill('SIGKILL')
    },
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}
