/**
 * A server on a free port over a memory store, and raw sockets to talk to it.
 */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import type { LedgerStore } from '../../src/ledger/store.js'
import { startServer, type RunningServer, type StartServerOptions } from '../../src/server/server.js'
import { DEFAULT_SETTINGS, type Settings } from '../../src/server/settings.js'
import { memoryStore } from '../../src/stores/memory/index.js'

export const SECRET = 'test-secret-of-sharklio'
export const TOKEN = 'test-admin-token'

export interface LogLine {
  readonly level: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly message: string
}

export interface Running extends RunningServer {
  readonly log: LogLine[]
  /** Calls the admin API; a body is sent as JSON. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  /** Typed as the sum of what the routes answer with; each has only its own part. */
  readonly json: ApiJson
}

export interface ApiItem {
  readonly id: string
  readonly user: string
  readonly entry: string
  readonly amount: string
  readonly createdAt: string
}

export interface ApiJson extends ApiItem {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null }
  readonly items: readonly ApiItem[]
  readonly nextCursor: string | null
  readonly transactionId: string
  readonly explanation: string
  readonly complete: boolean
  readonly entries: readonly ApiItem[]
  readonly postbacks: readonly ApiItem[]
  readonly url: string
  readonly advice: string | null
  readonly state: string
  readonly finishedAt: string | null
  readonly findings: readonly object[]
  readonly paths: Readonly<Record<string, object>>
  readonly components: { readonly schemas: object }
}

export async function run(
  changes: Partial<Settings> = {},
  options: StartServerOptions & { store?: LedgerStore } = {},
): Promise<Running> {
  const log: LogLine[] = []
  const at =
    (level: string) =>
    (facts: object, message: string): void => {
      log.push({ level, facts: { ...facts }, message })
    }
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    port: 0,
    adminToken: TOKEN,
    networks: { demo: { profile: 'sharklio', secret: SECRET, paths: ['/postback.php'] } },
    ...changes,
  }
  const server = await startServer(settings, {
    store: memoryStore(),
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    ...options,
  })
  onTestFinished(() => server.close({ delaySeconds: 0 }))
  return {
    ...server,
    log,
    api: async (method, path, body, headers = {}) => {
      const response = await fetch(server.adminUrl + path, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        json: (text.startsWith('{') ? JSON.parse(text) : {}) as ApiJson,
      }
    },
  }
}

/** A signed query of the profile sharklio. */
export function signed(
  tx: string,
  user: string,
  reward: string,
  more: { status?: string; secret?: string } = {},
): string {
  const { status = '1', secret = SECRET } = more
  const hash = createHmac('sha256', secret).update(`${tx}:${user}:${reward}:${status}`).digest('hex')
  return new URLSearchParams({ tx, user, reward, status, event: `e-${tx}`, hash }).toString()
}

/** Sends bytes as they are and resolves to everything that came back before the connection ended. */
export async function sendRaw(url: string, ...parts: (string | Buffer | number)[]): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve()
    })
    socket.on('error', () => undefined)
  })
  for (const part of parts) {
    if (typeof part === 'number') await new Promise((resolve) => setTimeout(resolve, part))
    else socket.write(part)
  }
  await ended
  return Buffer.concat(chunks).toString('latin1')
}

/** The value of one sample in Prometheus text, or null. */
export async function metric(server: RunningServer, sample: string): Promise<number | null> {
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}
