import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '../../src/cli/run-cli.js'

/** What one command line wrote, and its exit status. */
export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command line in this process, in a folder of its own and without this machine's settings. */
export async function cli(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  let stdout = ''
  let stderr = ''
  const code = await runCli({
    argv,
    env,
    cwd,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  })
  return { code, stdout, stderr }
}

/** A started server of the command line, stopped by a signal as an operator would. */
export interface StartedCli {
  readonly stdout: () => string
  stop(): Promise<number>
}

/** Starts `paidonce start` in this process and resolves once it has announced itself. */
export async function startCli(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedCli> {
  let stdout = ''
  let stderr = ''
  let signal: ((name: string) => void) | null = null
  let announce: () => void = () => undefined
  const announced = new Promise<void>((resolve) => {
    announce = resolve
  })
  const ended = runCli({
    argv: ['start', '--log-level', 'silent', ...argv],
    env,
    cwd,
    stdout: {
      write: (text) => {
        stdout += text
        announce()
      },
    },
    stderr: { write: (text) => (stderr += text) },
    onSignal: (listener) => {
      signal = listener
    },
  })
  await Promise.race([
    announced,
    ended.then((code) => Promise.reject(new Error(`It ended with ${code}: ${stderr}`))),
  ])
  return {
    stdout: () => stdout,
    stop: () => {
      signal?.('SIGTERM')
      return ended
    },
  }
}

/** A folder that is gone when `remove` was called. */
export function makeFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'paidonce-cli-'))
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true })
    },
  }
}
