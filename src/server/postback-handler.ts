/**
 * Carries one postback from bare node:http to the receiver and its answer back. The request target is passed on as the
 * bytes arrived, because networks sign them; no framework stands between.
 *
 * @module
 */
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { Receiver } from '../receiver/types.js'
import type { Logger } from './logger.js'
import type { RefusalCause } from './metrics.js'
import { announcesBody, readBody } from '../adapters/read-body.js'

export interface PostbackHandlerOptions {
  readonly receiver: Receiver
  /** The limited log: callers cause these lines. */
  readonly traffic: Logger
  readonly countRefused: (cause: RefusalCause) => void
  /** True from the moment the server was told to stop. */
  readonly isClosing: () => boolean
}

export type PostbackHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** In lower case, as the receiver's own are, so that neither stands there twice. */
const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

type Headers = Readonly<Record<string, string>>

const NO_BODY = Buffer.alloc(0)

/**
 * Tells why a request is not one that a receiver should have to interpret; null where it is.
 *
 * A GET with a body, an unknown transfer encoding and an absolute-form target are read differently by different
 * servers, which is what request smuggling lives on. No network sends any of them.
 */
export function refusalOf(request: IncomingMessage): RefusalCause | null {
  const encoding = request.headers['transfer-encoding']
  if (request.url?.startsWith('/') !== true) return 'bad_target'
  if (request.method === 'GET' && announcesBody(request)) return 'unexpected_body'
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return 'bad_encoding'
  return null
}

/** Makes the handler of everything that is a postback's path. */
export function createPostbackHandler(options: PostbackHandlerOptions): PostbackHandler {
  const { receiver, traffic, countRefused, isClosing } = options

  const send = (response: ServerResponse, status: number, body: string, headers: Headers): void => {
    if (response.destroyed) return
    if (isClosing()) response.shouldKeepAlive = false
    // A flat list is written as it stands; an object would be taken apart and checked name by name.
    const list: (string | number)[] = ['content-length', Buffer.byteLength(body)]
    for (const name in headers) list.push(name, headers[name] as string)
    response.writeHead(status, list as OutgoingHttpHeader[])
    response.end(body)
  }
  const refuse = (response: ServerResponse, cause: RefusalCause, status: number, body: string): void => {
    countRefused(cause)
    traffic.warn({ cause, status }, 'A call was turned away before the receiver.')
    send(response, status, body, { ...HEADERS, connection: 'close' })
  }

  return async (request, response) => {
    const cause = refusalOf(request)
    if (cause !== null) {
      refuse(response, cause, 400, 'Bad Request')
      return
    }
    // Only a POST's body means anything; another method's would be left unread, so its connection ends here.
    const reads = request.method === 'POST'
    const body = reads ? await readBody(request) : NO_BODY
    if (body === 'aborted') return
    if (body === 'too_large') {
      refuse(response, 'body_too_large', 413, 'Payload Too Large')
      return
    }
    try {
      const answer = await receiver.handle({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body,
        remoteAddress: request.socket.remoteAddress ?? '',
      })
      const { headers } = answer
      const closes = !reads && announcesBody(request)
      send(response, answer.status, answer.body, closes ? { ...headers, connection: 'close' } : headers)
    } catch (error) {
      // The receiver answers for itself; what gets here is a bug, and the network has to send again.
      traffic.error({ error: error instanceof Error ? error.stack : String(error) }, 'The receiver failed.')
      send(response, 500, 'ERROR', HEADERS)
    }
  }
}
