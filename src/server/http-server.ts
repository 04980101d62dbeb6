/**
 * A node:http server with the limits of a receiver, and how it stops without cutting a call.
 *
 * @module
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { PaidonceError } from '../errors.js'
import { watchClientErrors } from './client-errors.js'
import type { Logger } from './logger.js'
import { announcesTooMuch } from '../adapters/read-body.js'

const LIMITS = {
  // Node's own default, said aloud: proxies in front allow 8 KiB for a request line, and a longer URL is counted as lost.
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  // Above the idle time of common load balancers (60 s): else they send a call into a connection that just closed.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  // HTTP/1.1 without Host means nothing different here, and Node would turn it away without an event.
  requireHostHeader: false,
}

/** Connections held at once; beyond them new ones are dropped, and the network sends again. */
const MAX_CONNECTIONS = 8192
/** Connections that may wait to be accepted: a burst beyond Node's 511 would be sent again after a second or three. */
const BACKLOG = 4096
/** How long a stopping server waits for calls that it has begun to read. */
const STOP_LIMIT_MS = 10_000
/** A connection that has carried no call for this long while stopping is closed. */
const QUIET_MS = 250

export interface HttpServer {
  /** Where it really listens. */
  readonly port: number
  readonly url: string
  /** Takes no new connections, lets calls finish, then closes what is left. */
  stop(): Promise<void>
}

export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  /** What messages call the port's setting. */
  readonly setting: 'port' | 'adminPort'
  /** The limited log: callers cause these lines. */
  readonly traffic: Logger
  readonly countLost: () => void
}

/**
 * Listens.
 *
 * @throws PaidonceError `port_in_use` where somebody else has the port
 */
export async function listenHttp(handler: RequestListener, options: HttpServerOptions): Promise<HttpServer> {
  const { host, traffic, countLost } = options
  let active = 0
  const server = createServer(LIMITS, (request, response) => {
    active += 1
    response.once('close', () => {
      active -= 1
    })
    handler(request, response)
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on('checkContinue', (request: IncomingMessage, response) => {
    // A body that is too large anyway is refused before it is sent.
    if (!announcesTooMuch(request)) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('drop', () => {
    traffic.warn({ limit: MAX_CONNECTIONS }, 'A connection was dropped: too many are open.')
  })
  watchClientErrors(server, traffic, countLost)
  // A tunnel is nothing that this server offers; without a listener Node would close it without an answer.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })

  await listen(server, options)
  server.on('error', (error) => {
    traffic.error({ error: error.message }, 'The listening socket failed.')
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://${shownHost(host)}:${port}`, stop: () => stop(server, () => active) }
}

function listen(server: Server, { host, port, setting }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(listenError(cause, host, port, setting))
    })
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number, setting: string): Error {
  if (cause.code === 'EADDRINUSE') {
    return new PaidonceError('port_in_use', `Port ${port} on ${host} is in use by another process.`, {
      hint:
        setting === 'port'
          ? 'Stop the other process, or choose another port with --port or PAIDONCE_PORT.'
          : 'Stop the other process, or choose another port with --admin-port or PAIDONCE_ADMIN_PORT.',
      cause,
    })
  }
  return new PaidonceError(
    'config_invalid',
    `The server cannot listen on ${host}, port ${port} (${cause.code ?? cause.message}).`,
    { hint: 'Check host and port; ports below 1024 need a right of their own.', cause },
  )
}

/** An address that can be called: a server on every interface is reached over loopback. */
function shownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Node closes idle connections by itself, but waits for ever for one that was opened and never used, and stops timing
 * slow senders out once it does not listen any more. So what carries no call for a moment is closed here.
 */
async function stop(server: Server, active: () => number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  const startedAt = performance.now()
  let quietSince = startedAt
  const timer = setInterval(() => {
    const now = performance.now()
    if (active() > 0) quietSince = now
    if (now - quietSince >= QUIET_MS || now - startedAt >= STOP_LIMIT_MS) server.closeAllConnections()
  }, 50)
  await closed
  clearInterval(timer)
}
