/**
 * A server in a Node.js process of its own: started, waited for, stopped.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import type { Cleanup } from '../cleanup.js'

const START_MS = 20_000
const STOP_MS = 20_000

export interface NodeProcess {
  readonly base: string
  readonly pid: number
  /** SIGTERM, and waits for the end: what is in flight is answered and booked before. */
  stop(): Promise<void>
}

export interface NodeProcessOptions {
  /** The program and its arguments. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly port: number
  /** A path that answers as soon as the server can be used; what it answers with, matters only where `ok` is set. */
  readonly ready: { readonly path: string; readonly ok: boolean }
  /** Where its output goes: a file, so that reading it costs this process nothing meanwhile. */
  readonly log: string
  readonly cleanup: Cleanup
}

export async function startNodeProcess(options: NodeProcessOptions): Promise<NodeProcess> {
  const { args, env, port, ready, log, cleanup } = options
  const file = await open(log, 'w')
  const child = spawn(process.execPath, [...args], {
    env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1', ...env },
    stdio: ['ignore', file.fd, file.fd],
  })
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      resolve()
    }),
  )
  await file.close()
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  const stop = cleanup.defer(async () => {
    if (isOver()) return
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  })
  const base = `http://127.0.0.1:${port}`
  const fail = async (what: string): Promise<never> => {
    await stop()
    throw new Error(`${args.join(' ')} ${what}:\n${(await readFile(log, 'utf8')).slice(-4_000)}`)
  }
  const until = Date.now() + START_MS
  while (!(await isReady(base + ready.path, ready.ok))) {
    if (isOver()) await fail('ended while it started')
    if (Date.now() > until) await fail(`was not ready within ${START_MS / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    base,
    pid: child.pid ?? 0,
    async stop() {
      if (isOver()) await fail(`ended by itself with ${String(child.exitCode ?? child.signalCode)}`)
      await stop()
      if (child.signalCode === 'SIGKILL') await fail(`did not end within ${STOP_MS / 1000} s`)
    },
  }
}

async function isReady(url: string, ok: boolean): Promise<boolean> {
  return fetch(url, { headers: { connection: 'close' } }).then(
    (response) => !ok || response.ok,
    () => false,
  )
}
