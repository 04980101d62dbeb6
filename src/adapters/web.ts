/**
 * Web-standard `Request` and `Response`, for servers that speak them.
 *
 * @module
 */
import type { Receiver } from '../receiver/types.js'
import { MAX_BODY_BYTES } from './read-body.js'

export interface WebContext {
  /** The peer's address, which a web `Request` does not carry. */
  readonly remoteAddress: string
  /** The raw request target where the server still has it: a `URL` re-escapes quotes and angle brackets. */
  readonly rawUrl?: string
}

/**
 * Makes a fetch handler.
 *
 * @example
 * ```ts
 * import { paidonceWeb } from 'paidonce/web'
 * import type { Receiver } from 'paidonce'
 *
 * declare const receiver: Receiver
 * const handle = paidonceWeb(receiver)
 * export const GET = (request: Request) => handle(request, { remoteAddress: '203.0.113.7' })
 * ```
 */
export function paidonceWeb(
  receiver: Receiver,
): (request: Request, context: WebContext) => Promise<Response> {
  return async (request, { remoteAddress, rawUrl }) => {
    const body = await readWebBody(request)
    if (body === null) {
      return new Response('too large', {
        status: 413,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      })
    }
    const { pathname, search } = new URL(request.url)
    const answer = await receiver.handle({
      method: request.method,
      url: rawUrl ?? pathname + search,
      headers: Object.fromEntries(request.headers),
      body,
      remoteAddress,
    })
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  }
}

/** The body, or null as soon as it is larger than the bound. */
async function readWebBody(request: Request): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
