/**
 * node:http: the raw request target reaches the receiver untouched.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Receiver } from '../receiver/types.js'
import { readBody } from './read-body.js'

/**
 * Makes a request listener.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { paidonceNode } from 'paidonce/node'
 * import type { Receiver } from 'paidonce'
 *
 * declare const receiver: Receiver
 * createServer((request, response) => void paidonceNode(receiver)(request, response)).listen(8790)
 * ```
 */
export function paidonceNode(
  receiver: Receiver,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const body = await readBody(request)
    if (body === 'aborted') return
    if (body === 'too_large') {
      response
        .writeHead(413, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
        .end('too large')
      return
    }
    const answer = await receiver.handle({
      method: request.method ?? 'GET',
      url: request.url ?? '/',
      headers: request.headers,
      body,
      remoteAddress: request.socket.remoteAddress ?? '',
    })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
}
