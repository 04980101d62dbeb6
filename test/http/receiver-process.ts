/**
 * The server as a user starts it: one operating-system process of its own with a configuration file.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../servers/free-port.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export const ADMIN_TOKEN = 'a-token-for-tests'

export interface ReceiverProcess {
  readonly base: string
  readonly port: number
  /** Asks the admin API; resolves to status and parsed body. */
  readonly admin: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>
  readonly signal: (name: NodeJS.Signals) => void
  /** Resolves to the exit code, or the signal's name. */
  readonly ended: Promise<number | string>
  readonly log: () => string
  readonly stop: () => Promise<void>
}

export async function startReceiverProcess(
  config: Readonly<Record<string, unknown>>,
): Promise<ReceiverProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-receiver-'))
  const port = await freePort()
  const file = join(folder, 'paidonce.config.json')
  await writeFile(file, JSON.stringify({ port, ...config }))
  const child: ChildProcess = spawn(process.execPath, [MAIN, 'start', '--config', file], {
    cwd: folder,
    env: { ...process.env, PAIDONCE_ADMIN_TOKEN: ADMIN_TOKEN, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => {
      resolve(code ?? signal ?? 'unknown')
    })
  })
  const base = `http://127.0.0.1:${port}`
  await untilReady(base, ended, () => log)
  return {
    base,
    port,
    log: () => log,
    ended,
    signal: (name) => {
      child.kill(name)
    },
    admin: async (method, path, body) => {
      const response = await fetch(`${base}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function untilReady(base: string, ended: Promise<number | string>, log: () => string): Promise<void> {
  const over: { code?: number | string } = {}
  void ended.then((code) => (over.code = code))
  const until = Date.now() + 20_000
  while (Date.now() < until) {
    if (over.code !== undefined) throw new Error(`The receiver ended with ${over.code}:\n${log()}`)
    const ready = await fetch(`${base}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`The receiver was not ready in 20 s:\n${log()}`)
}
