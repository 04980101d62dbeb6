/**
 * Sends one call N times at the same instant, each over a connection of its own, byte for byte.
 *
 * @module
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { usageError } from './failure.js'

/** Where a call goes and what it says. */
export interface HttpCall {
  readonly method: string
  /** `http://host:port` or `https://…`, without a path. */
  readonly origin: string
  /** The request target, one character a byte; it is sent as it stands. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Buffer
}

export type HttpReply =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly body: string
      readonly milliseconds: number
      readonly date: string | null
    }
  | { readonly kind: 'failure'; readonly code: string }

/** How long connecting, and then answering, may take. */
const TIMEOUT_MS = 10_000
const BODY_LIMIT = 4_096

/**
 * Takes a URL apart without changing a byte of its target, as `new URL` would by escaping.
 *
 * @throws PaidonceError `usage` where it is no http or https URL
 */
export function splitUrl(url: string): { readonly origin: string; readonly target: string } {
  const match = /^(https?:\/\/[^/?#@\s]+)([/?][^#]*)?(?:#.*)?$/i.exec(url)
  const origin = match?.[1]
  if (origin === undefined || !URL.canParse(origin)) {
    throw usageError(
      `${JSON.stringify(url)} is no http:// or https:// URL.`,
      'Quote the URL with single quotes, so that the shell does not cut it at "&".',
    )
  }
  const target = match?.[2] ?? '/'
  const bytes = Buffer.from(target.startsWith('?') ? `/${target}` : target).toString('latin1')
  // eslint-disable-next-line no-control-regex -- a request line ends at the first of these.
  if (/[\u0000-\u0020\u007f]/.test(bytes)) {
    throw usageError(
      'The URL holds white space or control characters, which no request line can carry.',
      'Write a space as %20.',
    )
  }
  return { origin, target: bytes }
}

/**
 * Fires `copies` of a call. All connections are opened first, then every request is written in the same turn of the
 * event loop, so that the copies really meet.
 */
export async function fireAtOnce(call: HttpCall, copies: number): Promise<HttpReply[]> {
  const shots = Array.from({ length: copies }, () => prepare(call))
  await Promise.all(shots.map((shot) => shot.connected))
  for (const shot of shots) shot.fire()
  return Promise.all(shots.map((shot) => shot.reply))
}

interface Shot {
  /** Resolves when the connection stands or has failed. */
  readonly connected: Promise<void>
  readonly fire: () => void
  readonly reply: Promise<HttpReply>
}

function prepare({ method, origin, target, headers, body }: HttpCall): Shot {
  const { protocol, hostname, port } = new URL(origin)
  const isTls = protocol === 'https:'
  const client = (isTls ? requestHttps : requestHttp)({
    method,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    path: target,
    headers: { ...copyHeaders(headers), ...(body.length > 0 ? { 'content-length': body.length } : {}) },
    agent: false,
  })
  let sentAt = performance.now()
  const reply = new Promise<HttpReply>((resolve) => {
    const fail = (code: string): void => {
      resolve({ kind: 'failure', code })
      client.destroy()
    }
    const timer = setTimeout(() => {
      fail('timeout')
    }, TIMEOUT_MS)
    client.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      fail(error.code ?? error.message)
    })
    client.on('response', (response) => {
      readReply(
        response,
        () => performance.now() - sentAt,
        (result) => {
          clearTimeout(timer)
          resolve(result)
        },
      )
    })
  })
  return {
    connected: Promise.race([whenConnected(client, isTls), reply.then(() => undefined)]),
    fire: () => {
      sentAt = performance.now()
      client.end(body.length > 0 ? body : undefined)
    },
    reply,
  }
}

function whenConnected(client: ClientRequest, isTls: boolean): Promise<void> {
  return new Promise((resolve) => {
    client.on('socket', (socket) => {
      if (!socket.connecting && !isTls) resolve()
      else
        socket.once(isTls ? 'secureConnect' : 'connect', () => {
          resolve()
        })
    })
  })
}

function readReply(response: IncomingMessage, elapsed: () => number, done: (reply: HttpReply) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    if (size < BODY_LIMIT) chunks.push(chunk)
    size += chunk.length
  })
  response.on('end', () => {
    const body = Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString('utf8')
    done({
      kind: 'answer',
      status: response.statusCode ?? 0,
      body,
      milliseconds: elapsed(),
      date: response.headers.date ?? null,
    })
  })
  response.on('error', (error: NodeJS.ErrnoException) => {
    done({ kind: 'failure', code: error.code ?? error.message })
  })
}

/** Headers that belong to the connection of then, not to the call. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

function copyHeaders(headers: HttpCall['headers']): Record<string, string | string[]> {
  const copied: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!OF_THE_CONNECTION.has(name.toLowerCase()))
      copied[name] = typeof value === 'string' ? value : [...value]
  }
  return copied
}
